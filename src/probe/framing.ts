/** Why framing gave up; nothing is read after it. */
export type FramingFault = 'event_too_large' | 'stream_too_large' | 'not_a_stream';

/** What a framing finds in the bytes. */
export interface FramingHandler {
  /** `data` of one event (SSE) or one line (NDJSON); `event` is the SSE event name where there is one. */
  onEvent(data: string, event: string | undefined): void;
  /** An SSE comment: a keep-alive. */
  onComment(): void;
  /** An SSE field that the standard does not know. */
  onUnknownField(name: string, value: string): void;
}

/** Cuts bytes into events, whatever the borders of the reads. Bounded; never throws. */
export interface Framing {
  push(bytes: Uint8Array): void;
  /** The body is over: releases what is still held. True when it was cut inside a character. */
  end(): boolean;
  readonly fault: FramingFault | null;
}

export interface FramingLimits {
  /** Characters of one event. */
  readonly eventBytes: number;
  /** Bytes of the whole body. */
  readonly streamBytes: number;
}

/** Decodes UTF-8 across the borders of reads and enforces the byte limit of the body, to the byte. */
export interface BoundedDecoder {
  /** The text of as many bytes as the limit still allows. */
  decode(bytes: Uint8Array): string;
  /** The body is over: "\uFFFD" when it was cut inside a character, otherwise empty. */
  end(): string;
  readonly full: boolean;
}

export function createBoundedDecoder(streamBytes: number): BoundedDecoder {
  // The default decoder drops a leading BOM, also one that arrives byte by byte.
  const decoder = new TextDecoder();
  let left = streamBytes;
  let full = false;
  return {
    decode(bytes) {
      if (bytes.length <= left) {
        left -= bytes.length;
        return decoder.decode(bytes, { stream: true });
      }
      full = true;
      const text = decoder.decode(bytes.subarray(0, left), { stream: true });
      left = 0;
      return text;
    },
    end: () => decoder.decode(),
    get full() {
      return full;
    },
  };
}

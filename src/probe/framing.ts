import { isAscii } from 'node:buffer';

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

const asciiText = (bytes: Uint8Array): string =>
  (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString('latin1');

/** A class, as one is made for each stream: its methods are compiled once, not bound anew each time. */
class Decoder implements BoundedDecoder {
  full = false;
  private decoder: InstanceType<typeof TextDecoder> | null = null;
  private left: number;
  private begun = false;

  constructor(streamBytes: number) {
    this.left = streamBytes;
  }

  decode(bytes: Uint8Array): string {
    if (bytes.length <= this.left) {
      this.left -= bytes.length;
      return this.text(bytes);
    }
    this.full = true;
    const text = this.text(bytes.subarray(0, this.left));
    this.left = 0;
    return text;
  }

  end(): string {
    return this.decoder?.decode() ?? '';
  }

  /** Most reads are ASCII, which needs no decoder: that one costs more than the parsing of the event. */
  private text(bytes: Uint8Array): string {
    if (this.decoder === null && isAscii(bytes)) {
      this.begun ||= bytes.length > 0;
      return asciiText(bytes);
    }
    // Drops a leading BOM, also one that arrives byte by byte; anywhere else it is a character.
    this.decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.begun });
    return this.decoder.decode(bytes, { stream: true });
  }
}

export const createBoundedDecoder = (streamBytes: number): BoundedDecoder => new Decoder(streamBytes);

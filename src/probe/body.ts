import type { MonotonicInstant } from '../units.ts';
import type { ReadingProgress, ReadingResult, StreamReading } from './reading.ts';
import { type Sniffer, sniffed } from './sniff.ts';

/** How a response is read: as the stream that was asked for, or as one text, for classification. */
export type BodyKind = 'stream' | 'answer' | 'error';

/** The type of a Content-Type header: lower case, without parameters, the first of several; empty without one. */
export const mediaType = (header: string | undefined): string => header?.split(/[;,]/)[0]?.trim().toLowerCase() ?? '';

// Types that say nothing: proxies that lose or replace the header do so with these, and clients read the stream.
const VAGUE_TYPES: ReadonlySet<string> = new Set(['', 'text/plain', 'application/octet-stream']);

/** By status and header alone; what claims to be a stream, or to be none, may prove otherwise by its first bytes. */
export function bodyKind(status: number, contentType: string, streamTypes: readonly string[]): BodyKind {
  if (status < 200 || status >= 300) return 'error';
  return streamTypes.includes(contentType) || VAGUE_TYPES.has(contentType) ? 'stream' : 'answer';
}

/** What a body has said so far. */
export interface Body {
  readonly kind: BodyKind;
  push(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress;
  end(at: MonotonicInstant): ReadingProgress;
  /** Null for a text. */
  result(): ReadingResult | null;
  /** Empty for a stream. */
  text(): string;
}

/** Error pages can be long; no error object needs more than this. */
const TEXT_BYTES = 64 * 1024;

const WAITING: ReadingProgress = { tokenChunks: 0, terminal: false, complete: false, failed: false };

function createTextBody(kind: 'answer' | 'error'): Body {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  return {
    kind,
    push(_, part) {
      if (bytes < TEXT_BYTES) parts.push(Buffer.from(part.subarray(0, TEXT_BYTES - bytes)));
      bytes += part.length;
      return { ...WAITING, failed: bytes >= TEXT_BYTES };
    },
    end: () => WAITING,
    result: () => null,
    // .NET's gateways begin their JSON with a mark that JSON does not know.
    text: () =>
      Buffer.concat(parts)
        .toString('utf8')
        .replace(/^\ufeff/, ''),
  };
}

/**
 * The body of a 2xx response. It is held back until its first bytes tell what it is, which for a stream is its first
 * event at the latest; then it is read with the stamps that its bytes had. A class, as each event passes through it.
 */
class SniffedBody implements Body {
  private readonly declared: BodyKind;
  private readonly sniff: Sniffer;
  private readonly openStream: () => StreamReading;
  private readonly held: { readonly at: MonotonicInstant; readonly bytes: Uint8Array }[] = [];
  private head = '';
  /** One of the two, once it is known which. */
  private stream: StreamReading | null = null;
  private whole: Body | null = null;

  constructor(declared: BodyKind, sniff: Sniffer, openStream: () => StreamReading) {
    this.declared = declared;
    this.sniff = sniff;
    this.openStream = openStream;
  }

  get kind(): BodyKind {
    return this.stream !== null ? 'stream' : (this.whole?.kind ?? this.declared);
  }

  push(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress {
    const reader = this.stream ?? this.whole;
    return reader === null ? this.hold(at, bytes) : reader.push(at, bytes);
  }

  end(at: MonotonicInstant): ReadingProgress {
    const before = this.stream === null && this.whole === null ? this.decide(this.declared) : WAITING;
    const last = (this.stream ?? this.whole)?.end(at) ?? WAITING;
    return { ...last, tokenChunks: before.tokenChunks + last.tokenChunks };
  }

  result(): ReadingResult | null {
    if (this.stream !== null) return this.stream.result();
    return this.whole === null && this.declared === 'stream' ? this.openStream().result() : null;
  }

  text(): string {
    return this.whole?.text() ?? '';
  }

  private hold(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress {
    const copy = Buffer.from(bytes);
    this.held.push({ at, bytes: copy });
    this.head += copy.toString('latin1');
    const kind = sniffed(this.sniff, this.head);
    return kind === 'undecided' ? WAITING : this.decide(kind ?? this.declared);
  }

  private decide(kind: BodyKind): ReadingProgress {
    if (kind === 'stream') this.stream = this.openStream();
    else this.whole = createTextBody(kind);
    let all = WAITING;
    for (const { at, bytes } of this.held.splice(0)) {
      const now = this.push(at, bytes);
      all = { ...now, tokenChunks: all.tokenChunks + now.tokenChunks };
    }
    return all;
  }
}

export const createBody = (declared: BodyKind, sniff: Sniffer, openStream: () => StreamReading): Body =>
  declared === 'error' ? createTextBody('error') : new SniffedBody(declared, sniff, openStream);

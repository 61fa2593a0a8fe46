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

const createStreamBody = (reading: StreamReading): Body => ({
  kind: 'stream',
  push: (at, bytes) => reading.push(at, bytes),
  end: (at) => reading.end(at),
  result: () => reading.result(),
  text: () => '',
});

/**
 * The body of a 2xx response. It is held back until its first bytes tell what it is, which for a stream is its first
 * event at the latest; then it is read with the stamps that its bytes had.
 */
export function createBody(declared: BodyKind, sniff: Sniffer, openStream: () => StreamReading): Body {
  if (declared === 'error') return createTextBody('error');
  const held: { at: MonotonicInstant; bytes: Uint8Array }[] = [];
  let head = '';
  let body: Body | null = null;

  const decide = (kind: BodyKind): ReadingProgress => {
    body = kind === 'stream' ? createStreamBody(openStream()) : createTextBody(kind);
    let all = WAITING;
    for (const { at, bytes } of held.splice(0)) {
      const now = body.push(at, bytes);
      all = { ...now, tokenChunks: all.tokenChunks + now.tokenChunks };
    }
    return all;
  };

  return {
    get kind() {
      return body?.kind ?? declared;
    },
    push(at, bytes) {
      if (body !== null) return body.push(at, bytes);
      const copy = Buffer.from(bytes);
      held.push({ at, bytes: copy });
      head += copy.toString('latin1');
      const kind = sniffed(sniff, head);
      return kind === 'undecided' ? WAITING : decide(kind ?? declared);
    },
    end(at) {
      const progress = body === null ? decide(declared) : WAITING;
      const last = body?.end(at) ?? WAITING;
      return { ...last, tokenChunks: progress.tokenChunks + last.tokenChunks };
    },
    result() {
      if (body !== null) return body.result();
      return declared === 'stream' ? openStream().result() : null;
    },
    text: () => body?.text() ?? '',
  };
}

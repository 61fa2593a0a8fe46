import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { MonotonicInstant } from '../units.ts';

/** Receives a body with its content encoding taken off. Stamps are those of the bytes on the wire. */
export interface DecodedSink {
  data(at: MonotonicInstant, bytes: Uint8Array): void;
  ended(at: MonotonicInstant): void;
  /** The bytes are not of the promised encoding. */
  broken(at: MonotonicInstant, error: unknown): void;
}

export interface BodyDecoder {
  push(at: MonotonicInstant, bytes: Uint8Array): void;
  end(at: MonotonicInstant): void;
  /** Frees the memory; nothing more is delivered. */
  destroy(): void;
}

// Flush after each write: what is there is delivered at once, and a body that was cut ends without an error of its own,
// so that what was decoded of it decides.
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { flush: constants.BROTLI_OPERATION_FLUSH, finishFlush: constants.BROTLI_OPERATION_FLUSH };

/** Half of the servers send "deflate" without the zlib wrapper that the standard wants; its first byte tells. */
const inflate = (first: Uint8Array): Transform =>
  ((first[0] ?? 8) & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB);

const DECODERS: ReadonlyMap<string, (first: Uint8Array) => Transform> = new Map<
  string,
  (first: Uint8Array) => Transform
>([
  ['gzip', () => createGunzip(ZLIB)],
  ['x-gzip', () => createGunzip(ZLIB)],
  ['deflate', inflate],
  ['br', () => createBrotliDecompress(BROTLI)],
]);

/** No coding, or words of other headers that land here by mistake; clients pass such a body through as it is. */
const PLAIN: ReadonlySet<string> = new Set([
  '',
  'identity',
  'none',
  'utf-8',
  'utf8',
  'binary',
  'chunked',
  'aws-chunked',
]);

const nameOf = (encoding: string | undefined): string => encoding?.trim().toLowerCase() ?? '';

export const isCompressed = (encoding: string | undefined): boolean => !PLAIN.has(nameOf(encoding));

/**
 * For a compressed body. Null: an encoding that we cannot read. Identity was asked for, so anything else is the server's
 * own idea.
 */
export function createDecoder(encoding: string, sink: DecodedSink): BodyDecoder | null {
  const create = DECODERS.get(nameOf(encoding));
  return create === undefined ? null : decodeLate(create, sink);
}

/** The decoder is made for the bytes that come. */
function decodeLate(create: (first: Uint8Array) => Transform, sink: DecodedSink): BodyDecoder {
  let made: BodyDecoder | null = null;
  const decoder = (first: Uint8Array): BodyDecoder => {
    made ??= decodeWith(create(first), sink);
    return made;
  };
  return {
    push(at, bytes) {
      if (bytes.length > 0) decoder(bytes).push(at, bytes);
    },
    end: (at) => decoder(new Uint8Array()).end(at),
    destroy: () => made?.destroy(),
  };
}

function decodeWith(decoder: Transform, sink: DecodedSink): BodyDecoder {
  // zlib works in the thread pool, one write after the other; the stamp at the front belongs to what comes out now.
  const stamps: MonotonicInstant[] = [];
  let endedAt: MonotonicInstant | null = null;
  let dead = false;
  let latest: MonotonicInstant | null = null;

  const destroy = (): void => {
    dead = true;
    decoder.destroy();
  };
  decoder.on('data', (bytes: Uint8Array) => {
    latest = stamps[0] ?? latest;
    if (!dead && latest !== null) sink.data(latest, bytes);
  });
  decoder.on('end', () => {
    if (!dead && endedAt !== null) sink.ended(endedAt);
  });
  decoder.on('error', (error: unknown) => {
    const at = endedAt ?? stamps[0] ?? latest;
    if (!dead && at !== null) sink.broken(at, error);
  });

  return {
    push(at, bytes) {
      stamps.push(at);
      // A copy: the parser's memory is used again before the thread pool has read it.
      decoder.write(Buffer.from(bytes), () => void stamps.shift());
    },
    end(at) {
      endedAt = at;
      decoder.end();
    },
    destroy,
  };
}

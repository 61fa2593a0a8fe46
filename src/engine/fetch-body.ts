import { setImmediate as nextTurn } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';

// After this much text the reader gives the event loop a turn (some 3 ms of parsing), so that a page of many megabytes
// does not delay the stamps of a probe in flight.
const SLICE_BYTES = 64 * 1024;

/** The body passed its limit. */
export class BodyTooLarge extends Error {}

const one = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(', ') : (value ?? ''));

/** Response headers with lower-case names; repeated ones joined. */
export function headerMap(headers: Dispatcher.ResponseData['headers']): ReadonlyMap<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), one(value)]));
}

export const isGzip = (encoding: string): boolean => /^(x-)?gzip$/i.test(encoding.trim());
export const isIdentity = (encoding: string): boolean => encoding.trim() === '' || /^identity$/i.test(encoding.trim());

/** A stream cut short ends quietly (Node 20 says nothing either); whether the text is whole, the text tells. */
function decoded(response: Dispatcher.ResponseData): AsyncIterable<Buffer> {
  if (!isGzip(one(response.headers['content-encoding']))) return response.body;
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  response.body.on('error', (error) => gunzip.destroy(error));
  return response.body.pipe(gunzip);
}

/**
 * Hands the decoded text of a body on, piece by piece. Returns its size in bytes after decompression; throws
 * `BodyTooLarge` beyond `maxBytes`, and whatever the connection or zlib throw.
 */
export async function readBody(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  take: (text: string) => void,
): Promise<number> {
  const decoder = new TextDecoder('utf-8');
  let bytes = 0;
  let sinceTurn = 0;
  for await (const chunk of decoded(response)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyTooLarge(`the body has more than ${maxBytes} bytes`);
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      const piece = chunk.subarray(start, start + SLICE_BYTES);
      take(decoder.decode(piece, { stream: true }));
      sinceTurn += piece.length;
      if (sinceTurn < SLICE_BYTES) continue;
      sinceTurn = 0;
      await nextTurn();
    }
  }
  take(decoder.decode());
  return bytes;
}

import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';

/** A page of metrics, whole and, where it was rendered in pieces, in its pieces. */
export interface MetricsPage {
  readonly contentType: string;
  readonly body: string;
  readonly chunks?: readonly string[];
}

// Below this a page is one write of well under a millisecond.
const SMALL_CHARACTERS = 256 * 1024;
const SLICE_CHARACTERS = 64 * 1024;

/** Packs pieces into slices that are worth a write of their own. */
function* slices(chunks: readonly string[]): Generator<string> {
  let slice = '';
  for (const chunk of chunks) {
    slice += chunk;
    if (slice.length < SLICE_CHARACTERS) continue;
    yield slice;
    slice = '';
  }
  if (slice !== '') yield slice;
}

/**
 * Sends a page. A large one goes out in slices, with a turn of the event loop between them, so that encoding it never
 * holds up a probe; a reader that does not keep up is waited for, one that goes away ends it.
 */
export async function sendPage(response: Response, page: MetricsPage): Promise<void> {
  response.setHeader('Content-Type', page.contentType);
  const chunks = page.chunks ?? [page.body];
  const characters = chunks.reduce((total, chunk) => total + chunk.length, 0);
  if (characters <= SMALL_CHARACTERS) {
    response.end(page.body);
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  for (const slice of slices(chunks)) {
    if (response.destroyed) return;
    if (!response.write(slice)) {
      await once(response, 'drain', { signal: gone.signal }).catch(() => undefined);
    }
    await nextTurn();
  }
  response.end();
}

import { describe, expect, it } from 'vitest';
import {
  type ChunkKind,
  createTokenTiming,
  type TokenEvidence,
  type TokenTimes,
} from '../../../src/probe/token-timing.ts';
import { monotonicInstant } from '../../../src/units.ts';

/** t text, e empty, b bare; a digit after it is the running total. One chunk every 10 ms. */
function times(chunks: string, totalTokens: number | null, more: Partial<TokenEvidence> = {}): TokenTimes {
  const timing = createTokenTiming();
  const kinds: Readonly<Record<string, ChunkKind>> = { t: 'text', e: 'empty', b: 'bare' };
  [...chunks.matchAll(/([teb])(\d*)/g)].forEach(([, letter, counted], index) => {
    const kind = kinds[letter ?? ''] ?? 'text';
    timing.chunk(monotonicInstant((10 * (index + 1)) / 1000), kind, counted ? Number(counted) : null);
  });
  return timing.times({ totalTokens, hiddenTokens: 0, lostEvents: 0, ...more });
}

const summary = (result: TokenTimes): object => ({
  firstMs: result.firstAt === null ? null : Math.round(result.firstAt * 1000),
  lastMs: result.lastAt === null ? null : Math.round(result.lastAt * 1000),
  chunks: result.tokenChunks,
  first: result.firstChunkTokens,
  tpotMs: result.tpotSeconds === null ? null : Math.round(result.tpotSeconds * 1e9) / 1e6,
});

describe('which chunks are tokens', () => {
  it.each([
    ['tttt', 4, { firstMs: 10, lastMs: 40, chunks: 4, first: 1, tpotMs: 10 }],
    ['tttt', null, { firstMs: 10, lastMs: 40, chunks: 4, first: null, tpotMs: 10 }],
    ['t', 1, { firstMs: 10, lastMs: 10, chunks: 1, first: 1, tpotMs: null }],
    ['', 8, { firstMs: null, lastMs: null, chunks: 0, first: null, tpotMs: null }],
    ['eee', 3, { firstMs: null, lastMs: null, chunks: 0, first: null, tpotMs: null }],
    // Chunks without text: all of them, the last, none.
    ['etetee', 6, { firstMs: 20, lastMs: 60, chunks: 5, first: 2, tpotMs: 10 }],
    ['tte', 3, { firstMs: 10, lastMs: 30, chunks: 3, first: 1, tpotMs: 10 }],
    ['tte', 2, { firstMs: 10, lastMs: 20, chunks: 2, first: 1, tpotMs: 10 }],
    ['tte', null, { firstMs: 10, lastMs: 20, chunks: 2, first: null, tpotMs: 10 }],
    ['ette', 3, { firstMs: 20, lastMs: 40, chunks: 3, first: 1, tpotMs: 10 }],
    ['eett', 3, { firstMs: 30, lastMs: 40, chunks: 2, first: 2, tpotMs: 10 }],
    // A finish frame is a token only if it is the one that is missing.
    ['ttb', 3, { firstMs: 10, lastMs: 30, chunks: 3, first: 1, tpotMs: 10 }],
    ['ttb', 2, { firstMs: 10, lastMs: 20, chunks: 2, first: 1, tpotMs: 10 }],
    ['ttb', 8, { firstMs: 10, lastMs: 20, chunks: 2, first: null, tpotMs: 10 / 7 }],
    ['tetb', 4, { firstMs: 10, lastMs: 40, chunks: 4, first: 1, tpotMs: 10 }],
    // Several tokens a chunk: the first holds one, the others share the rest.
    ['ttttt', 17, { firstMs: 10, lastMs: 50, chunks: 5, first: null, tpotMs: 2.5 }],
    ['etttt', 17, { firstMs: 20, lastMs: 50, chunks: 4, first: null, tpotMs: 2.5 }],
    // Fewer tokens than chunks: a gateway cut the text up anew.
    ['tttt', 2, { firstMs: 10, lastMs: 40, chunks: 4, first: null, tpotMs: 30 }],
    ['tttt', 1, { firstMs: 10, lastMs: 40, chunks: 4, first: null, tpotMs: null }],
  ])('%s with a total of %s', (chunks, total, expected) => {
    const result = times(chunks, total);
    expect(summary(result)).toEqual({
      ...expected,
      tpotMs: expected.tpotMs === null ? null : expect.closeTo(expected.tpotMs, 5),
    });
    expect(result.gapsSeconds).toHaveLength(Math.max(0, result.tokenChunks - 1));
  });

  it.each([
    ['t4t5t6', 6, { firstMs: 10, lastMs: 30, chunks: 3, first: 4, tpotMs: 10 }],
    ['e1t5t9', 9, { firstMs: 20, lastMs: 30, chunks: 2, first: 5, tpotMs: 2.5 }],
    ['t1e2t3e4', 4, { firstMs: 10, lastMs: 40, chunks: 4, first: 1, tpotMs: 10 }],
    ['t1t2e2', 2, { firstMs: 10, lastMs: 20, chunks: 2, first: 1, tpotMs: 10 }],
    ['t1t2b3', 3, { firstMs: 10, lastMs: 30, chunks: 3, first: 1, tpotMs: 10 }],
    // The totals stop before the end: what is missing belongs to the last chunk.
    ['t1t2e', 3, { firstMs: 10, lastMs: 30, chunks: 3, first: 1, tpotMs: 10 }],
    ['t8', 8, { firstMs: 10, lastMs: 10, chunks: 1, first: 8, tpotMs: null }],
    // A total that comes only with the last frame proves nothing of that frame.
    ['ttb2', 2, { firstMs: 10, lastMs: 20, chunks: 2, first: 1, tpotMs: 10 }],
    ['tte3', 3, { firstMs: 10, lastMs: 30, chunks: 3, first: 1, tpotMs: 10 }],
  ])('%s, with running totals', (chunks, total, expected) => {
    expect(summary(times(chunks, total))).toEqual(expected);
  });

  it('hidden tokens lie before the first chunk', () => {
    expect(summary(times('ttt', 53, { hiddenTokens: 50 }))).toMatchObject({ first: 51, tpotMs: 10 });
  });

  it('an event that could not be read takes the place of the finish frame', () => {
    expect(summary(times('ttb', 3, { lostEvents: 1 }))).toMatchObject({ lastMs: 20 });
  });
});

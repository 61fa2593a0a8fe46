import { describe, expect, it } from 'vitest';
import { isBuffered } from '../../../src/probe/buffered.ts';
import { elapsed, monotonicInstant } from '../../../src/units.ts';

/** Chunks at these milliseconds after the request; one token each unless told otherwise. */
function buffered(arrivalsMs: readonly number[], tokens = arrivalsMs.length, requestMs: number | null = 0): boolean {
  const arrivals = arrivalsMs.map((ms) => monotonicInstant(ms / 1000));
  return isBuffered({
    requestAt: requestMs === null ? null : monotonicInstant(requestMs / 1000),
    firstAt: arrivals[0] ?? null,
    lastAt: arrivals.at(-1) ?? null,
    tokens,
    gapsSeconds: arrivals.slice(1).map((to, index) => elapsed(arrivals[index] ?? to, to)),
  });
}

const paced = (count: number, gapMs: number, startMs = 300): number[] =>
  Array.from({ length: count }, (_, index) => startMs + index * gapMs);
const bursts = (count: number, size: number, gapMs: number, insideMs = 0): number[] =>
  Array.from({ length: count }, (_, index) => 300 + Math.floor(index / size) * gapMs + (index % size) * insideMs);

describe('lumps', () => {
  it.each([
    ['everything in one read', paced(49, 0, 1740), true],
    ['G-041: 49 chunks in 3 ms', paced(49, 3 / 48, 1740), true],
    ['a slow lump after a long wait', paced(49, 30 / 48, 1740), true],
    ['the same after a short wait is a fast engine', paced(49, 30 / 48, 40), false],
    ['a short answer says nothing', paced(7, 0), false],
    ['an engine at 1 ms a token', paced(16, 1.05), false],
    ['an engine at 10 ms a token behind a queue of 10 s', paced(16, 10, 10_000), false],
    ['an engine at 25 ms a token', paced(16, 25), false],
  ])('%s', (_, arrivals, expected) => {
    expect(buffered(arrivals)).toBe(expected);
  });

  it.each([
    ['a mock server without pacing', paced(16, 3 / 15, 2), false],
    ['a mock server that writes all at once', paced(16, 0, 2), false],
    ['a mock server in two writes', [2, 2, 2, 2, 2, 2, 2, 2, 5, 5, 5, 5, 5, 5, 5, 5], false],
    ['16 tokens for which a wait of 16 ms would have been enough', paced(16, 0, 16), true],
    ['a fast engine behind a wait that could hide as much', paced(16, 0.2, 50), true],
  ])('an answer faster as a whole than any engine was not held back: %s', (_, arrivals, expected) => {
    expect(buffered(arrivals)).toBe(expected);
  });

  it('without the instant of the request nothing is proven', () => {
    expect(buffered(paced(16, 0, 2), 16, null)).toBe(true);
  });

  it('many tokens in one chunk are a lump too', () => {
    expect(buffered([1740], 49)).toBe(true);
    expect(buffered([1740], 7)).toBe(false);
  });

  it('without the instant of the request only the absolute bound counts', () => {
    expect(buffered(paced(49, 3 / 48, 1740), 49, null)).toBe(true);
    expect(buffered(paced(49, 30 / 48, 1740), 49, null)).toBe(false);
  });

  it('no token at all is not buffered', () => {
    expect(buffered([])).toBe(false);
  });
});

describe('bursts', () => {
  it.each([
    ['ten at a time, one read each', bursts(40, 10, 200), true],
    ['four at a time', bursts(40, 4, 80), true],
    ['ten at a time, in reads that follow each other at once', bursts(40, 10, 200, 0.2), true],
    ['the first one alone, the rest in a lump', [300, ...paced(15, 0, 1500)], true],
    ['two at a time, as speculative decoding does', bursts(40, 2, 40), false],
    ['three at a time', bursts(40, 3, 60), false],
    ['one long stall in a steady stream', [...paced(20, 15), ...paced(20, 15, 5000)], false],
    ['too few gaps to tell', [300, 300, 300, 300, 900, 900, 900], false],
  ])('%s', (_, arrivals, expected) => {
    expect(buffered(arrivals)).toBe(expected);
  });

  it('R-003: four tokens a chunk at an even pace are no burst', () => {
    expect(buffered(paced(11, 60), 40)).toBe(false);
  });

  it('an irregular stream is no burst', () => {
    const arrivals = [300];
    for (let index = 1; index < 60; index += 1) {
      // Gaps of an exponential distribution with mean 15 ms, at even quantiles in a scrambled order.
      const quantile = ((index * 37) % 60) / 60;
      arrivals.push((arrivals.at(-1) ?? 0) - 15 * Math.log(1 - quantile));
    }
    expect(buffered(arrivals)).toBe(false);
  });
});

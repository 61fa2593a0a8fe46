import { describe, expect, it } from 'vitest';
import { type Cell, effectInWords, effects } from '../../../src/experiment/effects.ts';

const cell = (cache: boolean, chunked: boolean, values: readonly number[]): Cell => ({
  switches: { cache, chunked },
  values,
});

describe('effects of a 2 x 2 comparison', () => {
  const cells = [
    cell(false, false, [99, 100, 101]),
    cell(true, false, [129, 130, 131]),
    cell(false, true, [100, 99, 101]),
    cell(true, true, [130, 131, 129]),
  ];

  it('credits the switch that matters and clears the one that does not', () => {
    const [cache, chunked, both] = effects(cells);
    expect(cache).toMatchObject({ name: 'cache', significant: true });
    expect(cache?.ratio).toBeCloseTo(0.3);
    expect(chunked).toMatchObject({ name: 'chunked', significant: false });
    expect(chunked?.ratio).toBeCloseTo(0);
    expect(both).toMatchObject({ name: 'cache x chunked', significant: false });
  });

  it('sees an interaction: the second switch pays only with the first', () => {
    const found = effects([
      cell(false, false, [99, 100, 101]),
      cell(true, false, [99, 100, 101]),
      cell(false, true, [99, 100, 101]),
      cell(true, true, [149, 150, 151]),
    ]);
    expect(found.map((effect) => effect.significant)).toEqual([true, true, true]);
    expect(found[2]?.ratio).toBeCloseTo(25 / 112.5);
  });

  it('widens the interval with the noise', () => {
    const noisy = effects([
      cell(false, false, [60, 100, 140]),
      cell(true, false, [90, 130, 170]),
      cell(false, true, [60, 100, 140]),
      cell(true, true, [90, 130, 170]),
    ]);
    expect(noisy[0]?.significant).toBe(false);
  });

  it('claims nothing from one repeat', () => {
    const [only] = effects([
      cell(false, false, [100]),
      cell(true, false, [130]),
      cell(false, true, [100]),
      cell(true, true, [130]),
    ]);
    expect(only).toMatchObject({ low: null, high: null, significant: null });
    if (only) expect(effectInWords(only, 'throughput')).toContain('one repeat says nothing of the noise');
  });

  it('says it in words', () => {
    const [cache, chunked] = effects(cells);
    if (!cache || !chunked) throw new Error('two effects are expected');
    expect(effectInWords(cache, 'throughput')).toMatch(/^cache: \+30\.0 % throughput \(95 % interval \+/);
    expect(effectInWords(chunked, 'throughput')).toContain('no difference in throughput beyond the noise');
  });
});

import { describe, expect, it } from 'vitest';
import { driftOf } from '../../../src/experiment/compare-drift.ts';
import { createRandom } from '../../../src/experiment/random.ts';

describe('a drift of all set-ups together', () => {
  // Eight set-ups of two engines on a machine whose clock rose during half an hour.
  const rising = [
    [75.5, 77.6, 83.1],
    [61, 68.1, 68.8],
    [108.8, 110.9, 119.2],
    [111.3, 112.5, 122.6],
    [94.1, 97.2, 104.6],
    [83.3, 84.9, 97.7],
    [192.2, 193.4, 215.8],
    [205.7, 174.6, 214.4],
  ];

  it('is found with the repeats that it lies between', () => {
    const found = driftOf(rising);
    expect(found).toMatchObject({ slower: 1, faster: 3 });
    expect(found?.ratio).toBeCloseTo(0.105, 2);
  });

  it('is also one when it gets slower, and whatever the set-ups themselves yield', () => {
    const falling = rising.map((values) => values.toReversed().map((value) => value * 1000));
    expect(driftOf(falling)).toMatchObject({ slower: 3, faster: 1 });
  });

  it('is none when each set-up goes its own way', () => {
    const own = rising.map((values, index) => [...values.slice(index % 3), ...values.slice(0, index % 3)]);
    expect(driftOf(own)).toBeNull();
  });

  it('is none when it is too small to spoil anything', () => {
    expect(driftOf(rising.map((_, index) => [100, 100.5 + index / 100, 101 + index / 100]))).toBeNull();
  });

  it('is not claimed for fewer than four set-ups, for one repeat, or for nothing', () => {
    expect(driftOf(rising.slice(0, 3))).toBeNull();
    expect(driftOf(rising.map((values) => values.slice(0, 1)))).toBeNull();
    expect(driftOf([])).toBeNull();
    expect(driftOf(rising.map(() => [0, 0, 0]))).toBeNull();
  });

  it('is seldom found in noise', () => {
    const random = createRandom('drift');
    const noise = Array.from({ length: 500 }, () => rising.map((values) => values.map(() => 90 + 20 * random())));
    const found = noise.filter((setups) => driftOf(setups) !== null).length;
    expect(found).toBeLessThan(50);
  });
});

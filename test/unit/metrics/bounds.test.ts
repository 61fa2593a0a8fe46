import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_BUCKETS } from '../../../src/config/defaults.ts';
import { boundsWith, worstInterpolationError } from '../../../src/metrics/bounds.ts';

describe('bounds of a histogram', () => {
  it('hold every threshold, so that the share of good probes is exact', () => {
    expect(boundsWith([0.1, 1, 10], [2], 0)).toEqual([0.1, 1, 2, 10]);
  });

  it('reach the deadline at which failures are entered', () => {
    expect(boundsWith([0.1, 1], [], 30)).toEqual([0.1, 1, 30]);
    expect(boundsWith([0.1, 60], [], 30)).toEqual([0.1, 60]);
  });

  it('take a threshold that is there already as one', () => {
    expect(boundsWith([0.1, 0.2], [0.1 + 0.1], 0)).toEqual([0.1, 0.2]);
    expect(boundsWith([0.3], [0.1 + 0.2], 0)).toEqual([0.3]);
  });

  it('are ascending and positive whatever they are made from', () => {
    const anything = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0));
    fc.assert(
      fc.property(fc.array(anything), fc.array(anything), anything, (bounds, edges, reach) => {
        const made = boundsWith(bounds, edges, reach);
        expect(made.every((bound, index) => bound > (made[index - 1] ?? 0) && Number.isFinite(bound))).toBe(true);
      }),
    );
  });
});

describe('the error of a quantile', () => {
  it('is the width of the widest bucket in the range', () => {
    expect(worstInterpolationError([1, 1.3, 2, 10], 1, 2)).toBeCloseTo(2 / 1.3 - 1);
    expect(worstInterpolationError([1, 2], 0.5, 2)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    { id: 'TTFT from 0.1 s to 4.5 s', bounds: DEFAULT_BUCKETS.ttftSeconds, low: 0.1, high: 4.5 },
    { id: 'TPOT from 8 ms to 0.2 s', bounds: DEFAULT_BUCKETS.tpotSeconds, low: 0.008, high: 0.2 },
  ])('G-142: stays below 40 % by default for $id, where objectives are set', ({ bounds, low, high }) => {
    expect(worstInterpolationError(bounds, low, high)).toBeLessThan(0.4);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  estimateQuantile,
  mean,
  median,
  proportionInterval,
  quantileRanks,
  repeatSpread,
  studentT95,
  variance,
} from '../../../src/experiment/statistics.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('quantiles as order statistics', () => {
  it('gives no p99 from 20 requests and no p95 from 19', () => {
    expect(estimateQuantile(upTo(20), 0.99).value).toBeNull();
    expect(estimateQuantile(upTo(19), 0.95).value).toBeNull();
    expect(estimateQuantile(upTo(20), 0.95).value).toBe(19);
  });

  it('has an upper bound for p90, p95 and p99 from the published sample sizes on', () => {
    // Two-sided 95 % bounds: 1 - q^n >= 0.975.
    for (const [quantile, n] of [
      [0.9, 36],
      [0.95, 72],
      [0.99, 368],
    ] as const) {
      expect(quantileRanks(n, quantile).high).not.toBeNull();
      expect(quantileRanks(n - 2, quantile).high).toBeNull();
    }
  });

  it('agrees with the published interval of a median of 60 samples', () => {
    const { low, high } = quantileRanks(60, 0.5);
    expect(low).toBe(22);
    expect(high).toBe(39);
  });

  it('counts censored samples as larger than all others', () => {
    expect(estimateQuantile(upTo(98), 0.99, 2).value).toBe(Number.POSITIVE_INFINITY);
    expect(estimateQuantile(upTo(98), 0.5, 2).value).toBe(50);
    expect(estimateQuantile(upTo(98), 0.99, 2).samples).toBe(100);
  });

  it('encloses the estimate whatever the samples', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 300 }),
        (values) => {
          const sorted = [...values].sort((a, b) => a - b);
          const { value, low, high } = estimateQuantile(sorted, 0.5);
          if (value === null) return;
          if (low !== null) expect(low).toBeLessThanOrEqual(value);
          if (high !== null) expect(high).toBeGreaterThanOrEqual(value);
        },
      ),
    );
  });

  it('covers the true median in about 95 of 100 experiments', () => {
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    let covered = 0;
    for (let run = 0; run < 400; run += 1) {
      const sorted = upTo(50)
        .map(random)
        .sort((a, b) => a - b);
      const { low, high } = estimateQuantile(sorted, 0.5);
      if (low !== null && high !== null && low <= 0.5 && high >= 0.5) covered += 1;
    }
    expect(covered / 400).toBeGreaterThan(0.93);
  });
});

describe('moments and proportions', () => {
  it('knows mean, variance and median, and that of nothing there is none', () => {
    expect(mean([1, 2, 3, 6])).toBe(3);
    expect(variance([1, 2, 3, 6])).toBeCloseTo(14 / 3);
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(mean([])).toBeNull();
    expect(variance([1])).toBeNull();
    expect(median([])).toBeNull();
  });

  it('gives the published Wilson intervals', () => {
    expect(proportionInterval(60, 60)?.low).toBeCloseTo(0.94, 2);
    expect(proportionInterval(59, 60)?.low).toBeCloseTo(0.911, 2);
    expect(proportionInterval(0, 0)).toBeNull();
  });

  it('measures the spread of repeats against their median', () => {
    expect(repeatSpread([100, 102, 98])).toBeCloseTo(0.04);
    expect(repeatSpread([100])).toBeNull();
  });

  it("uses Student's t for few repeats", () => {
    expect(studentT95(2)).toBeCloseTo(4.303);
    expect(studentT95(1000)).toBe(1.96);
    expect(studentT95(0)).toBe(Number.POSITIVE_INFINITY);
  });
});

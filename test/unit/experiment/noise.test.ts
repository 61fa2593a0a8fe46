import { describe, expect, it } from 'vitest';
import { differenceInWords, differenceOf } from '../../../src/experiment/noise.ts';

describe('a difference between repeats', () => {
  it('is one when it is larger than their noise', () => {
    const found = differenceOf([100, 101, 99], [120, 121, 119]);
    expect(found?.beyondNoise).toBe(true);
    expect(found?.ratio).toBeCloseTo(0.2);
    expect(found?.low).toBeGreaterThan(0.17);
    expect(found?.high).toBeLessThan(0.23);
  });

  it('is none when the repeats scatter more', () => {
    const found = differenceOf([80, 100, 120], [90, 110, 130]);
    expect(found?.beyondNoise).toBe(false);
    expect(differenceInWords(found)).toContain('within the noise');
  });

  it('is not judged from single runs', () => {
    const found = differenceOf([100], [120]);
    expect(found).toMatchObject({ low: null, high: null, beyondNoise: null });
    expect(differenceInWords(found)).toContain('noise unknown');
  });

  it('takes the noise from the side that has repeats', () => {
    expect(differenceOf([100, 101, 99], [120])?.beyondNoise).toBe(true);
  });

  it('is unknown without values', () => {
    expect(differenceOf([], [1])).toBeNull();
    expect(differenceInWords(null)).toBe('unknown');
  });
});

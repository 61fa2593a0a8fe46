import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactScale, latencyScale, linearScale, logScale } from '../../../../src/experiment/report-scale.ts';

describe('scales of charts', () => {
  it('end on a round tick above the data', () => {
    expect(linearScale(0, 97, 0, 100).ticks).toEqual([0, 50, 100]);
    expect(linearScale(0, 0.31, 0, 100).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
  });

  it('keep time where it ends', () => {
    const scale = exactScale(0, 120, 0, 240, 12);
    expect(scale.at(120)).toBe(240);
    expect(scale.ticks.at(-1)).toBe(120);
  });

  it('are logarithmic where values spread over more than a decade', () => {
    const scale = latencyScale([0.01, 5], 100, 0);
    expect(scale.at(0.1) - scale.at(1)).toBeCloseTo(scale.at(0.01) - scale.at(0.1));
    expect(latencyScale([1, 5], 100, 0).low).toBe(0);
    expect(latencyScale([], 100, 0).ticks.length).toBeGreaterThan(1);
  });

  it('hold all data inside, in ascending ticks, whatever the data', () => {
    const positive = fc.double({ min: 1e-6, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(positive, positive, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        for (const scale of [
          linearScale(0, high, 0, 100),
          logScale(low, high, 0, 100),
          latencyScale([low, high], 0, 100),
        ]) {
          // A thousandth of a pixel: rounding, and nothing that anybody sees.
          expect(scale.at(low)).toBeGreaterThanOrEqual(-1e-3);
          expect(scale.at(high)).toBeLessThanOrEqual(100 + 1e-3);
          expect(scale.ticks.length).toBeLessThanOrEqual(16);
          expect([...scale.ticks].sort((x, y) => x - y)).toEqual(scale.ticks);
        }
      }),
    );
  });
});

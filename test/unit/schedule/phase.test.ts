import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phasesOf, stableFraction } from '../../../src/schedule/phase.ts';
import { seconds } from '../../../src/units.ts';

const profile = (name: string, windowSeconds: number) => ({ name, windowSeconds: seconds(windowSeconds) });

/** Distance on a circle of length `round`. */
const apart = (a: number, b: number, round: number): number => {
  const distance = Math.abs(a - b) % round;
  return Math.min(distance, round - distance);
};

describe('phases', () => {
  it('G-175: forty targets of one gateway start spread over the interval, none of ten parts of it empty', () => {
    const starts = Array.from(
      { length: 40 },
      (_, index) => phasesOf(`model-${index}`, '', [profile('default', 30)]).get('default') ?? -1,
    );
    const filled = new Set(starts.map((start) => Math.floor(start / 3)));
    expect(filled.size).toBe(10);
    expect(Math.min(...starts)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...starts)).toBeLessThan(30);
  });

  it('G-175: the phase is the same after a restart and differs from pod to pod', () => {
    const once = phasesOf('vllm', 'pod-a', [profile('default', 15)]).get('default');
    expect(phasesOf('vllm', 'pod-a', [profile('default', 15)]).get('default')).toBe(once);
    expect(phasesOf('vllm', 'pod-b', [profile('default', 15)]).get('default')).not.toBe(once);
  });

  it('a thousand sidecars of one Deployment fire evenly: no tenth of the interval has twice its share', () => {
    const parts = new Array<number>(10).fill(0);
    for (let pod = 0; pod < 1000; pod += 1) {
      const phase = phasesOf('vllm', `vllm-7d9c8b-${pod}`, [profile('default', 10)]).get('default') ?? 0;
      parts[Math.floor(phase)] = (parts[Math.floor(phase)] ?? 0) + 1;
    }
    expect(Math.max(...parts)).toBeLessThan(200);
    expect(Math.min(...parts)).toBeGreaterThan(50);
  });

  it('profiles of one target with the same interval are spaced evenly', () => {
    const phases = phasesOf('vllm', 'pod-a', [profile('cold', 15), profile('warm', 15), profile('long', 15)]);
    const [a = 0, b = 0, c = 0] = [...phases.values()];
    for (const distance of [apart(a, b, 15), apart(b, c, 15), apart(a, c, 15)]) expect(distance).toBeCloseTo(5, 6);
  });

  it('profiles whose intervals are multiples of each other never meet, in any cycle', () => {
    const phases = phasesOf('vllm', 'pod-a', [profile('often', 15), profile('seldom', 60)]);
    expect(apart(phases.get('often') ?? 0, phases.get('seldom') ?? 0, 15)).toBeCloseTo(7.5, 6);
  });

  it('the order in which profiles are written does not matter', () => {
    const forwards = phasesOf('t', 'p', [profile('a', 10), profile('b', 10)]);
    const backwards = phasesOf('t', 'p', [profile('b', 10), profile('a', 10)]);
    expect(Object.fromEntries(backwards)).toEqual(Object.fromEntries(forwards));
  });

  it('every phase lies inside its own slot, whatever the names and intervals', () => {
    const profiles = fc.uniqueArray(
      fc.record({
        name: fc.string(),
        windowSeconds: fc.integer({ min: 1, max: 900_000 }).map((ms) => seconds(ms / 10)),
      }),
      { minLength: 1, maxLength: 5, selector: (entry) => entry.name },
    );
    fc.assert(
      fc.property(fc.string(), fc.string(), profiles, (target, pod, entries) => {
        const phases = phasesOf(target, pod, entries);
        for (const { name, windowSeconds } of entries) {
          const phase = phases.get(name) ?? -1;
          expect(phase).toBeGreaterThanOrEqual(0);
          expect(phase).toBeLessThan(windowSeconds + 1e-6);
        }
      }),
    );
  });

  it('names are kept apart: ("a", "bc") is not ("ab", "c")', () => {
    expect(stableFraction('a', 'bc')).not.toBe(stableFraction('ab', 'c'));
  });
});

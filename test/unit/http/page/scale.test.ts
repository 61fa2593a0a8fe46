import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadPageModule } from '../../../support/page-modules.ts';

interface Scale {
  readonly bottom: number;
  readonly ticks: readonly number[];
  readonly y: (value: number) => number;
}
type Line = readonly (readonly [number, number | null])[];
interface ScaleModule {
  readonly scaleFor: (spec: object, values: readonly number[], height: number) => Scale;
  readonly linePath: (line: Line, x: (at: number) => number, y: (value: number) => number, step?: boolean) => string;
  readonly areaPath: (line: Line, x: (at: number) => number, y: (value: number) => number, bottom: number) => string;
  readonly valueAt: (line: Line, at: number, reach: number) => number | null;
  readonly timeTicks: (from: number, to: number, width: number) => readonly number[];
}

const page = await loadPageModule<ScaleModule>('scale.js');
const LATENCY = { scale: 'log', floor: 0.02 };
const COUNT = { scale: 'linear', floor: 4 };
const itself = (value: number): number => value;

describe('a scale', () => {
  it('keeps every value on the chart, higher values higher, with two to five ticks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.0001, max: 600, noNaN: true }), { minLength: 1, maxLength: 30 }),
        (values) => {
          for (const spec of [LATENCY, COUNT]) {
            const { y, ticks, bottom } = page.scaleFor(spec, values, 200);
            for (const value of values) {
              expect(y(value)).toBeGreaterThanOrEqual(9.9);
              expect(y(value)).toBeLessThanOrEqual(bottom + 0.1);
            }
            expect(y(Math.max(...values))).toBeLessThanOrEqual(y(Math.min(...values)));
            expect(ticks.length).toBeGreaterThanOrEqual(2);
            expect(ticks.length).toBeLessThanOrEqual(7);
          }
        },
      ),
    );
  });

  it('can be drawn without a single value', () => {
    expect(page.scaleFor(LATENCY, [], 100).ticks.length).toBeGreaterThan(1);
    expect(page.scaleFor(COUNT, [], 100).ticks).toEqual([0, 2, 4]);
  });
});

describe('a line', () => {
  it('is broken where a value is missing', () => {
    const line: Line = [
      [0, 1],
      [1, 2],
      [2, null],
      [3, 4],
    ];
    expect(page.linePath(line, itself, itself)).toBe('M0.0,1.0L1.0,2.0M3.0,4.0');
    expect(page.areaPath(line, itself, itself, 9)).toBe('M0.0,9L0.0,1.0L1.0,2.0L1.0,9Z');
  });

  it('in steps holds its value until the next', () => {
    expect(
      page.linePath(
        [
          [0, 1],
          [5, 3],
        ],
        itself,
        itself,
        true,
      ),
    ).toBe('M0.0,1.0L5.0,1.0L5.0,3.0');
  });

  it('has at a moment the last value before it, unless that is long ago', () => {
    const line: Line = [
      [0, 1],
      [10, 2],
      [20, null],
    ];
    expect(page.valueAt(line, 12, 8)).toBe(2);
    expect(page.valueAt(line, 40, 8)).toBeNull();
    expect(page.valueAt([], 1, 8)).toBeNull();
  });
});

describe('the time axis', () => {
  it.each([
    [900, 300],
    [900, 1200],
    [300, 300],
  ])('of %d s on %d px has few enough ticks to read', (span, width) => {
    const ticks = page.timeTicks(1_000_003, 1_000_003 + span, width);
    expect(ticks.length).toBeGreaterThanOrEqual(1);
    expect(ticks.length * 60).toBeLessThanOrEqual(width + 120);
  });
});

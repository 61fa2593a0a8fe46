import { describe, expect, it } from 'vitest';
import { mergeBounds, withNeededEdges } from '../../../src/config/buckets.ts';
import { DEFAULT_BUCKETS } from '../../../src/config/defaults.ts';
import { loadText, TARGET } from './support.ts';

describe('mergeBounds', () => {
  it('puts a threshold between its neighbours', () => {
    expect(mergeBounds([1, 2, 4], [3])).toEqual([1, 2, 3, 4]);
  });

  it('keeps one of two bounds that are the same but for rounding', () => {
    expect(mergeBounds([0.1, 0.3], [0.1 + 0.2])).toEqual([0.1, 0.3]);
  });

  it('passes over edges that no histogram can have', () => {
    expect(mergeBounds([1], [0, -1, Number.NaN, Number.POSITIVE_INFINITY])).toEqual([1]);
  });

  it('extends the bounds on both ends', () => {
    expect(mergeBounds([1, 2], [0.5, 8])).toEqual([0.5, 1, 2, 8]);
  });
});

describe('the bounds of a configuration', () => {
  it('have every SLO threshold of every target as an edge', () => {
    const { config } = loadText(
      `${TARGET}    slo: {ttft: {threshold: 777ms}, tpot: {threshold: 33ms}}\n  - name: b\n    url: http://127.0.0.1:8001\n    slo: {ttft: {threshold: 1234ms}}\n`,
    );
    expect(config.buckets.ttftSeconds).toEqual(expect.arrayContaining([0.777, 1.234]));
    expect(config.buckets.tpotSeconds).toContain(0.033);
  });

  it('reach to a deadline that lies past the last one', () => {
    const { config } = loadText(
      `profiles: [{name: slow, every: 5m, deadlines: {first_token: 90s, total: 3m}}]\n${TARGET}`,
    );
    expect(config.buckets.ttftSeconds.at(-1)).toBe(90);
    expect(config.buckets.durationSeconds.at(-1)).toBe(180);
  });

  it('are those of the file where it gives some', () => {
    const { config } = loadText(`buckets: {ttft_seconds: [0.5, 1], gap_seconds: [0.1]}\n${TARGET}`);
    expect(config.buckets.ttftSeconds).toEqual([0.5, 1, 2, 30]);
    expect(config.buckets.gapSeconds).toEqual([0.1]);
  });

  it('stay as they are when nothing is missing', () => {
    const nothing = {
      ttftThresholdsSeconds: [2],
      tpotThresholdsSeconds: [0.1],
      firstTokenDeadlinesSeconds: [30],
      totalDeadlinesSeconds: [60],
    };
    expect(withNeededEdges(DEFAULT_BUCKETS, nothing)).toEqual(DEFAULT_BUCKETS);
  });

  it('step by at most 1.36 where TTFT and TPOT objectives are set', () => {
    const steps = (bounds: readonly number[], from: number, to: number): readonly number[] =>
      bounds
        .slice(1)
        .map((bound, index) => [bound, bounds[index] ?? 0] as const)
        .filter(([bound, before]) => before >= from && bound <= to)
        .map(([bound, before]) => bound / before);
    const all = [...steps(DEFAULT_BUCKETS.ttftSeconds, 0.1, 4.5), ...steps(DEFAULT_BUCKETS.tpotSeconds, 0.01, 0.22)];
    expect(all.length).toBeGreaterThan(20);
    expect(Math.max(...all)).toBeLessThan(1.37);
  });
});

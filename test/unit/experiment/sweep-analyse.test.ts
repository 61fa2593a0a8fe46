import { describe, expect, it } from 'vitest';
import { summarise } from '../../../src/experiment/summary.ts';
import type { Summary } from '../../../src/experiment/summary-types.ts';
import { analysePrompt, type MeasuredLevel } from '../../../src/experiment/sweep-analyse.ts';
import type { SweepPlan } from '../../../src/experiment/sweep-types.ts';
import { sampleRun } from '../../support/sample-run.ts';

const plan = {
  axis: { kind: 'concurrency', levels: [1, 2], from: 1, to: 2 },
  repeats: 3,
  load: { slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null } },
} as unknown as SweepPlan;

const measured: Summary = summarise(sampleRun({ concurrency: 1 }));
const runOf = (outputTokensPerSecond: number, limited = false): Summary => ({
  ...measured,
  throughput: { ...measured.throughput, outputTokensPerSecond },
  client: { ...measured.client, limited },
});
const level = (value: number, ...summaries: Summary[]): MeasuredLevel => ({
  value,
  runs: summaries.map((summary, index) => ({ repeat: index + 1, summary, complete: true })),
});

describe('the levels of a sweep', () => {
  it('are made of the runs that the client did not limit, and say how many these are', () => {
    const { levels } = analysePrompt(plan, { name: 'short', promptTokens: 8 }, [
      level(1, runOf(1000, true), runOf(100), runOf(110)),
      level(2, runOf(200), runOf(210), runOf(220)),
    ]);
    expect(levels.map(({ complete, summaries }) => [complete, summaries.length])).toEqual([
      [3, 2],
      [3, 3],
    ]);
    expect(levels[0]?.figures?.outputTokensPerSecond).toBe(105);
    expect(levels[0]?.unusable).toEqual(['repeat 1 was limited by the client']);
    expect(levels[1]?.gain?.ratio).toBeCloseTo(210 / 105 - 1);
  });
});

import { describe, expect, it } from 'vitest';
import {
  findKnee,
  findKneeOfParameter,
  type LevelFigures,
  workingPoints,
  workingPointsOfParameter,
} from '../../../src/experiment/knee.ts';

const level = (of: number, tokensPerSecond: number, more: Partial<LevelFigures> = {}): LevelFigures => ({
  level: of,
  outputTokensPerSecond: tokensPerSecond,
  ttftP99Seconds: 0.2,
  ttftP50Seconds: 0.1,
  tpotP50Seconds: 0.02,
  waitingShare: 0,
  waitingSamples: null,
  preemptions: 0,
  failedRatio: 0,
  clientLimited: false,
  ...more,
});

describe('the knee on the axis of concurrency', () => {
  it('is where requests begin to wait, throughput flattens and nothing is preempted', () => {
    const verdict = findKnee([
      level(8, 400),
      level(16, 780),
      level(32, 1400, { waitingShare: 0.3 }),
      level(64, 1450, { waitingShare: 1, preemptions: 12 }),
    ]);
    expect(verdict).toMatchObject({ kind: 'found', level: 32 });
  });

  it('is the last level without preemption where preemption comes at once', () => {
    const verdict = findKnee([level(8, 400), level(16, 780), level(32, 900, { waitingShare: 0.9, preemptions: 40 })]);
    expect(verdict).toMatchObject({ kind: 'found', level: 16 });
  });

  it('does not take one sample of a short window for a queue', () => {
    const seen = (samples: number): Partial<LevelFigures> => ({ waitingShare: samples / 6, waitingSamples: samples });
    const levels = (samples: number) => [level(1, 50), level(2, 62, seen(samples)), level(4, 66, seen(6))];
    expect(findKnee(levels(1))).toMatchObject({ kind: 'found', level: 4 });
    expect(findKnee(levels(2))).toMatchObject({ kind: 'found', level: 2 });
  });

  it('is the level before where the first queue buys no throughput at all', () => {
    // A KV cache that holds four: at eight, four of them only wait.
    const queue = (tokensPerSecond: number) => [
      level(2, 171),
      level(4, 291),
      level(8, tokensPerSecond, { waitingShare: 1, ttftP99Seconds: 1.2 }),
      level(12, 300, { waitingShare: 1, preemptions: 1 }),
    ];
    expect(findKnee(queue(293))).toEqual({
      kind: 'found',
      level: 4,
      why: 'the last level before requests wait; at 8 they do (100.0 % of the samples), for +0.7 % of throughput',
    });
    expect(findKnee(queue(280))).toMatchObject({ level: 4, why: expect.stringContaining('for −3.8 % of throughput') });
    expect(findKnee(queue(310))).toMatchObject({ level: 8 });
  });

  it('says so when there was no valid run', () => {
    for (const find of [findKnee, findKneeOfParameter])
      expect(find([])).toEqual({ kind: 'none', why: 'no run gave a valid result' });
  });

  it('is not claimed in underload', () => {
    expect(findKnee([level(1, 50), level(2, 100), level(4, 198)])).toMatchObject({ kind: 'none' });
  });

  it('is not claimed while throughput still grows although some wait', () => {
    const verdict = findKnee([
      level(8, 400),
      level(16, 790, { waitingShare: 0.2 }),
      level(32, 1550, { waitingShare: 0.4 }),
    ]);
    expect(verdict.kind).toBe('none');
  });

  it('lies below the range when the first level is saturated', () => {
    expect(findKnee([level(64, 900, { preemptions: 3 }), level(128, 900, { preemptions: 90 })]).kind).toBe(
      'below_range',
    );
    expect(findKnee([level(64, 900, { waitingShare: 1 }), level(128, 910, { waitingShare: 1 })]).kind).toBe(
      'below_range',
    );
  });

  it('comes from the curve alone, and says so, when the engine is silent', () => {
    const quiet = { waitingShare: null, preemptions: null };
    const verdict = findKnee([level(8, 400, quiet), level(16, 780, quiet), level(32, 820, quiet)]);
    expect(verdict).toMatchObject({ kind: 'found', level: 16 });
    expect(verdict.why).toContain('curve alone');
  });

  it('needs two levels', () => {
    expect(findKnee([level(8, 400)]).kind).toBe('none');
  });
});

describe('the knee on the axis of a start parameter', () => {
  it('is the value before less than 5 % throughput costs more than 20 % TTFT', () => {
    const verdict = findKneeOfParameter([
      level(64, 1000, { ttftP99Seconds: 0.5 }),
      level(128, 1200, { ttftP99Seconds: 0.6 }),
      level(256, 1230, { ttftP99Seconds: 0.9 }),
    ]);
    expect(verdict).toMatchObject({ kind: 'found', level: 128 });
  });

  it('is not claimed while every value pays', () => {
    expect(findKneeOfParameter([level(64, 1000), level(128, 1200), level(256, 1300)]).kind).toBe('none');
  });

  it('is not claimed without a p99', () => {
    const few = { ttftP99Seconds: null };
    const verdict = findKneeOfParameter([level(64, 1000, few), level(128, 1000)]);
    expect(verdict.kind).toBe('none');
    expect(verdict.why).toContain('not known at 64');
  });
});

describe('working points', () => {
  const levels = [
    level(8, 400, { ttftP99Seconds: 0.1 }),
    level(16, 780, { ttftP99Seconds: 0.3 }),
    level(32, 1400, { ttftP99Seconds: 0.9, waitingShare: 0.3 }),
    level(64, 1450, { ttftP99Seconds: 4, waitingShare: 1, preemptions: 9 }),
  ];

  it('are left of the knee, at the knee, and the highest level that holds the objective', () => {
    const points = workingPoints(levels, findKnee(levels), { ttftSeconds: 0.5, tpotSeconds: null });
    expect(points).toEqual({ latencyFirst: 16, throughputFirst: 32, withinSlo: 16 });
  });

  it('are, of a start parameter, the value with the lowest TTFT and not the smallest one', () => {
    // Sixteen in flight: with a batch of four, twelve of them wait.
    const values = [
      level(4, 391, { ttftP99Seconds: 2.35 }),
      level(8, 645, { ttftP99Seconds: 1.09 }),
      level(16, 855, { ttftP99Seconds: 0.08 }),
      level(32, 860, { ttftP99Seconds: 0.07 }),
    ];
    expect(workingPointsOfParameter(values.slice(0, 3), { kind: 'none', why: '' }, null).latencyFirst).toBe(16);
    expect(workingPointsOfParameter(values, { kind: 'found', level: 16, why: '' }, null).latencyFirst).toBe(16);
    const few = values.map((figures, index) => ({ ...figures, ttftP99Seconds: null, ttftP50Seconds: 1 / (index + 1) }));
    expect(workingPointsOfParameter(few, { kind: 'none', why: '' }, null).latencyFirst).toBe(32);
    expect(
      workingPointsOfParameter([level(4, 9, { preemptions: 1 })], { kind: 'none', why: '' }, null).latencyFirst,
    ).toBeNull();
  });

  it('do not take too few samples for proof', () => {
    const unproven = levels.map((figures) => ({ ...figures, ttftP99Seconds: null }));
    expect(workingPoints(unproven, findKnee(unproven), { ttftSeconds: 0.5, tpotSeconds: null }).withinSlo).toBeNull();
  });

  it('never include a level with more than 1 % failures', () => {
    const failing = levels.map((figures) => ({ ...figures, failedRatio: 0.02 }));
    expect(workingPoints(failing, findKnee(failing), { ttftSeconds: 10, tpotSeconds: null }).withinSlo).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import type { LevelFigures } from '../../../src/experiment/knee.ts';
import { overloadedBy } from '../../../src/experiment/overload.ts';

const level = (of: number, tokens: number, more: Partial<LevelFigures> = {}): LevelFigures => ({
  level: of,
  outputTokensPerSecond: tokens,
  ttftP99Seconds: null,
  ttftP50Seconds: 0.1,
  tpotP50Seconds: 0.02,
  waitingShare: 0,
  waitingSamples: null,
  preemptions: 0,
  failedRatio: 0,
  clientLimited: false,
  ...more,
});

describe('doubling the level', () => {
  it('goes on while throughput grows', () => {
    expect(overloadedBy([level(1, 50), level(2, 99), level(4, 190)])).toBeNull();
    expect(overloadedBy([])).toBeNull();
  });

  it('ends at the first preemption', () => {
    expect(overloadedBy([level(1, 50), level(2, 99, { preemptions: 1 })])).toContain('preempts at 2');
  });

  it('ends when many requests fail', () => {
    expect(overloadedBy([level(8, 400, { failedRatio: 0.3 })])).toContain('30 % of the requests fail at 8');
  });

  it('ends when two doublings bring nothing, as one may be noise', () => {
    expect(overloadedBy([level(8, 400), level(16, 405)])).toBeNull();
    expect(overloadedBy([level(8, 400), level(16, 405), level(32, 402)])).toContain('brought no throughput');
  });
});

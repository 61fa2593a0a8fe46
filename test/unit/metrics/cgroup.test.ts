import { describe, expect, it } from 'vitest';
import { parseCpuStat } from '../../../src/metrics/cgroup.ts';

describe('cpu.stat', () => {
  it('is read in the form of cgroup v2', () => {
    const text = 'usage_usec 100\nuser_usec 60\nnr_periods 20\nnr_throttled 7\nthrottled_usec 1500000\n';
    expect(parseCpuStat(text)).toEqual({ periods: 7, seconds: 1.5 });
  });

  it('is read in the form of cgroup v1', () => {
    expect(parseCpuStat('nr_periods 20\nnr_throttled 3\nthrottled_time 250000000\n')).toEqual({
      periods: 3,
      seconds: 0.25,
    });
  });

  it.each(['', 'usage_usec 100\n', 'nr_throttled x\nthrottled_usec 1\n', 'nr_throttled 3\n', '\0\0'])(
    'that says nothing of throttling gives nothing: %j',
    (text) => {
      expect(parseCpuStat(text)).toBeNull();
    },
  );
});

import { describe, expect, it } from 'vitest';
import { createRecentProbes, type ProbeSummary } from '../../../src/http/recent.ts';
import { profileState, stateOf, worstState } from '../../../src/http/state.ts';
import { seconds, unixTime } from '../../../src/units.ts';
import { sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, finished, goodProbe } from '../../support/sample-probe.ts';

const { slo } = sampleTarget();
type Kind = 'good' | 'slow' | 'crawling' | 'failed' | 'warmup' | 'disturbed';

function summariesOf(kinds: readonly Kind[]): readonly ProbeSummary[] {
  const recent = createRecentProbes({ successes: 100, failures: 100 });
  for (const [index, kind] of kinds.entries()) {
    const startedAt = unixTime(1000 + index);
    const outcomes = {
      good: goodProbe({ startedAt }),
      slow: goodProbe({ startedAt, ttftSeconds: seconds(3) }),
      crawling: goodProbe({ startedAt, tpotSeconds: seconds(0.3) }),
      failed: failedProbe('stalled', { startedAt }),
      warmup: failedProbe('connect_refused', { startedAt }),
      disturbed: goodProbe({ startedAt, ttftSeconds: seconds(9), disturbed: true }),
    };
    recent.add(finished(outcomes[kind], { warmup: kind === 'warmup' }));
  }
  return recent.summaries('engine', 'cold');
}

describe('the state of a probe', () => {
  it.each([
    ['good', 'good'],
    ['slow', 'slow'],
    ['crawling', 'slow'],
    ['failed', 'failing'],
  ] as const)('%s is %s', (kind, state) => {
    const [summary] = summariesOf([kind]);
    expect(summary === undefined ? null : stateOf(summary, slo)).toBe(state);
  });

  it('a buffered stream is not slow for a TPOT that does not describe the engine', () => {
    const recent = createRecentProbes({ successes: 1, failures: 1 });
    recent.add(finished(goodProbe({ buffered: true, tpotSeconds: seconds(3) })));
    const [summary] = recent.summaries('engine', 'cold');
    expect(summary === undefined ? null : stateOf(summary, slo)).toBe('good');
  });
});

describe('the state of a profile', () => {
  it.each([
    { kinds: [], state: null },
    { kinds: ['warmup', 'warmup'], state: null },
    { kinds: ['good'], state: { state: 'good', since: 1000, probes: 1 } },
    { kinds: ['slow', 'good', 'good', 'good'], state: { state: 'good', since: 1001, probes: 3 } },
    { kinds: ['good', 'failed', 'failed'], state: { state: 'failing', since: 1001, probes: 2 } },
    { kinds: ['good', 'slow', 'crawling'], state: { state: 'slow', since: 1001, probes: 2 } },
    { kinds: ['good', 'disturbed', 'good'], state: { state: 'good', since: 1000, probes: 2 } },
    { kinds: ['warmup', 'failed'], state: { state: 'failing', since: 1001, probes: 1 } },
  ] as const)('after $kinds', ({ kinds, state }) => {
    expect(profileState(summariesOf(kinds), slo)).toEqual(state);
  });
});

describe('the state of a target', () => {
  it('is that of its worst profile, and of two equally bad ones the longer', () => {
    const good = { state: 'good', since: 1, probes: 9 } as const;
    const slow = { state: 'slow', since: 5, probes: 2 } as const;
    const slower = { state: 'slow', since: 3, probes: 2 } as const;
    expect(worstState([good, slow, null, slower])).toEqual(slower);
    expect(worstState([null, good])).toEqual(good);
    expect(worstState([null])).toBeNull();
  });
});

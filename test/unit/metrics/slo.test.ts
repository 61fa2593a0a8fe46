import { describe, expect, it } from 'vitest';
import { sloVerdict } from '../../../src/metrics/slo.ts';
import { FAILURE_REASONS, REASON_TABLE } from '../../../src/probe/reasons.ts';
import { seconds } from '../../../src/units.ts';
import { sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, finished, goodProbe } from '../../support/sample-probe.ts';

const { slo } = sampleTarget();
const slowTtft = { ttftSeconds: seconds(2.5) };
const midStream = { ttftSeconds: seconds(0.3) };

describe('what a probe says for each objective', () => {
  it.each([
    { id: 'fast and good', probe: finished(goodProbe()), verdict: ['good', 'good', 'good'] },
    {
      id: 'exactly at the threshold',
      probe: finished(goodProbe({ ttftSeconds: seconds(2) })),
      verdict: ['good', 'good', 'good'],
    },
    { id: 'first token late', probe: finished(goodProbe(slowTtft)), verdict: ['good', 'bad', 'good'] },
    { id: 'tokens slow', probe: finished(goodProbe({ tpotSeconds: seconds(0.2) })), verdict: ['good', 'good', 'bad'] },
    { id: 'one token', probe: finished(goodProbe({ tpotSeconds: null })), verdict: ['good', 'good', 'none'] },
    { id: 'buffered', probe: finished(goodProbe({ buffered: true })), verdict: ['good', 'good', 'none'] },
    {
      id: 'failed before the first token',
      probe: finished(failedProbe('ttft_timeout')),
      verdict: ['bad', 'bad', 'none'],
    },
    { id: 'refused for capacity', probe: finished(failedProbe('rate_limited')), verdict: ['bad', 'bad', 'none'] },
    { id: 'path broken', probe: finished(failedProbe('tls')), verdict: ['bad', 'bad', 'none'] },
    { id: 'failed in mid-stream', probe: finished(failedProbe('stalled', midStream)), verdict: ['bad', 'bad', 'bad'] },
    { id: 'warm-up', probe: finished(goodProbe(slowTtft), { warmup: true }), verdict: ['none', 'none', 'none'] },
    {
      id: 'failed warm-up',
      probe: finished(failedProbe('connect_refused'), { warmup: true }),
      verdict: ['none', 'none', 'none'],
    },
    {
      id: 'disturbed and good',
      probe: finished(goodProbe({ disturbed: true, ...slowTtft })),
      verdict: ['good', 'none', 'none'],
    },
    {
      id: 'disturbed and refused',
      probe: finished(failedProbe('connect_refused', { disturbed: true })),
      verdict: ['bad', 'none', 'none'],
    },
    {
      id: 'a deadline of ours while we were late',
      probe: finished(failedProbe('ttft_timeout', { disturbed: true })),
      verdict: ['none', 'none', 'none'],
    },
  ])('$id', ({ probe, verdict }) => {
    const [availability, ttft, tpot] = verdict;
    expect(sloVerdict(probe, slo)).toEqual({ availability, ttft, tpot });
  });

  it.each(FAILURE_REASONS.filter((reason) => REASON_TABLE[reason].side === 'probe'))(
    'a fault on our side (%s) is no event at all',
    (reason) => {
      expect(sloVerdict(finished(failedProbe(reason, midStream)), slo)).toEqual({
        availability: 'none',
        ttft: 'none',
        tpot: 'none',
      });
    },
  );
});

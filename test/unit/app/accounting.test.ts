import { describe, expect, it } from 'vitest';
import { endOf, spentTokens } from '../../../src/app/accounting.ts';
import type { ProbeMeasurement } from '../../../src/probe/outcome.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { seconds } from '../../../src/units.ts';
import { failedProbe, goodProbe } from '../../support/sample-probe.ts';

const WORST = 500;

describe('tokens that a probe has cost', () => {
  const rows: readonly {
    readonly id: string;
    readonly outcome: ReturnType<typeof failedProbe | typeof goodProbe>;
    readonly tokens: number;
  }[] = [
    { id: 'what the endpoint counted', outcome: goodProbe({ promptTokens: 130, outputTokens: 32 }), tokens: 162 },
    { id: 'the worst case when it counted no prompt', outcome: goodProbe({ promptTokens: null }), tokens: WORST },
    { id: 'nothing when it refused', outcome: failedProbe('rate_limited', { httpStatus: 429 }), tokens: 0 },
    {
      id: 'nothing when nobody listened',
      outcome: failedProbe('connect_refused', { httpStatus: null, requestAt: null }),
      tokens: 0,
    },
    {
      id: 'the worst case after a deadline, for the engine may go on',
      outcome: failedProbe('ttft_timeout'),
      tokens: WORST,
    },
    {
      id: 'the worst case when no headers came',
      outcome: failedProbe('headers_timeout', { httpStatus: null }),
      tokens: WORST,
    },
  ];
  for (const row of rows) {
    it(`are ${row.id}`, () => {
      expect(spentTokens(row.outcome, WORST)).toBe(row.tokens);
    });
  }
});

describe('what an outcome means for the back-off', () => {
  const rows: readonly (readonly [FailureReason, Partial<ProbeMeasurement>, string])[] = [
    ['ttft_timeout', {}, 'timed_out'],
    ['stalled', {}, 'timed_out'],
    ['gateway_timeout', { httpStatus: 504 }, 'timed_out'],
    ['rate_limited', { httpStatus: 429 }, 'refused'],
    ['overloaded', { httpStatus: 503 }, 'refused'],
    ['starting', { httpStatus: 503 }, 'refused'],
    ['server_error', { httpStatus: 500, retryAfterSeconds: seconds(30) }, 'refused'],
    ['quota_exhausted', { httpStatus: 429 }, 'other'],
    ['connect_refused', {}, 'other'],
    ['unauthorized', { httpStatus: 401 }, 'other'],
  ];
  for (const [reason, measured, end] of rows) {
    it(`${reason} is ${end}`, () => {
      expect(endOf(failedProbe(reason, measured))).toBe(end);
    });
  }

  it('a good probe is good', () => {
    expect(endOf(goodProbe())).toBe('good');
  });
});

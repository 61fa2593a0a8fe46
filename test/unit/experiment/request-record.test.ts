import { describe, expect, it } from 'vitest';
import { toRequestRecord } from '../../../src/experiment/request-record.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { goodProbe } from '../../support/sample-probe.ts';

const frame = {
  index: 0,
  phase: 'window',
  worker: 0,
  scheduledAt: null,
  origin: monotonicInstant(0),
} as const;

describe('the record of a request', () => {
  it('says when it was sent twice, and nothing of it else', () => {
    expect(toRequestRecord(goodProbe({ retriedStaleConnection: true }), frame)).toMatchObject({ sentTwice: true });
    expect(toRequestRecord(goodProbe(), frame)).not.toHaveProperty('sentTwice');
  });
});

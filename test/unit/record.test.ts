import { describe, expect, test } from 'vitest';
import { FAILURE_REASONS } from '../../src/probe/reasons.ts';
import { toRecord } from '../../src/record.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from '../support/sample-probe.ts';

/** The public format: fields may be added to it, none may go. */
const FIELDS = `id target model profile api engine started_at outcome reason stage side message http_status connection
  phases ttfe_seconds ttft_seconds ttfc_seconds tpot_seconds longest_gap_seconds duration_seconds output_tokens
  first_chunk_tokens token_source prompt_tokens cached_prompt_tokens reasoning_tokens events token_chunks
  nonconforming_events finish_reason terminal buffered disturbed event_loop_delay_seconds cause evidence timeline`
  .split(/\s+/)
  .sort();

const outcomes = [goodProbe(), ...FAILURE_REASONS.map((reason) => failedProbe(reason))];

describe('the record of a probe', () => {
  test.each(
    outcomes.map((outcome) => ({ outcome, name: outcome.outcome === 'good' ? 'good' : outcome.failure.reason })),
  )('has every public field when it is $name, null where there is nothing to say', ({ outcome }) => {
    for (const diagnosis of [null, sampleDiagnosis('unknown')]) {
      const record: Record<string, unknown> = JSON.parse(JSON.stringify(toRecord(finished(outcome, { diagnosis }))));
      expect(Object.keys(record)).toEqual(expect.arrayContaining(FIELDS));
      expect(Object.keys(record.phases ?? {})).toEqual(['dns', 'tcp', 'tls', 'write', 'headers']);
    }
  });

  test('is one line, whatever is in it', () => {
    const line = JSON.stringify(toRecord(finished(goodProbe({ model: 'a\nb\u2028c' }))));
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ model: 'a\nb\u2028c' });
  });
});

import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/cli/load.ts';
import { renderSummary } from '../../../src/cli/load-render.ts';
import { type RunRecords, summarise } from '../../../src/experiment/summary.ts';
import { aFailure, aRequest, aRun } from '../../support/records.ts';

const summaryOf = (requests: RunRecords['requests'], changes: Parameters<typeof aRun>[1] = {}) =>
  summarise({ metadata: aRun({}, changes), requests, engine: [], client: [] });

const good = aRequest({ sentAtSeconds: 6 });
const failed = aFailure({ sentAtSeconds: 6 });

describe('the exit code of load', () => {
  it.each([
    { id: 'a result', summary: summaryOf([good]), code: 0 },
    { id: 'a result with failures', summary: summaryOf([good, failed]), code: 0 },
    { id: 'failures alone', summary: summaryOf([failed, failed]), code: 1 },
    { id: 'a partial result', summary: summaryOf([good], { ended: 'partial' }), code: 1 },
    { id: 'nothing', summary: summaryOf([]), code: 1 },
  ])('of $id is $code', ({ summary, code }) => {
    expect(exitCodeOf(summary)).toBe(code);
  });
});

it('says that a run in which every request failed is no result', () => {
  expect(renderSummary(summaryOf([failed]), 'folder', false)).toMatch(/^NOT A RESULT: every request failed/);
  expect(renderSummary(summaryOf([good, failed]), 'folder', false)).not.toContain('NOT A RESULT');
});

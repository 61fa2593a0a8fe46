import { describe, expect, it } from 'vitest';
import { createApiChoice } from '../../../src/app/api-choice.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { failedProbe, goodProbe } from '../../support/sample-probe.ts';

describe('an API that was answered with a refusal', () => {
  it.each<readonly [FailureReason, number, boolean]>([
    ['not_found', 404, true],
    ['bad_request', 405, true],
    // vLLM has the path of an API that its model cannot serve.
    ['server_error', 501, true],
    ['server_error', 500, false],
    ['overloaded', 503, false],
    ['unauthorized', 401, false],
  ])('%s (%i) gives way to the next one: %s', (reason, httpStatus, gives) => {
    const choice = createApiChoice(['completions', 'chat']);
    expect(choice.learn(failedProbe(reason, { httpStatus }))).toBe(gives);
    expect(choice.current).toBe(gives ? 'chat' : 'completions');
  });

  it('keeps its place once it has answered', () => {
    const choice = createApiChoice(['completions', 'chat']);
    choice.learn(goodProbe());
    expect(choice.learn(failedProbe('server_error', { httpStatus: 501 }))).toBe(false);
    expect([choice.current, choice.proven]).toEqual(['completions', true]);
  });
});

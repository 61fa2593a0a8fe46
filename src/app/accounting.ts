import type { ProbeOutcome } from '../probe/outcome.ts';
import type { FailureReason } from '../probe/reasons.ts';
import type { ProbeEnd } from '../schedule/backoff.ts';

/** After these the engine may go on generating for a probe that has hung up. */
const HUNG_UP: ReadonlySet<FailureReason> = new Set([
  'headers_timeout',
  'ttft_timeout',
  'stalled',
  'total_timeout',
  'gateway_timeout',
]);
/** The endpoint is there and asks for less. A spent quota is none of these: waiting does not fill it. */
const REFUSED: ReadonlySet<FailureReason> = new Set(['rate_limited', 'overloaded', 'starting']);

/** What an outcome means for the back-off. */
export function endOf(outcome: ProbeOutcome): ProbeEnd {
  if (outcome.outcome === 'good') return 'good';
  const { reason } = outcome.failure;
  if (HUNG_UP.has(reason)) return 'timed_out';
  // A 503 in any guise may carry a wish to be left alone.
  return REFUSED.has(reason) || outcome.retryAfterSeconds !== null ? 'refused' : 'other';
}

/**
 * Tokens that a probe has cost: what the endpoint counted where it did, else the worst case, unless the request was
 * never sent or was refused.
 */
export function spentTokens(outcome: ProbeOutcome, worstCaseTokens: number): number {
  if (outcome.promptTokens !== null && outcome.outputTokens !== null) {
    return outcome.promptTokens + outcome.outputTokens;
  }
  const refused = outcome.httpStatus !== null && outcome.httpStatus >= 400;
  return outcome.requestAt === null || refused ? 0 : worstCaseTokens;
}

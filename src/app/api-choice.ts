import type { ApiName, ProbeOutcome } from '../probe/outcome.ts';

/** Which of several possible APIs a target is probed by. */
export interface ApiChoice {
  readonly current: ApiName;
  /** The current API was answered with a stream; it is not given up for another. */
  readonly proven: boolean;
  /**
   * Learns from an outcome of the current API. True: the endpoint has no such API, another one is current now, and the
   * outcome says nothing about the endpoint.
   */
  learn(outcome: ProbeOutcome): boolean;
}

/**
 * The endpoint does not know the path (404, or 405 where another method is served), refuses this kind of request, or has
 * the path and nothing behind it (501: vLLM with a model that has no such API).
 */
function isWrongApi(outcome: ProbeOutcome): boolean {
  if (outcome.outcome === 'good') return false;
  const { reason } = outcome.failure;
  return reason === 'not_found' || reason === 'bad_request' || outcome.httpStatus === 501;
}

/**
 * Tries `apis` in order until one is answered with a stream, and remembers it. When none is, the first one stays, so
 * that the reason shown is that of the likeliest.
 *
 * @param apis not empty
 */
export function createApiChoice(apis: readonly [ApiName, ...ApiName[]]): ApiChoice {
  let index = 0;
  let decided = apis.length === 1;
  let proven = false;
  return {
    get current() {
      return apis[index] ?? apis[0];
    },
    get proven() {
      return proven;
    },
    learn(outcome) {
      // A refused connection decides nothing; an answer with a stream does.
      proven ||= outcome.httpStatus === 200;
      if (decided) return false;
      if (!isWrongApi(outcome)) {
        decided = proven;
        return false;
      }
      index += 1;
      if (index < apis.length) return true;
      index = 0;
      decided = true;
      return false;
    },
  };
}

import type { LoadCost, LoadRequest } from './load-types.ts';

/**
 * An upper bound, for whoever has to agree to it.
 *
 * @param aloneSeconds duration of one request that was alone; null while that is not known
 */
export function loadCost(
  request: LoadRequest,
  aloneSeconds: number | null,
  promptTokens = request.promptTokens,
): LoadCost {
  const { arrival, warmupMaxSeconds, windowSeconds, maxOutputTokens } = request;
  const lengthSeconds = warmupMaxSeconds + windowSeconds;
  const most =
    arrival.kind === 'open'
      ? Math.ceil(arrival.ratePerSecond * lengthSeconds)
      : aloneSeconds === null || aloneSeconds <= 0
        ? null
        : Math.ceil((arrival.concurrency * lengthSeconds) / aloneSeconds) + arrival.concurrency;
  return {
    promptTokensPerRequest: promptTokens,
    outputTokensPerRequest: maxOutputTokens,
    mostRequests: most,
    mostTokens: most === null ? null : most * (promptTokens + maxOutputTokens),
  };
}

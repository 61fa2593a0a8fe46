import { HISTOGRAM_ROLES, type HistogramRole } from '../engine/types.ts';
import type { OwnLatency } from './summary-types.ts';
import type { EngineRecord, LatencySum, RequestRecord } from './types.ts';
import { eachArrival, inside, type Span } from './window.ts';

const nothing: LatencySum = { count: 0, sumSeconds: 0 };

const plus = (sum: LatencySum, count: number, seconds: number): LatencySum => ({
  count: sum.count + count,
  sumSeconds: sum.sumSeconds + seconds,
});

/** Gaps between chunks that ended inside the span. */
function gapsInside(record: RequestRecord, span: Span): LatencySum {
  let [sum, previous] = [nothing, null as number | null];
  eachArrival(record, (at) => {
    if (previous !== null && inside(span, at)) sum = plus(sum, 1, at - previous);
    previous = at;
  });
  return sum;
}

/** What the client saw of the same thing in the same span; null for what only the engine can know. */
function seenHere(role: HistogramRole, requests: readonly RequestRecord[], span: Span): LatencySum | null {
  if (role === 'queue_time') return null;
  let sum = nothing;
  for (const record of requests) {
    const { sentAtSeconds: sentAt, ttftSeconds: ttft, endedAtSeconds: endedAt } = record;
    if (sentAt === null) continue;
    if (role === 'ttft' && ttft !== null && inside(span, sentAt + ttft)) sum = plus(sum, 1, ttft);
    if (role === 'e2e' && record.outcome === 'good' && inside(span, endedAt)) sum = plus(sum, 1, endedAt - sentAt);
    if (role === 'inter_token_latency') {
      const { count, sumSeconds } = gapsInside(record, span);
      sum = plus(sum, count, sumSeconds);
    }
  }
  return sum;
}

const meanOf = (sum: LatencySum | null): number | null =>
  sum === null || sum.count === 0 ? null : sum.sumSeconds / sum.count;

function ownLatency(
  role: HistogramRole,
  polls: readonly EngineRecord[],
  requests: readonly RequestRecord[],
): OwnLatency | null {
  const told = polls.flatMap(({ atSeconds, latencySums }) => {
    const sum = latencySums?.[role];
    return sum === undefined ? [] : [{ atSeconds, sum }];
  });
  const [first, last] = [told[0], told.at(-1)];
  if (first === undefined || last === undefined) return null;
  const count = last.sum.count - first.sum.count;
  // A restart of the engine begins its sums anew: nothing can be said across it.
  if (count <= 0 || told.some(({ sum }, index) => sum.count < (told[index - 1]?.sum.count ?? 0))) return null;
  const here = seenHere(role, requests, { fromSeconds: first.atSeconds, toSeconds: last.atSeconds });
  return {
    role,
    observations: count,
    meanSeconds: (last.sum.sumSeconds - first.sum.sumSeconds) / count,
    clientObservations: here?.count ?? null,
    clientMeanSeconds: meanOf(here),
  };
}

/**
 * The engine's own latency histograms between the polls nearest to the ends of the window, beside what was seen here
 * between the same two polls. The difference of the means is what lies between engine and client; other users of the
 * engine are in its own figures only.
 */
export const ownLatencies = (
  polls: readonly EngineRecord[],
  requests: readonly RequestRecord[],
): readonly OwnLatency[] => HISTOGRAM_ROLES.flatMap((role) => ownLatency(role, polls, requests) ?? []);

import { estimateQuantile, mean, proportionInterval } from './statistics.ts';
import type { FailureCount, GoodputFigures, LatencyFigures, QuantileFigure, Quantiles } from './summary-types.ts';
import type { LoadPlan, RequestRecord } from './types.ts';
import { sentAt } from './window.ts';

/** The value of one request; null when it has none. */
export type ValueOf = (record: RequestRecord) => number | null;

const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

function figure(sorted: readonly number[], quantile: number, censored: number): QuantileFigure {
  const { value, low, high, samples } = estimateQuantile(sorted, quantile, censored);
  return {
    quantile,
    seconds: finite(value),
    lowSeconds: finite(low),
    highSeconds: finite(high),
    samples,
    enough: value !== null,
    unbounded: value === Number.POSITIVE_INFINITY,
  };
}

function quantiles(values: readonly number[], censored: number): Quantiles {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    samples: sorted.length + censored,
    meanSeconds: mean(sorted),
    p50: figure(sorted, 0.5, censored),
    p95: figure(sorted, 0.95, censored),
    p99: figure(sorted, 0.99, censored),
  };
}

/** What went wrong on our own side says nothing of the endpoint. */
const counts = (record: RequestRecord): boolean => record.outcome === 'failed' && record.side !== 'probe';

/**
 * A failed request that got the value before it failed keeps it; one that did not is known to be slower only.
 *
 * @param reached the value of a failed request is final at its failure (a TTFT is, a duration is not)
 */
export function latency(records: readonly RequestRecord[], value: ValueOf, reached: boolean): LatencyFigures {
  const good: number[] = [];
  const failed: number[] = [];
  let censored = 0;
  for (const record of records) {
    const known = record.outcome === 'good' || reached ? value(record) : null;
    if (record.outcome === 'good') {
      if (known !== null) good.push(known);
    } else if (counts(record)) {
      if (known !== null) failed.push(known);
      else censored += 1;
    }
  }
  return { withoutFailures: quantiles(good, 0), withFailures: quantiles([...good, ...failed], censored) };
}

export const ttftOf: ValueOf = (record) => record.ttftSeconds;
/** The pace of a stream that came in lumps is not the engine's. */
export const tpotOf: ValueOf = (record) => (record.buffered ? null : record.tpotSeconds);
export const e2eOf: ValueOf = (record) => record.durationSeconds;

/** The same value from the instant at which the request was due. */
export const fromScheduled =
  (value: ValueOf): ValueOf =>
  (record) => {
    const known = value(record);
    return known === null || record.scheduledAtSeconds === null
      ? null
      : sentAt(record) - record.scheduledAtSeconds + known;
  };

export function failureCounts(records: readonly RequestRecord[]): FailureCount[] {
  const found = new Map<string, FailureCount>();
  for (const { reason, side } of records) {
    if (reason === null || side === null) continue;
    const before = found.get(reason)?.requests ?? 0;
    found.set(reason, { reason, side, requests: before + 1 });
  }
  return [...found.values()].sort((a, b) => b.requests - a.requests || a.reason.localeCompare(b.reason));
}

const within = (value: number | null, limit: number | null): boolean =>
  limit === null || (value !== null && value <= limit);

/** A request with a single token has no TPOT to miss. */
const meets = (record: RequestRecord, slo: LoadPlan['slo']): boolean =>
  record.outcome === 'good' &&
  within(record.ttftSeconds, slo.ttftSeconds) &&
  (record.tpotSeconds === null || within(record.tpotSeconds, slo.tpotSeconds)) &&
  within(record.durationSeconds, slo.e2eSeconds);

/** Null when no objective was given. */
export function goodput(
  records: readonly RequestRecord[],
  slo: LoadPlan['slo'],
  lengthSeconds: number,
): GoodputFigures | null {
  if (slo.ttftSeconds === null && slo.tpotSeconds === null && slo.e2eSeconds === null) return null;
  const good = records.filter((record) => meets(record, slo)).length;
  return {
    ...slo,
    ratio: proportionInterval(good, records.length),
    goodRequests: good,
    requests: records.length,
    goodRequestsPerSecond: good / lengthSeconds,
  };
}

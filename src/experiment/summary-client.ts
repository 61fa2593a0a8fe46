import { mean } from './statistics.ts';
import type { ClientFigures } from './summary-types.ts';
import type { ClientRecord, RequestRecord } from './types.ts';
import { inside, type Span } from './window.ts';

/**
 * When the measuring client was the limit. Any one is enough:
 *
 * - busy: the event loop of a worker had work for more than 85 % of the window: what came late may have waited for us;
 * - late: in more than half of the seconds the loop was later (p99 of the second) than 20 ms and than 5 % of the median
 *   TTFT, the bound by which a probe counts as disturbed: then a hundredth of all stamps is that late, and every p99
 *   measures us;
 * - behind: in more than half of the seconds of an open loop a request was begun later than that after it was due.
 *
 * From 5 % of the seconds on it is worth a note.
 */
const BUSY_RATIO = 0.85;
const LATE_SECONDS = 0.02;
const LATE_TTFT_SHARE = 0.05;
const LATE_SHARE = 0.5;
const NOTED_SHARE = 0.05;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
const millis = (value: number): string => `${(value * 1000).toFixed(0)} ms`;

const largest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);

const shareAbove = (values: readonly number[], bound: number): number =>
  values.length === 0 ? 0 : values.filter((value) => value > bound).length / values.length;

function busiest(records: readonly ClientRecord[]): number | null {
  const workers = [...new Set(records.map((record) => record.worker))];
  return largest(
    workers.flatMap(
      (worker) => mean(records.filter((record) => record.worker === worker).map(({ cpuRatio }) => cpuRatio)) ?? [],
    ),
  );
}

interface Finding {
  readonly text: string;
  /** Share of the window that it is true of, and the share from which on the run is no result. */
  readonly share: number;
  readonly limit: number;
}

function findings(records: readonly ClientRecord[], bound: number): Finding[] {
  const delays = records.map((record) => record.loopDelayP99Seconds);
  const lags = records.map((record) => record.sendLagMaxSeconds);
  const [busy, late, behind] = [busiest(records) ?? 0, shareAbove(delays, bound), shareAbove(lags, bound)];
  return [
    {
      text: `the event loop of a worker was busy for ${percent(busy)} of the window (more --workers share the load)`,
      share: busy > BUSY_RATIO ? 1 : 0,
      limit: BUSY_RATIO,
    },
    {
      text: `the event loop was late by more than ${millis(bound)} in ${percent(late)} of the seconds`,
      share: late,
      limit: LATE_SHARE,
    },
    {
      text: `requests were begun more than ${millis(bound)} after they were due in ${percent(behind)} of the seconds`,
      share: behind,
      limit: LATE_SHARE,
    },
  ];
}

/**
 * @param requests those of the trimmed window
 * @param ttftP50Seconds null when there is none
 */
export function clientFigures(
  records: readonly ClientRecord[],
  requests: readonly RequestRecord[],
  span: Span,
  ttftP50Seconds: number | null,
): ClientFigures {
  const within = records.filter((record) => inside(span, record.atSeconds));
  const found = findings(within, Math.max(LATE_SECONDS, LATE_TTFT_SHARE * (ttftP50Seconds ?? 0)));
  const reasons = found.filter(({ share, limit }) => share > limit).map(({ text }) => text);
  const cpu = within.map((record) => record.cpuRatio);
  return {
    limited: reasons.length > 0,
    reasons,
    disturbances: found.filter(({ share, limit }) => share > NOTED_SHARE && share <= limit).map(({ text }) => text),
    workers: new Set(records.map((record) => record.worker)).size,
    loopDelayP99Seconds: largest(within.map((record) => record.loopDelayP99Seconds)),
    cpuMean: mean(cpu),
    cpuPeak: largest(cpu),
    sendLagMaxSeconds: largest(within.map((record) => record.sendLagMaxSeconds)),
    disturbedRatio:
      requests.length === 0 ? null : requests.filter(({ disturbed }) => disturbed).length / requests.length,
  };
}

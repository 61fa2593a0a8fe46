import { FAILURE_REASONS, type FailureSide, sideOf } from '../../../src/probe/reasons.ts';
import {
  type AlertRule,
  HEALTH_BOARD,
  PROFILE,
  promql,
  type RuleGroup,
  SERVICE,
  SLO_BOARD,
  WHY_BOARD,
} from './model.ts';

const reasonsOf = (side: FailureSide): string => FAILURE_REASONS.filter((reason) => sideOf(reason) === side).join('|');
const WHERE = '{{ $labels.target }} ({{ $labels.model }})';

/** Template of an annotation: the most frequent reasons of the service within `window`. */
const commonReasons = (window: string): string =>
  `{{ with printf "topk(3, sum by (reason) (increase(inference_probe_failures_total{target='%s',model='%s'}[${window}])) > 0)" $labels.target $labels.model | query }}{{ range . }} {{ .Labels.reason }}{{ end }}{{ end }}`;

type Latency = 'ttft' | 'tpot';
const NAME = { ttft: 'TTFT', tpot: 'TPOT' } as const;
const MEANING = { ttft: 'time to first token', tpot: 'time per output token' } as const;

/** A threshold of the target laid beside each of its profiles. */
const threshold = (slo: Latency, factor: string): string =>
  `on (${SERVICE}) group_left () (${factor} * inference_probe:slo_threshold:seconds{slo="${slo}"})`;

/**
 * p99 over an hour needs a hundred samples to be more than "the worst one" (docs/measurement.md), so the guard is part
 * of the rule; several bad events are asked for as well, so that one censored failure cannot lift it.
 */
const p99Warning = (slo: Latency): AlertRule => ({
  alert: `Inference${NAME[slo]}High`,
  severity: 'warning',
  expr: promql(
    `inference_probe:${slo}_seconds:p99_1h > ${threshold(slo, '1')}`,
    `and inference_probe:${slo}_seconds:count_1h >= 100`,
    `and on (${SERVICE}) (inference_probe:slo_bad:increase1h{slo="${slo}"} > 2.5)`,
  ),
  for: '5m',
  keepFiringFor: '10m',
  labels: { slo },
  summary: `p99 of the probes' ${MEANING[slo]} is over its threshold`,
  description:
    `p99 ${NAME[slo]} of ${WHERE}, profile {{ $labels.profile }}, over the last hour is {{ $value | humanizeDuration }}` +
    ` ({{ with printf "inference_probe:slo_threshold:seconds{slo='${slo}',target='%s',model='%s'}" $labels.target $labels.model | query }}threshold {{ . | first | value | humanizeDuration }}{{ end }}).`,
  dashboard: SLO_BOARD,
});

const p99Critical = (slo: Latency): AlertRule => ({
  alert: `Inference${NAME[slo]}High`,
  severity: 'critical',
  expr: promql(
    `inference_probe:${slo}_seconds:p99_30m > ${threshold(slo, '2')}`,
    `and inference_probe:${slo}_seconds:count_30m >= 60`,
    `and on (${SERVICE}) (inference_probe:slo_bad:increase30m{slo="${slo}"} > 4.5)`,
    `and on (${SERVICE}) (inference_probe:slo_bad:ratio_rate5m{slo="${slo}"} > 0.1)`,
  ),
  for: '1m',
  keepFiringFor: '5m',
  labels: { slo },
  summary: `p99 of the probes' ${MEANING[slo]} is far over its threshold`,
  description: `p99 ${NAME[slo]} of ${WHERE}, profile {{ $labels.profile }}, over 30 minutes is {{ $value | humanizeDuration }}, more than twice its threshold, and it goes on now.`,
  dashboard: SLO_BOARD,
});

/** Pages within two minutes of harm: a share of bad probes in five minutes, and never from one or two of them. */
const degraded = (slo: Latency): AlertRule => ({
  alert: `Inference${NAME[slo]}Degraded`,
  severity: 'critical',
  expr: promql(
    `inference_probe:slo_bad:ratio_rate5m{slo="${slo}"} > 0.25`,
    `and inference_probe:slo_bad:increase5m{slo="${slo}"} > 2.5`,
  ),
  keepFiringFor: '3m',
  summary: `Many probes miss the objective for ${MEANING[slo]} right now`,
  description: `{{ $value | humanizePercentage }} of the probes of ${WHERE} missed the ${NAME[slo]} threshold in the last five minutes.`,
  dashboard: WHY_BOARD,
});

interface Burn {
  readonly factor: string;
  readonly long: string;
  readonly short: string;
}

const burning = ({ factor, long, short }: Burn): string =>
  promql(
    '(',
    `  inference_probe:slo_bad:ratio_rate${long} > ${factor} * (1 - inference_probe:slo_objective:ratio)`,
    '  and',
    `  inference_probe:slo_bad:ratio_rate${short} > ${factor} * (1 - inference_probe:slo_objective:ratio)`,
    ')',
  );

const fastBurn: AlertRule = {
  alert: 'InferenceSLOFastBurn',
  severity: 'critical',
  expr: promql(
    '(',
    burning({ factor: '14.4', long: '1h', short: '5m' }),
    'or',
    burning({ factor: '6', long: '6h', short: '30m' }),
    ')',
    'and inference_probe:slo_bad:increase1h > 2.5',
  ),
  for: '1m',
  keepFiringFor: '5m',
  summary: 'The error budget is burning fast enough to be gone within days',
  description: `{{ $value | humanizePercentage }} of the {{ $labels.slo }} events of ${WHERE} are bad; at this rate the 30-day error budget is spent in a few days at most.`,
  dashboard: SLO_BOARD,
};

const slowBurn: AlertRule = {
  alert: 'InferenceSLOSlowBurn',
  severity: 'warning',
  expr: promql(
    '(',
    burning({ factor: '3', long: '1d', short: '2h' }),
    'or',
    burning({ factor: '1', long: '3d', short: '6h' }),
    ')',
    'and inference_probe:slo_bad:increase1d > 4.5',
  ),
  for: '15m',
  keepFiringFor: '30m',
  summary: 'The error budget is burning faster than the objective allows',
  description: `{{ $value | humanizePercentage }} of the {{ $labels.slo }} events of ${WHERE} are bad; the 30-day error budget will not last.`,
  dashboard: SLO_BOARD,
};

/**
 * Sums over profiles and pods. Three failures within three minutes that are most of all probes, or with nothing good
 * since: back-off after time-outs makes failing probes rarer than good ones were, so a share alone would come too late.
 */
const failing = (alert: string, side: FailureSide, summary: string): AlertRule => ({
  alert,
  severity: 'critical',
  expr: promql(
    `sum by (${SERVICE}) (increase(inference_probe_failures_total{reason=~"${reasonsOf(side)}"}[3m])) > 2.5`,
    'and (',
    `  sum by (${SERVICE}) (increase(inference_probe_failures_total{reason=~"${reasonsOf(side)}"}[3m]))`,
    `    > 0.5 * sum by (${SERVICE}) (increase(inference_probe_attempts_total[3m]))`,
    '  or',
    `  max by (${SERVICE}) (inference_probe_success) == 0`,
    ')',
  ),
  // A hung engine is told by its own alert within this time, and then keeps this one quiet.
  for: '15s',
  keepFiringFor: '3m',
  labels: { side },
  summary,
  description: `{{ $value | humanize }} probes of ${WHERE} failed on the ${side} side within three minutes. Reasons:${commonReasons('5m')}.`,
  dashboard: SLO_BOARD,
});

/** Probes at long intervals never reach three failures in three minutes: nothing good for several intervals says it. */
const noSuccess: AlertRule = {
  alert: 'InferenceNoGoodProbe',
  severity: 'critical',
  expr: promql(
    `min by (${PROFILE}) (time() - inference_probe_last_success_timestamp_seconds)`,
    `  > max by (${PROFILE}) (4 * inference_probe_interval_seconds + 60)`,
    `and max by (${PROFILE}) (inference_probe_last_success_timestamp_seconds) > 0`,
    `and sum by (${PROFILE}) (increase(inference_probe_failures_total{reason!~"${reasonsOf('probe')}"}[30m])) > 1.5`,
    `and max by (${PROFILE}) (inference_probe_success) == 0`,
  ),
  keepFiringFor: '2m',
  summary: 'No probe has been good for several intervals',
  description: `The last good probe of ${WHERE}, profile {{ $labels.profile }}, is {{ $value | humanizeDuration }} ago.`,
  dashboard: SLO_BOARD,
};

const misconfigured: AlertRule = {
  alert: 'InferenceProbeMisconfigured',
  severity: 'warning',
  expr: promql(
    `sum by (${SERVICE}) (increase(inference_probe_failures_total{reason=~"${reasonsOf('probe')}"}[15m])) > 2.5`,
    'and',
    `sum by (${SERVICE}) (increase(inference_probe_failures_total{reason=~"${reasonsOf('probe')}"}[15m]))`,
    `  > 0.5 * sum by (${SERVICE}) (increase(inference_probe_attempts_total[15m]))`,
  ),
  keepFiringFor: '15m',
  summary: 'Probes fail for a reason on their own side: key, quota, policy or request',
  description: `{{ $value | humanize }} probes of ${WHERE} failed within 15 minutes because of the probe's own key, quota or request. Users are not known to be affected, but nobody is watching them. Reasons:${commonReasons('15m')}.`,
  dashboard: HEALTH_BOARD,
};

const buffered: AlertRule = {
  alert: 'InferenceStreamBuffered',
  severity: 'warning',
  expr: promql(
    `sum by (${SERVICE}) (increase(inference_probe_buffered_streams_total[15m])) > 2.5`,
    'and',
    `sum by (${SERVICE}) (increase(inference_probe_buffered_streams_total[15m]))`,
    `  > 0.5 * sum by (${SERVICE}) (increase(inference_probe_attempts_total[15m]))`,
  ),
  keepFiringFor: '15m',
  summary: 'Something between users and the engine holds the stream back and releases it in lumps',
  description: `{{ $value | humanize }} streams of ${WHERE} arrived buffered within 15 minutes. Users see nothing until the end; look for a proxy or a compressor.`,
  dashboard: WHY_BOARD,
};

const degenerate: AlertRule = {
  alert: 'InferenceDegenerateOutput',
  severity: 'critical',
  expr: `sum by (${SERVICE}) (increase(inference_probe_failures_total{reason="degenerate_output"}[15m])) > 1.5`,
  keepFiringFor: '10m',
  summary: 'The model answers with garbage',
  description: `{{ $value | humanize }} answers of ${WHERE} within 15 minutes were repeated tokens, runs of one character or otherwise degenerate.`,
  dashboard: SLO_BOARD,
};

/** What users feel. */
export const userGroups: readonly RuleGroup[] = [
  {
    name: 'inference-probe.users',
    interval: '15s',
    rules: [
      failing('InferenceEndpointFailing', 'endpoint', 'Most probes fail at the endpoint'),
      failing('InferencePathFailing', 'path', 'Most probes fail on the way to the endpoint'),
      failing('InferenceCapacityExhausted', 'capacity', 'The endpoint refuses most probes for lack of room'),
      noSuccess,
      degraded('ttft'),
      degraded('tpot'),
      p99Warning('ttft'),
      p99Critical('ttft'),
      p99Warning('tpot'),
      p99Critical('tpot'),
      fastBurn,
      slowBurn,
      degenerate,
      buffered,
      misconfigured,
    ],
  },
];

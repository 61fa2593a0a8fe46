import { PROFILE, promql, type RuleGroup, SERVICE, TARGET } from './model.ts';

/** Windows of the burn-rate alerts, and 30 days for the budget that is left. */
const BURN_WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;

const badRatio = (window: string) => ({
  record: `inference_probe:slo_bad:ratio_rate${window}`,
  expr: promql(
    '1 - (',
    `  sum by (${SERVICE}, slo) (rate(inference_probe_slo_good_total[${window}]))`,
    '  /',
    `  sum by (${SERVICE}, slo) (rate(inference_probe_slo_events_total[${window}]))`,
    ')',
  ),
});

/** Bad events as a count: the guard that keeps one lone failure from paging. */
const badCount = (window: string) => ({
  record: `inference_probe:slo_bad:increase${window}`,
  expr: promql(
    `sum by (${SERVICE}, slo) (increase(inference_probe_slo_events_total[${window}]))`,
    '-',
    `sum by (${SERVICE}, slo) (increase(inference_probe_slo_good_total[${window}]))`,
  ),
});

const quantile = (metric: string, short: string, q: string, window: string) => ({
  record: `inference_probe:${short}_seconds:p${q.slice(2).padEnd(2, '0')}_${window}`,
  expr: `histogram_quantile(${q}, sum by (${PROFILE}, le) (rate(${metric}_bucket[${window}])))`,
});

const sampleCount = (metric: string, short: string, window: string) => ({
  record: `inference_probe:${short}_seconds:count_${window}`,
  expr: `sum by (${PROFILE}) (increase(${metric}_count[${window}]))`,
});

// Failures that ended before the first token are in the TTFT histogram at the deadline, so quantiles over both
// outcomes stay true while the service dies.
const TTFT = 'inference_probe_ttft_seconds';
const TPOT = 'inference_probe_tpot_seconds';

/** Everything that boards and alerts share. A ratio without events is NaN and matches no comparison. */
export const recordingGroups: readonly RuleGroup[] = [
  {
    name: 'inference-probe.slo.recording',
    interval: '30s',
    rules: [
      ...BURN_WINDOWS.map(badRatio),
      ...['5m', '30m', '1h', '1d'].map(badCount),
      {
        // Probes come at a constant rate, so each slice of the period weighs the same.
        record: 'inference_probe:slo_bad:ratio_rate30d',
        expr: promql(
          'sum_over_time(inference_probe:slo_bad:ratio_rate5m[30d])',
          '/',
          'count_over_time(inference_probe:slo_bad:ratio_rate5m[30d])',
        ),
      },
      {
        record: 'inference_probe:slo_objective:ratio',
        expr: `max by (${SERVICE}, slo) (inference_probe_slo_objective_ratio)`,
      },
      {
        record: 'inference_probe:slo_threshold:seconds',
        expr: `max by (${SERVICE}, slo) (inference_probe_slo_threshold_seconds)`,
      },
      {
        record: 'inference_probe:slo_budget_remaining:ratio',
        expr: promql('1 - inference_probe:slo_bad:ratio_rate30d', '/', '(1 - inference_probe:slo_objective:ratio)'),
      },
    ],
  },
  {
    name: 'inference-probe.latency.recording',
    interval: '30s',
    rules: [
      ...['0.5', '0.95', '0.99'].flatMap((q) => ['30m', '1h'].map((window) => quantile(TTFT, 'ttft', q, window))),
      ...['0.5', '0.95', '0.99'].flatMap((q) => ['30m', '1h'].map((window) => quantile(TPOT, 'tpot', q, window))),
      ...['30m', '1h'].map((window) => sampleCount(TTFT, 'ttft', window)),
      ...['30m', '1h'].map((window) => sampleCount(TPOT, 'tpot', window)),
    ],
  },
  {
    name: 'inference-probe.engine.recording',
    interval: '30s',
    rules: [
      {
        record: 'inference_engine:kv_cache_usage:max',
        expr: `max by (${TARGET}) (inference_engine_kv_cache_usage_ratio)`,
      },
      {
        record: 'inference_engine:requests_waiting:sum',
        expr: `sum by (${TARGET}) (inference_engine_requests_waiting)`,
      },
      {
        record: 'inference_engine:requests_running:sum',
        expr: `sum by (${TARGET}) (inference_engine_requests_running)`,
      },
      {
        record: 'inference_engine:preemptions:increase10m',
        expr: `sum by (${TARGET}) (increase(inference_engine_preemptions_total[10m]))`,
      },
      {
        // What the probes cost: their share of all tokens that the engine works on.
        record: 'inference_probe:engine_token_share:ratio_rate1h',
        expr: promql(
          '(',
          `  sum by (${TARGET}) (rate(inference_probe_output_tokens_total[1h]))`,
          `  + sum by (${TARGET}) (rate(inference_probe_prompt_tokens_total[1h]))`,
          ')',
          '/',
          '(',
          `  sum by (${TARGET}) (rate(inference_engine_generation_tokens_total[1h]))`,
          `  + sum by (${TARGET}) (rate(inference_engine_prompt_tokens_total[1h]))`,
          ')',
        ),
      },
    ],
  },
];

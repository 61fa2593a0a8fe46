import { type AlertRule, promql, type RuleGroup, TARGET, WHY_BOARD } from './model.ts';

const HERE = '{{ $labels.target }}';

const preemptions: AlertRule = {
  alert: 'InferencePreemptions',
  severity: 'warning',
  expr: 'inference_engine:preemptions:increase10m > 0.5',
  keepFiringFor: '10m',
  summary: 'The engine preempts running requests because the KV cache is full',
  description: `{{ $value | humanize }} preemptions at ${HERE} in ten minutes. Each throws away work and repeats it; one now and then is normal under load.`,
  dashboard: WHY_BOARD,
};

/** Alone a preemption is nobody's page: users must be hurt too, or a queue must stand for ten minutes. */
const preemptionsWithHarm: AlertRule = {
  alert: 'InferencePreemptions',
  severity: 'critical',
  expr: promql(
    'inference_engine:preemptions:increase10m > 1.5',
    'and on (cluster, namespace, job, target) (',
    '  (',
    `    sum by (${TARGET}) (inference_probe:slo_bad:increase5m{slo=~"ttft|tpot"}) > 2.5`,
    '    and',
    `    max by (${TARGET}) (inference_probe:slo_bad:ratio_rate5m{slo=~"ttft|tpot"}) > 0.25`,
    '  )',
    '  or',
    '  min_over_time(inference_engine:requests_waiting:sum[10m]) > 0',
    ')',
  ),
  // The page of the symptom comes first and then keeps its cause quiet.
  for: '1m',
  keepFiringFor: '5m',
  summary: 'Preemptions hurt users: the KV cache is too small for the load',
  description: `{{ $value | humanize }} preemptions at ${HERE} in ten minutes while probes miss their objectives or requests wait without a pause.`,
  dashboard: WHY_BOARD,
};

const kvNearFull: AlertRule = {
  alert: 'InferenceKVCacheNearFull',
  severity: 'warning',
  expr: 'avg_over_time(inference_engine:kv_cache_usage:max[10m]) > 0.95',
  for: '5m',
  keepFiringFor: '10m',
  summary: 'The KV cache has been almost full for a while',
  description: `KV usage of ${HERE} averaged {{ $value | humanizePercentage }} over ten minutes. One long request more and the engine preempts.`,
  dashboard: WHY_BOARD,
};

/** Saturation shows in the queue even where KV usage is low (max_num_seqs or compute bound). */
const queueGrowing: AlertRule = {
  alert: 'InferenceQueueGrowing',
  severity: 'warning',
  expr: promql(
    'min_over_time(inference_engine:requests_waiting:sum[10m]) > 0',
    'and deriv(inference_engine:requests_waiting:sum[10m]) > 0.01',
    'and inference_engine:requests_waiting:sum > 5',
  ),
  for: '2m',
  keepFiringFor: '5m',
  summary: 'More requests arrive than the engine finishes',
  description: `The queue of ${HERE} has held at least {{ $value | humanize }} requests for ten minutes and keeps growing.`,
  dashboard: WHY_BOARD,
};

const hung: AlertRule = {
  alert: 'InferenceEngineHung',
  severity: 'critical',
  expr: `max by (${TARGET}) (inference_engine_hung) == 1`,
  for: '30s',
  keepFiringFor: '2m',
  summary: 'The engine holds requests but generates no token',
  description: `The token counters of ${HERE} stand still while requests run or wait. Its health endpoint may go on answering.`,
  dashboard: WHY_BOARD,
};

const engineDown: AlertRule = {
  alert: 'InferenceEngineDown',
  severity: 'warning',
  expr: promql(
    `max by (${TARGET}) (inference_engine_up) == 0`,
    `and max by (${TARGET}) (inference_engine_last_poll_timestamp_seconds) > 0`,
  ),
  for: '2m',
  keepFiringFor: '2m',
  summary: "The engine's metrics cannot be read any more",
  description: `No good poll of the metrics of ${HERE} since {{ with printf "max(inference_engine_last_poll_timestamp_seconds{target='%s'})" $labels.target | query }}{{ . | first | value | humanizeTimestamp }}{{ end }}. Probes tell whether users are affected.`,
  dashboard: WHY_BOARD,
};

const restartLoop: AlertRule = {
  alert: 'InferenceEngineRestarting',
  severity: 'critical',
  expr: `max by (${TARGET}) (increase(inference_engine_restarts_total[30m])) > 2.5`,
  keepFiringFor: '10m',
  summary: 'The engine restarts again and again',
  description: `${HERE} restarted {{ $value | humanize }} times within 30 minutes.`,
  dashboard: WHY_BOARD,
};

/** One rank full while another idles: requests routed to it wait although the deployment has room. */
const dpSkew: AlertRule = {
  alert: 'InferenceDataParallelSkew',
  severity: 'warning',
  expr: promql(
    `max by (${TARGET}) (avg_over_time(inference_engine_kv_cache_usage_ratio{dp_rank!=""}[10m]))`,
    '-',
    `min by (${TARGET}) (avg_over_time(inference_engine_kv_cache_usage_ratio{dp_rank!=""}[10m]))`,
    '> 0.4',
  ),
  for: '10m',
  keepFiringFor: '10m',
  summary: 'Data-parallel ranks are loaded unevenly',
  description: `KV usage of the fullest and the emptiest rank of ${HERE} has differed by {{ $value | humanizePercentage }} for a while.`,
  dashboard: WHY_BOARD,
};

/** What the engine says of itself: mostly the causes, so mostly warnings. */
export const engineGroups: readonly RuleGroup[] = [
  {
    name: 'inference-probe.engine',
    interval: '15s',
    rules: [preemptions, preemptionsWithHarm, kvNearFull, queueGrowing, hung, engineDown, restartLoop, dpSkew],
  },
];

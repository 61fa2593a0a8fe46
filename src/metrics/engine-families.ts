import { ENGINE_ZONES, POLL_FAILURE_REASONS } from '../engine/types.ts';
import type { FamilyDefinition } from './definition.ts';

const engine = { scope: 'engine', born: 'later' } as const;
const target = { ...engine, type: 'gauge', labels: [] } as const;
const perRank = { ...engine, type: 'gauge', labels: ['model', 'dp_rank'] } as const;
const counted = { ...perRank, type: 'counter' } as const;
const histogram = { ...perRank, type: 'histogram', boundsReason: "the engine's own" } as const;
const OWN_COUNT = "Counted by the exporter: starts at 0 at the first good poll and survives the engine's restarts.";
const PEAK = 'highest value of the polls within the peak window (60 s unless configured).';
const MEAN = 'mean over the polls within the peak window.';

/** What the engine says of itself, under the same names whatever the engine. Read at each scrape from the last poll. */
export const ENGINE_FAMILIES = {
  up: {
    ...target,
    name: 'inference_engine_up',
    help: "Whether the last poll of the engine's metrics succeeded and is not stale.",
  },
  lastPoll: {
    ...target,
    name: 'inference_engine_last_poll_timestamp_seconds',
    help: 'When the engine was last polled with success, in seconds since 1970.',
  },
  pollFailures: {
    ...target,
    type: 'counter',
    name: 'inference_engine_poll_failures_total',
    labels: ['reason'],
    values: { reason: POLL_FAILURE_REASONS },
    help: "Failed polls of the engine's metrics by reason.",
  },
  pollDuration: {
    ...target,
    name: 'inference_engine_poll_duration_seconds',
    help: 'Duration of the last poll, from the request to the end of the page.',
  },
  pollInterval: {
    ...target,
    name: 'inference_engine_poll_interval_seconds',
    help: 'Time between two polls of the engine.',
  },
  restarts: {
    ...target,
    type: 'counter',
    name: 'inference_engine_restarts_total',
    help: 'Restarts of the engine seen since the exporter started.',
  },
  hung: {
    ...target,
    name: 'inference_engine_hung',
    help: 'Whether requests run or wait while the token counters stand still for longer than the configured time.',
  },
  asleep: { ...target, name: 'inference_engine_asleep', help: 'Whether the engine says that it sleeps.' },
  inconsistent: {
    ...target,
    name: 'inference_engine_inconsistent_source',
    help: 'Whether several processes answer in turn behind the metrics address, so that no increase can be trusted.',
  },
  unchanged: {
    ...target,
    name: 'inference_engine_unchanged_seconds',
    help: "Time since anything on the engine's page last changed, at the last poll.",
  },
  malformed: {
    ...target,
    name: 'inference_engine_malformed_lines',
    help: "Lines of the engine's page that could not be read and were passed over.",
  },
  omitted: {
    ...target,
    name: 'inference_engine_omitted_series',
    help: 'Label sets of the engine (model and rank) left out because there are too many or a label set repeats.',
  },
  supported: {
    ...target,
    name: 'inference_engine_metric_supported',
    labels: ['metric'],
    help: 'Whether the engine offers a quantity at all; 0 explains a missing series.',
  },
  zone: {
    ...target,
    name: 'inference_engine_zone',
    labels: ['model', 'zone'],
    values: { zone: ENGINE_ZONES },
    help: 'Load zone over a rolling window, 1 for the current one: underload, knee (waiting now and then, no preemption), overload (preemptions, or waiting held with the KV cache near full).',
  },
  info: {
    ...target,
    type: 'info',
    name: 'inference_engine_info',
    labels: ['model', 'engine', 'version'],
    help: 'Engine, version and what the engine says of its cache configuration.',
  },
  kvUsage: {
    ...perRank,
    name: 'inference_engine_kv_cache_usage_ratio',
    help: 'Share of the KV cache in use at the last poll, 0 to 1.',
  },
  kvUsagePeak: {
    ...perRank,
    name: 'inference_engine_kv_cache_usage_ratio_peak',
    help: `Share of the KV cache in use: ${PEAK}`,
  },
  kvUsageMean: {
    ...perRank,
    name: 'inference_engine_kv_cache_usage_ratio_mean',
    help: `Share of the KV cache in use: ${MEAN}`,
  },
  kvSkew: {
    ...target,
    name: 'inference_engine_kv_cache_usage_skew_ratio',
    help: 'Highest minus lowest KV cache usage of the data-parallel ranks at the last poll.',
  },
  running: {
    ...perRank,
    name: 'inference_engine_requests_running',
    help: 'Requests in the running batch at the last poll.',
  },
  runningPeak: {
    ...perRank,
    name: 'inference_engine_requests_running_peak',
    help: `Requests in the running batch: ${PEAK}`,
  },
  runningMean: {
    ...perRank,
    name: 'inference_engine_requests_running_mean',
    help: `Requests in the running batch: ${MEAN}`,
  },
  waiting: {
    ...perRank,
    name: 'inference_engine_requests_waiting',
    help: 'Requests waiting for admission at the last poll.',
  },
  waitingPeak: {
    ...perRank,
    name: 'inference_engine_requests_waiting_peak',
    help: `Requests waiting for admission: ${PEAK}`,
  },
  waitingMean: {
    ...perRank,
    name: 'inference_engine_requests_waiting_mean',
    help: `Requests waiting for admission: ${MEAN}`,
  },
  waitingByReason: {
    ...perRank,
    name: 'inference_engine_requests_waiting_by_reason',
    labels: ['model', 'dp_rank', 'reason'],
    help: 'Requests waiting for admission at the last poll, split by the reason that the engine gives. Never add it to inference_engine_requests_waiting.',
  },
  kvCapacity: {
    ...perRank,
    name: 'inference_engine_kv_cache_capacity_tokens',
    help: 'Tokens that the KV cache can hold, from the cache configuration.',
  },
  preemptions: {
    ...counted,
    name: 'inference_engine_preemptions_total',
    help: `Requests preempted (SGLang: retracted) to make room in the KV cache. ${OWN_COUNT}`,
  },
  prefixQueries: {
    ...counted,
    name: 'inference_engine_prefix_cache_queries_total',
    help: `Prompt tokens looked up in the prefix cache. ${OWN_COUNT} Some engine versions count a request again at each scheduling retry.`,
  },
  prefixHits: {
    ...counted,
    name: 'inference_engine_prefix_cache_hits_total',
    help: `Prompt tokens found in the prefix cache. ${OWN_COUNT}`,
  },
  promptTokens: {
    ...counted,
    name: 'inference_engine_prompt_tokens_total',
    help: `Prompt tokens processed. ${OWN_COUNT}`,
  },
  generationTokens: {
    ...counted,
    name: 'inference_engine_generation_tokens_total',
    help: `Tokens generated. ${OWN_COUNT}`,
  },
  ttft: {
    ...histogram,
    name: 'inference_engine_ttft_seconds',
    help: "The engine's own time to first token of all its requests, as it publishes it: arrival in the engine until the first token.",
  },
  interTokenLatency: {
    ...histogram,
    name: 'inference_engine_inter_token_latency_seconds',
    help: "The engine's own time between two outputs of a request, as it publishes it.",
  },
  e2e: {
    ...histogram,
    name: 'inference_engine_e2e_seconds',
    help: "The engine's own end-to-end latency, as it publishes it: arrival in the engine until the request is finished.",
  },
  queueTime: {
    ...histogram,
    name: 'inference_engine_queue_time_seconds',
    help: "The engine's own queue time, as it publishes it: arrival in the engine until scheduling.",
  },
} as const satisfies Record<string, FamilyDefinition>;

export type EngineFamily = keyof typeof ENGINE_FAMILIES;

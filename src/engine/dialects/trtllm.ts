import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';

const ALL_LAZY = [
  'kv_cache_usage_ratio',
  'requests_running',
  'requests_waiting',
  'prefix_cache_queries',
  'prefix_cache_hits',
  'prompt_tokens',
  'generation_tokens',
  'ttft',
  'e2e',
  'queue_time',
  'kv_cache_capacity_tokens',
] as const;

/**
 * TensorRT-LLM's own server, 1.3 on. Its `/metrics` is a queue of iteration records that each reader empties, so only
 * `/prometheus/metrics` is ever read (there with return_perf_metrics; running, waiting and cache need
 * enable_iter_perf_stats as well). It has no preemption counter; paused requests are a gauge of something else.
 */
export const trtllm: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'tensorrt-llm',
  prefixes: ['trtllm_', 'trtllm:'],
  gauges: {
    kv_cache_usage_ratio: [
      { name: 'kv_cache_utilization' },
      { name: 'kv_cache_used_blocks', per: 'kv_cache_max_blocks' },
    ],
    requests_running: [{ name: 'num_requests_running' }],
    requests_waiting: [{ name: 'num_requests_waiting' }],
  },
  counters: {
    // In blocks.
    prefix_cache_queries: [{ name: 'kv_cache_reused_blocks_total', plus: ['kv_cache_missed_blocks_total'] }],
    prefix_cache_hits: [{ name: 'kv_cache_reused_blocks_total' }],
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'generation_tokens_total' }],
  },
  histograms: {
    ttft: [{ name: 'time_to_first_token_seconds' }],
    e2e: [{ name: 'e2e_request_latency_seconds' }],
    queue_time: [{ name: 'request_queue_time_seconds' }],
  },
  capacity: [[{ name: 'kv_cache_max_blocks' }, { name: 'kv_cache_tokens_per_block' }]],
  lazy: ALL_LAZY,
  progress: [
    { name: 'generation_tokens_total' },
    { name: 'prompt_tokens_total' },
    { name: 'kv_cache_used_blocks' },
    { name: 'kv_cache_utilization' },
  ],
  // Nothing on the page moves before a request ends: its gauges are taken from a queue that is emptied then, and may be
  // left at the last step of the last request. `/health` makes no token.
  progressEverySeconds: 30,
  refreshSeconds: 300,
  cacheGauges: ['kv_cache_max_blocks', 'kv_cache_tokens_per_block'],
  paths: ['/prometheus/metrics'],
};

/** Up to 1.2: a few latency histograms without any prefix, and nothing of the scheduler. */
export const trtllmUnprefixed: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'tensorrt-llm',
  prefixes: [''],
  marks: { own: ['e2e_request_latency_seconds', 'request_queue_time_seconds'], any: [''], beside: [] },
  histograms: trtllm.histograms,
  lazy: ['ttft', 'e2e', 'queue_time'],
  paths: ['/prometheus/metrics'],
};

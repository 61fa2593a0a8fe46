import { DIALECT_DEFAULTS, type Dialect, WORKER } from './dialect.ts';

const CACHE_CONFIG = 'cache_config_info';

/**
 * vLLM 0.4 to 0.32, both engine generations. V0 labels `model_name` only; V1 adds `engine`, the data-parallel rank.
 * Renames: KV usage and prefix counters lost their `gpu_` in 0.9.2 (both names until 0.10.2), the token gap became
 * `inter_token_latency_seconds` in 0.10.2. V0 has no prefix counters, only hit-rate gauges that are -1 before use.
 */
export const vllm: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'vllm',
  // Aphrodite is vLLM under another name, and has changed no more of its families than that.
  prefixes: ['vllm:', 'vllm_', 'aphrodite:'],
  // Other programs of the family (routers, gateways) begin their names alike.
  marks: {
    own: [],
    any: [
      CACHE_CONFIG,
      'num_requests_running',
      'kv_cache_usage_perc',
      'gpu_cache_usage_perc',
      'generation_tokens',
      'prompt_tokens',
      'time_to_first_token_seconds',
    ],
    beside: [],
  },
  gauges: {
    kv_cache_usage_ratio: [{ name: 'kv_cache_usage_perc' }, { name: 'gpu_cache_usage_perc' }],
    requests_running: [{ name: 'num_requests_running' }],
    requests_waiting: [{ name: 'num_requests_waiting' }],
  },
  counters: {
    preemptions: [{ name: 'num_preemptions_total' }],
    // In tokens from 0.9.0 on, in blocks before; hits and queries always share their unit.
    prefix_cache_queries: [{ name: 'prefix_cache_queries_total' }, { name: 'gpu_prefix_cache_queries_total' }],
    prefix_cache_hits: [{ name: 'prefix_cache_hits_total' }, { name: 'gpu_prefix_cache_hits_total' }],
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'generation_tokens_total' }],
  },
  histograms: {
    ttft: [{ name: 'time_to_first_token_seconds' }],
    inter_token_latency: [{ name: 'inter_token_latency_seconds' }, { name: 'time_per_output_token_seconds' }],
    e2e: [{ name: 'e2e_request_latency_seconds' }],
    queue_time: [{ name: 'request_queue_time_seconds' }],
  },
  capacity: [
    // Counts what a rank really has; num_gpu_blocks of a data-parallel rank is the sum of all ranks in 0.32.
    [{ name: CACHE_CONFIG, label: 'kv_cache_size_tokens' }],
    [
      { name: CACHE_CONFIG, label: 'block_size' },
      { name: CACHE_CONFIG, label: 'num_gpu_blocks' },
    ],
  ],
  waitingByReason: { name: 'num_requests_waiting_by_reason', label: 'reason' },
  modelLabels: ['model_name'],
  rankLabels: [WORKER, 'engine'],
  // Usage moves during the prefill of a long prompt, when no token has come yet; the histograms count where a worker of
  // another program shows no token counters.
  progress: [
    { name: 'generation_tokens_total' },
    { name: 'prompt_tokens_total' },
    { name: 'iteration_tokens_total_count' },
    { name: 'inter_token_latency_seconds_count' },
    { name: 'kv_cache_usage_perc' },
    { name: 'gpu_cache_usage_perc' },
  ],
  // The router of vLLM's production stack repeats a few of these names, one series a server.
  routerLabel: 'server',
  routerMarks: ['current_qps', 'healthy_pods_total', 'num_incoming_requests'],
  anchor: 'num_requests_running',
  sleep: { name: 'engine_sleep_state', label: 'sleep_state', awake: 'awake' },
  cacheInfo: CACHE_CONFIG,
};

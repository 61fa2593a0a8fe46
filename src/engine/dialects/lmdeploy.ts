import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';

/** LMDeploy 0.9.2 on. No preemptions; its gauges are refreshed every 10 s. */
export const lmdeploy: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'lmdeploy',
  prefixes: ['lmdeploy:', 'lmdeploy_'],
  gauges: {
    kv_cache_usage_ratio: [{ name: 'gpu_cache_usage_perc' }],
    requests_running: [{ name: 'num_requests_running' }],
    requests_waiting: [{ name: 'num_requests_waiting', plus: ['num_api_requests_waiting'] }],
  },
  counters: {
    prefix_cache_hits: [{ name: 'cached_tokens_total' }],
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'generation_tokens_total' }],
  },
  histograms: {
    ttft: [{ name: 'time_to_first_token_seconds' }],
    inter_token_latency: [{ name: 'iter_token_latency' }],
    e2e: [{ name: 'e2e_request_latency_seconds' }],
    queue_time: [{ name: 'request_queue_time_seconds' }],
  },
  rankLabels: ['engine'],
  lazy: ['prefix_cache_hits', 'prompt_tokens', 'generation_tokens', 'ttft', 'inter_token_latency', 'e2e', 'queue_time'],
  anchor: 'num_requests_running',
  progress: [{ name: 'generation_tokens_total' }, { name: 'prompt_tokens_total' }, { name: 'gpu_cache_usage_perc' }],
  refreshSeconds: 25,
};

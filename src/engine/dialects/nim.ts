import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';

/**
 * NIM 1.x: vLLM's old names without a prefix, at /v1/metrics. NIM 2.x serves its engine's own page at the same place,
 * which the engine's table reads.
 */
export const nim: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'nim',
  prefixes: [''],
  marks: { own: ['num_requests_running', 'gpu_cache_usage_perc'], any: [''], beside: [] },
  gauges: {
    kv_cache_usage_ratio: [{ name: 'gpu_cache_usage_perc' }],
    requests_running: [{ name: 'num_requests_running' }],
    requests_waiting: [{ name: 'num_requests_waiting' }],
  },
  counters: {
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'generation_tokens_total' }],
  },
  histograms: {
    ttft: [{ name: 'time_to_first_token_seconds' }],
    e2e: [{ name: 'e2e_request_latency_seconds' }],
  },
  lazy: ['prompt_tokens', 'generation_tokens', 'ttft', 'e2e'],
  anchor: 'num_requests_running',
  progress: [{ name: 'generation_tokens_total' }, { name: 'prompt_tokens_total' }, { name: 'gpu_cache_usage_perc' }],
  paths: ['/v1/metrics', '/metrics'],
};

import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';

/**
 * llama.cpp's server, started with --metrics. No labels. Its KV usage went in May 2025 and is absent since. Reading the
 * page is a task in the server's own queue: it waits for the running decode step and counts as use for the idle timer.
 */
export const llamacpp: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'llamacpp',
  prefixes: ['llamacpp:', 'llamacpp_'],
  gauges: {
    kv_cache_usage_ratio: [{ name: 'kv_cache_usage_ratio' }],
    requests_running: [{ name: 'requests_processing' }],
    requests_waiting: [{ name: 'requests_deferred' }],
  },
  counters: {
    // In builds of 2026. The prompt counter leaves out what came from the cache, so the two make the whole.
    prefix_cache_queries: [{ name: 'prompt_tokens_cached_total', plus: ['prompt_tokens_total'] }],
    prefix_cache_hits: [{ name: 'prompt_tokens_cached_total' }],
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'tokens_predicted_total' }],
  },
  modelLabels: [],
  anchor: 'requests_processing',
  progress: [{ name: 'n_decode_total' }, { name: 'tokens_predicted_total' }, { name: 'prompt_tokens_total' }],
  everySeconds: 10,
  everyReason: 'each read waits for a decode step, delays the running requests and keeps the server from sleeping',
  timeoutSeconds: 20,
  readsHaveEffects: true,
  progressEverySeconds: 15,
  refreshSeconds: 30,
};

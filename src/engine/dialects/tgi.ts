import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';

/**
 * Text Generation Inference. No model label, counters without `_total`, token counts only as sums of histograms, every
 * series born with its first use. No KV usage: what its batch reserves is not what its cache holds.
 */
export const tgi: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'tgi',
  prefixes: ['tgi_'],
  gauges: {
    requests_running: [{ name: 'batch_current_size' }],
    requests_waiting: [{ name: 'queue_size' }],
  },
  counters: {
    prompt_tokens: [{ name: 'request_input_length_sum' }],
    generation_tokens: [{ name: 'request_generated_tokens_sum' }],
  },
  histograms: {
    e2e: [{ name: 'request_duration' }],
    queue_time: [{ name: 'request_queue_duration' }],
  },
  // Version 3 only: the token budget is what its cache was sized for.
  capacity: [[{ name: 'batch_max_total_tokens' }]],
  modelLabels: [],
  lazy: [
    'requests_running',
    'requests_waiting',
    'prompt_tokens',
    'generation_tokens',
    'e2e',
    'queue_time',
    'kv_cache_capacity_tokens',
  ],
  // Moves with every step of the batch; the token sums move only when a request ends.
  progress: [{ name: 'batch_inference_count' }],
  progressFallback: [{ name: 'request_generated_tokens_sum' }, { name: 'batch_current_max_tokens' }],
};

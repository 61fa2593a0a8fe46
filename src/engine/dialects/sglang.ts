import { DIALECT_DEFAULTS, type Dialect, WORKER } from './dialect.ts';

/**
 * SGLang 0.4 to 0.5.23, started with --enable-metrics. Scheduler series carry the ranks of all parallelisms, of which
 * only data-parallel ranks have a cache of their own; request series (tokens, latencies) carry none.
 *
 * Retractions, its word for preemptions, have had three forms: a gauge that only grew (0.4.10 to 0.5.2), a gauge of the
 * events since the last report (0.5.2 on), and since 0.5.7 a counter that is born with the first event.
 */
export const sglang: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'sglang',
  prefixes: ['sglang:', 'sglang_'],
  marks: {
    own: [],
    any: ['num_running_reqs', 'num_queue_reqs', 'token_usage', 'prompt_tokens', 'generation_tokens'],
    beside: [],
  },
  gauges: {
    // What could be evicted is not counted as used. For models with several pools, the fullest.
    kv_cache_usage_ratio: [{ name: 'token_usage' }],
    requests_running: [{ name: 'num_running_reqs' }],
    // Requests wait in queues of their own while their grammar is compiled, and, with prefill and decode apart, until
    // they are introduced to the other side or have room in the cache.
    requests_waiting: [
      {
        name: 'num_queue_reqs',
        plus: [
          'num_grammar_queue_reqs',
          'num_prefill_bootstrap_queue_reqs',
          'num_prefill_prealloc_queue_reqs',
          'num_decode_prealloc_queue_reqs',
        ],
      },
    ],
  },
  counters: {
    preemptions: [
      { name: 'num_retracted_requests_total' },
      { name: 'total_retracted_reqs' },
      { name: 'num_retracted_reqs', sinceReport: true, unless: 'decode_sum_seq_lens' },
    ],
    // Both count a request when it finishes, so that their ratio means what it says. realtime_tokens_total counts at
    // once, but counts a retracted request's prompt again.
    prefix_cache_queries: [{ name: 'prompt_tokens_total' }],
    prefix_cache_hits: [{ name: 'cached_tokens_total' }],
    prompt_tokens: [{ name: 'prompt_tokens_total' }],
    generation_tokens: [{ name: 'generation_tokens_total' }],
  },
  histograms: {
    // For a request that does not stream, the "first token" is the whole answer.
    ttft: [{ name: 'time_to_first_token_seconds', where: { is_streaming: ['', 'true'] } }],
    inter_token_latency: [{ name: 'inter_token_latency_seconds' }, { name: 'time_per_output_token_seconds' }],
    e2e: [{ name: 'e2e_request_latency_seconds' }],
    queue_time: [{ name: 'queue_time_seconds' }],
  },
  capacity: [
    [{ name: 'max_total_num_tokens' }],
    [{ name: 'page_size' }, { name: 'num_pages' }],
    [
      { name: 'cache_config_info', label: 'page_size' },
      { name: 'cache_config_info', label: 'num_pages' },
    ],
  ],
  modelLabels: ['model_name', 'name'],
  rankLabels: [WORKER, 'dp_rank'],
  replicaLabels: ['pid', 'tp_rank', 'pp_rank', 'moe_ep_rank', 'moe_dp_rank', 'attn_cp_rank', 'attn_tp_rank'],
  // The series without a priority is the total of those with one.
  totalLabels: ['priority'],
  lazy: [
    'preemptions',
    'prefix_cache_queries',
    'prefix_cache_hits',
    'prompt_tokens',
    'generation_tokens',
    'ttft',
    'inter_token_latency',
    'e2e',
    'queue_time',
  ],
  anchor: 'num_running_reqs',
  // The token counters above move only when a request ends; these move while it runs.
  progress: [{ name: 'realtime_tokens_total' }],
  progressFallback: [
    { name: 'generation_tokens_total' },
    { name: 'prompt_tokens_total' },
    { name: 'num_used_tokens' },
    { name: 'gen_throughput' },
  ],
  healthGenerates: true,
  // Older releases count the tokens of a running request every 40 decode steps.
  progressEverySeconds: 8,
  // Gauges are refreshed every 40 decode steps (--decode-log-interval), and every 30 s when idle.
  refreshSeconds: 30,
  cacheInfo: 'cache_config_info',
  cacheGauges: ['page_size', 'num_pages', 'context_len'],
};

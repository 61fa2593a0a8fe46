import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';
import { sglang } from './sglang.ts';
import { trtllm } from './trtllm.ts';
import { vllm } from './vllm.ts';

/**
 * Dynamo's frontend: what all its workers get, seen from the door. No KV usage and no preemptions; those are on the
 * workers' own pages. Every family of requests is empty until the first one.
 */
export const dynamoFrontend: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'dynamo',
  // The second in older releases, and in NIM's builds.
  prefixes: ['dynamo_frontend_', 'nv_llm_http_service_'],
  gauges: {
    requests_running: [{ name: 'active_requests' }, { name: 'inflight_requests' }],
    // Everything before the first token, prefill included. The stages name no model.
    requests_waiting: [{ name: 'stage_requests' }, { name: 'queued_requests' }],
  },
  counters: {
    prefix_cache_queries: [{ name: 'input_sequence_tokens_sum' }],
    prefix_cache_hits: [{ name: 'cached_tokens_sum' }],
    prompt_tokens: [{ name: 'input_sequence_tokens_sum' }],
    generation_tokens: [{ name: 'output_tokens_total' }, { name: 'output_sequence_tokens_sum' }],
  },
  histograms: {
    ttft: [{ name: 'time_to_first_token_seconds' }],
    inter_token_latency: [{ name: 'inter_token_latency_seconds' }],
    e2e: [{ name: 'request_duration_seconds' }],
  },
  capacity: [[{ name: 'model_total_kv_blocks' }, { name: 'model_kv_cache_block_size' }]],
  modelLabels: ['model'],
  lazy: [
    'requests_running',
    'requests_waiting',
    'prefix_cache_queries',
    'prefix_cache_hits',
    'prompt_tokens',
    'generation_tokens',
    'ttft',
    'inter_token_latency',
    'e2e',
  ],
  progress: [
    { name: 'output_tokens_total' },
    { name: 'output_sequence_tokens_sum' },
    { name: 'input_sequence_tokens_sum' },
    { name: 'inter_token_latency_seconds_count' },
  ],
  cacheGauges: ['model_total_kv_blocks', 'model_kv_cache_block_size', 'model_context_length', 'model_max_num_seqs'],
};

// A worker shows its engine's page with Dynamo's own families beside it.
const WORKER = {
  engine: 'dynamo',
  marks: { own: [], any: [''], beside: ['dynamo_component_'] },
  modelLabels: ['model_name', 'model'],
} as const;

const REPLICAS = ['pid', 'worker_id'] as const;

export const dynamoVllm: Dialect = { ...vllm, ...WORKER, replicaLabels: REPLICAS };
export const dynamoSglang: Dialect = {
  ...sglang,
  ...WORKER,
  replicaLabels: [...sglang.replicaLabels, 'worker_id'],
};
export const dynamoTrtllm: Dialect = { ...trtllm, ...WORKER, replicaLabels: REPLICAS, paths: ['/metrics'] };

/** A worker without its engine's page (another engine type, or releases 0.7 to 0.9). */
export const dynamoComponent: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'dynamo',
  prefixes: ['dynamo_component_'],
  gauges: {
    // A ratio in spite of its name.
    kv_cache_usage_ratio: [{ name: 'kvstats_gpu_cache_usage_percent' }],
    requests_running: [{ name: 'inflight_requests', where: { dynamo_endpoint: ['generate'] } }],
  },
  modelLabels: ['model', 'model_name'],
  replicaLabels: REPLICAS,
  lazy: ['kv_cache_usage_ratio', 'requests_running'],
  provisional: true,
  // Bytes of the answers: the only thing that moves with the tokens.
  progress: [{ name: 'response_bytes_total', where: { dynamo_endpoint: ['generate'] } }],
};

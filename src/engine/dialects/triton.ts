import { DIALECT_DEFAULTS, type Dialect } from './dialect.ts';
import { vllm } from './vllm.ts';

const request = (type: string) => ({ name: 'trt_llm_request_metrics', where: { request_type: [type] } });
const blocks = (type: string) => ({
  name: 'trt_llm_kv_cache_block_metrics',
  where: { kv_cache_block_type: [type] },
});

const PORT = 8002;
const MODEL_LABELS = ['model'] as const;

/** Triton's TensorRT-LLM backend: gauges of one name told apart by a label. No token counters. */
export const tritonTrtllm: Dialect = {
  ...DIALECT_DEFAULTS,
  engine: 'triton',
  prefixes: ['nv_'],
  // Other programs of the company begin their names alike.
  marks: { own: [], any: ['inference_', 'trt_llm_', 'gpu_'], beside: [] },
  gauges: {
    kv_cache_usage_ratio: [blocks('fraction')],
    requests_running: [request('scheduled')],
    requests_waiting: [request('waiting'), { name: 'inference_pending_request_count' }],
  },
  histograms: {
    // Decoupled models only; in milliseconds.
    ttft: [{ name: 'inference_first_response_histogram_ms', scale: 0.001 }],
  },
  capacity: [[blocks('max'), blocks('tokens_per')]],
  modelLabels: MODEL_LABELS,
  lazy: ['kv_cache_usage_ratio', 'requests_running', 'requests_waiting', 'ttft', 'kv_cache_capacity_tokens'],
  // Counts requests, so a long generation shows no progress: the blocks it takes do.
  progress: [
    { name: 'inference_request_success' },
    { name: 'trt_llm_kv_cache_block_metrics', where: { kv_cache_block_type: ['used'] } },
  ],
  progressEverySeconds: 10,
  port: PORT,
};

/** Triton's vLLM backend: some of vLLM's families under Triton's labels, and nothing of the scheduler. */
export const tritonVllm: Dialect = {
  ...vllm,
  engine: 'triton',
  marks: { ...vllm.marks, beside: ['nv_inference_'] },
  modelLabels: MODEL_LABELS,
  anchor: null,
  port: PORT,
};

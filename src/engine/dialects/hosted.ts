import { COUNTER_ROLES, HISTOGRAM_ROLES } from '../types.ts';
import type { Dialect } from './dialect.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

/*
 * Programs that carry vLLM's or SGLang's families under their own roof.
 */

// Neither Ray's counters nor those of a program in Go are there before they first count.
const LAZY = [...COUNTER_ROLES, ...HISTOGRAM_ROLES];

// Ray's node agent gathers from all replicas of its node every ten seconds and rewrites names and labels.
const RAY = {
  engine: 'ray-serve',
  everySeconds: 5,
  everyReason: "Ray's node agent gathers its replicas' metrics every 10 s; reading more often shows nothing new",
  progressEverySeconds: 30,
  refreshSeconds: 30,
  // The agent's port is chosen at start, so its page has to be configured.
  paths: [],
} as const;
const RAY_REPLICA = ['ReplicaId', 'WorkerId'] as const;

export const rayVllm: Dialect = {
  ...vllm,
  ...RAY,
  prefixes: ['ray_vllm:', 'ray_vllm_'],
  rankLabels: [RAY_REPLICA, 'engine'],
  lazy: LAZY,
};

export const raySglang: Dialect = {
  ...sglang,
  ...RAY,
  prefixes: ['ray_sglang:', 'ray_sglang_'],
  rankLabels: [RAY_REPLICA, 'dp_rank'],
  lazy: LAZY,
};

/** KServe's Hugging Face runtime with the vLLM backend: one registry for both. */
export const kserve: Dialect = {
  ...vllm,
  engine: 'kserve',
  marks: { ...vllm.marks, beside: ['request_predict_seconds'] },
};

/** llm-d's simulator of vLLM: no ranks, no preemptions, and one family that vLLM never had, born with the first request. */
export const llmdInferenceSim: Dialect = {
  ...vllm,
  engine: 'llm-d-inference-sim',
  marks: { own: ['num_requests_running', 'max_num_generation_tokens'], any: [''], beside: [] },
  rankLabels: [],
  lazy: LAZY.filter((role) => role !== 'preemptions'),
};

import type { Dialect } from './dialect.ts';
import { dynamoComponent, dynamoFrontend, dynamoSglang, dynamoTrtllm, dynamoVllm } from './dynamo.ts';
import { kserve, llmdInferenceSim, raySglang, rayVllm } from './hosted.ts';
import { llamacpp } from './llamacpp.ts';
import { lmdeploy } from './lmdeploy.ts';
import { nim } from './nim.ts';
import { sglang } from './sglang.ts';
import { tgi } from './tgi.ts';
import { tritonTrtllm, tritonVllm } from './triton.ts';
import { trtllm, trtllmUnprefixed } from './trtllm.ts';
import { vllm } from './vllm.ts';

/**
 * Every dialect, most telling first: a page is read by the first one that finds its families on it. Programs that host
 * an engine come before the engine, and pages without a prefix last.
 */
export const DIALECTS: readonly Dialect[] = [
  dynamoFrontend,
  dynamoVllm,
  dynamoSglang,
  dynamoTrtllm,
  dynamoComponent,
  rayVllm,
  raySglang,
  tritonVllm,
  kserve,
  llmdInferenceSim,
  vllm,
  sglang,
  trtllm,
  tritonTrtllm,
  tgi,
  llamacpp,
  lmdeploy,
  nim,
  trtllmUnprefixed,
];

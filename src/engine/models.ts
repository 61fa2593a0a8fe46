import { type Answer, member, positive, shortString } from './ask.ts';
import type { EngineName } from './types.ts';

/** What a model list says. */
export interface ModelList {
  readonly ids: readonly string[];
  readonly maxModelLength: number | null;
  /** The engine that `owned_by`, or the server's own header, names. */
  readonly engine: EngineName | null;
}

const MAX_MODELS = 200;

const OWNERS: Readonly<Record<string, EngineName>> = {
  vllm: 'vllm',
  sglang: 'sglang',
  tensorrt_llm: 'tensorrt-llm',
  llamacpp: 'llamacpp',
  lmdeploy: 'lmdeploy',
  // Dynamo's frontend; NIM, by the same company, carries its engine's or "system".
  nvidia: 'dynamo',
  'triton inference server': 'triton',
};

function lengthOf(model: unknown): number | null {
  return (
    positive(member(model, 'max_model_len')) ??
    positive(member(model, 'context_window')) ??
    // llama.cpp: of one slot, which is what a request can have.
    positive(member(member(model, 'meta'), 'n_ctx'))
  );
}

/** Reads the answer to `/v1/models`; lists of other shapes (a bare array, `models`) are empty ones. */
export function readModelList(answer: Answer): ModelList {
  const data = member(answer.json, 'data');
  const models = (Array.isArray(data) ? data : []).slice(0, MAX_MODELS);
  const ids = models.flatMap((model) => shortString(member(model, 'id')) ?? []);
  const owner = models.flatMap((model) => shortString(member(model, 'owned_by')) ?? [])[0] ?? '';
  const isLlamacpp = /^llama\.cpp/i.test(answer.headers.get('server') ?? '');
  return {
    ids,
    maxModelLength: lengthOf(models[0]),
    engine: OWNERS[owner.toLowerCase()] ?? (isLlamacpp ? 'llamacpp' : null),
  };
}

import { type Answer, member, positive, shortString } from './ask.ts';
import type { EngineName } from './types.ts';

/** What a model list says. */
export interface ModelList {
  readonly ids: readonly string[];
  readonly maxModelLength: number | null;
  /** The engine that `owned_by`, or the server's own header, names. */
  readonly engine: EngineName | null;
  /** The engine to assume when nothing else tells: an owner that several programs share. */
  readonly likely: EngineName | null;
}

const MAX_MODELS = 200;

const OWNERS: ReadonlyMap<string, EngineName> = new Map<string, EngineName>(
  Object.entries({
    vllm: 'vllm',
    sglang: 'sglang',
    tensorrt_llm: 'tensorrt-llm',
    llamacpp: 'llamacpp',
    lmdeploy: 'lmdeploy',
    'triton inference server': 'triton',
  } as const),
);

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
    engine: OWNERS.get(owner.toLowerCase()) ?? (isLlamacpp ? 'llamacpp' : null),
    // Dynamo's frontend says so, and so may other servers of the company.
    likely: owner === 'nvidia' ? 'dynamo' : null,
  };
}

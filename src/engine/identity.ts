import { type Answer, type Asker, member, positive, shortString } from './ask.ts';
import type { EngineName } from './types.ts';

/** What an engine's own documents add to what its metrics page and model list say. */
export interface Identity {
  readonly version: string | null;
  readonly chatTemplate: boolean | null;
  readonly maxModelLength: number | null;
  /** Why its metrics page must be left alone; null when it may be read. */
  readonly keepAway: string | null;
}

/** Of an engine without such documents. */
export const NOTHING_KNOWN: Identity = { version: null, chatTemplate: null, maxModelLength: null, keepAway: null };

const versionOf = (answer: Answer, name = 'version'): string | null =>
  answer.status === 200 ? shortString(member(answer.json, name)) : null;

async function firstVersion(asker: Asker, paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const version = versionOf(await asker.get(path));
    if (version !== null) return version;
  }
  return null;
}

async function llamacpp(asker: Asker): Promise<Identity> {
  // Answers without waking a sleeping server or loading a model; /metrics and /slots do both.
  const props = await asker.get('/props');
  const template = member(props.json, 'chat_template');
  const isRouter = member(props.json, 'role') === 'router';
  const isSleeping = member(props.json, 'is_sleeping') === true;
  return {
    version: shortString(member(props.json, 'build_info')),
    chatTemplate: typeof template === 'string' ? template !== '' : null,
    maxModelLength: positive(member(member(props.json, 'default_generation_settings'), 'n_ctx')),
    keepAway: isRouter
      ? 'a llama.cpp router loads a model to answer for its metrics; give metrics.url with ?model= and autoload=false'
      : isSleeping
        ? 'the llama.cpp server sleeps, and reading its metrics would wake it; give metrics.url to read them anyway'
        : null,
  };
}

async function tgi(asker: Asker): Promise<Identity> {
  const info = await asker.get('/info');
  return {
    ...NOTHING_KNOWN,
    version: versionOf(info),
    maxModelLength: positive(member(info.json, 'max_total_tokens')),
  };
}

async function nim(asker: Asker): Promise<Identity> {
  const answer = await asker.get('/v1/version');
  return { ...NOTHING_KNOWN, version: versionOf(answer, 'release') ?? versionOf(answer, 'api') ?? versionOf(answer) };
}

const versioned = async (asker: Asker, paths: readonly string[]): Promise<Identity> => ({
  ...NOTHING_KNOWN,
  version: await firstVersion(asker, paths),
});

const READERS: Readonly<Record<EngineName, (asker: Asker) => Promise<Identity>>> = {
  vllm: (asker) => versioned(asker, ['/version']),
  sglang: (asker) => versioned(asker, ['/server_info', '/get_server_info']),
  'tensorrt-llm': (asker) => versioned(asker, ['/version']),
  triton: (asker) => versioned(asker, ['/v2']),
  tgi,
  llamacpp,
  // It has no document with its version.
  lmdeploy: async () => NOTHING_KNOWN,
  nim,
  dynamo: async () => NOTHING_KNOWN,
  'ray-serve': async () => NOTHING_KNOWN,
  kserve: (asker) => versioned(asker, ['/v2']),
  'llm-d-inference-sim': async () => NOTHING_KNOWN,
  ollama: (asker) => versioned(asker, ['/api/version']),
  unknown: async () => NOTHING_KNOWN,
};

/** Asks an engine for its version and the like, by documents that have no effect on it. */
export const readIdentity = (engine: EngineName, asker: Asker): Promise<Identity> => READERS[engine](asker);

/**
 * The engine by its own documents, for an endpoint whose metrics and model list tell nothing. Each path is a plain
 * document in the engine that has it and unknown to the others; but many programs tell a version, and vLLM names itself
 * in its model list.
 *
 * @param listed the model list was read, and names no engine
 */
export async function engineByDocuments(asker: Asker, listed: boolean): Promise<EngineName | null> {
  const info = await asker.get('/info');
  if (shortString(member(info.json, 'model_id')) !== null) return 'tgi';
  const metadata = await asker.get('/v1/metadata');
  if (Array.isArray(member(metadata.json, 'modelInfo'))) return 'nim';
  const v2 = await asker.get('/v2');
  if (member(v2.json, 'name') === 'triton') return 'triton';
  if (!listed && versionOf(await asker.get('/version')) !== null) return 'vllm';
  // Last: SGLang speaks Ollama's API, too.
  const root = await asker.get('/');
  return root.text.startsWith('Ollama is running') ? 'ollama' : null;
}

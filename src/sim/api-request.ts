import { type ChatMessage, encode, encodeChat } from './tokenizer.ts';

export type SimApi = 'completions' | 'chat';

/** A request that the engine can take. */
export interface ApiCall {
  readonly api: SimApi;
  readonly promptTokenIds: readonly number[];
  readonly maxTokens: number;
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  readonly seed: number;
  readonly stream: boolean;
  /** A last chunk with the usage. */
  readonly includeUsage: boolean;
  /** The usage so far in each chunk. */
  readonly continuousUsage: boolean;
}

/** Thrown by the readers below, turned into an answer by the server: status, and the fields of vLLM's error object. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;

  constructor(status: number, type: string, message: string, param: string | null) {
    super(message);
    this.status = status;
    this.type = type;
    this.param = param;
  }
}

type Body = Readonly<Record<string, unknown>>;

/** A value that the model of the request refuses, as vLLM's own validation puts it. */
const refuse = (message: string, param: string, value?: unknown): never => {
  const detail = value === undefined ? `(parameter=${param})` : `(parameter=${param}, value=${String(value)})`;
  throw new ApiFailure(400, 'BadRequestError', `${message} ${detail}`, param);
};

/** A value of the wrong type, as the schema's validation in front of it puts it. */
const mistyped = (param: string, message: string): never => {
  const where = `body.${param}`;
  throw new ApiFailure(400, 'Bad Request', `1 validation error:\n  {'loc': '${where}', 'msg': '${message}'}`, where);
};

function integer(body: Body, name: string): number | null {
  const value = body[name] ?? null;
  if (value === null) return null;
  return typeof value === 'number' && Number.isInteger(value)
    ? value
    : mistyped(name, 'Input should be a valid integer');
}

function boolean(body: Body, name: string): boolean {
  const value = body[name] ?? false;
  return typeof value === 'boolean' ? value : mistyped(name, 'Input should be a valid boolean');
}

const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id));

/** `prompt` is a text, or token ids, or a list of exactly one of either. */
function completionPrompt(body: Body): readonly number[] {
  const given = body.prompt ?? null;
  const prompts: readonly unknown[] = Array.isArray(given) && !isIds(given) ? given : [given];
  if (prompts.length > 1) refuse('The simulator takes one prompt a request.', 'prompt');
  const [prompt] = prompts;
  if (isIds(prompt)) return prompt;
  if (typeof prompt === 'string' && prompt !== '') return encode(prompt);
  return refuse('Either prompt or prompt_embeds must be provided and non-empty.', 'prompt');
}

/** The text of a message: a string, or the text parts of a list. Other parts (images) have no tokens here. */
function messageText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { readonly text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : ''))
    .join('');
}

function chatPrompt(body: Body): readonly number[] {
  const messages = body.messages ?? null;
  if (!Array.isArray(messages) || messages.length === 0) return mistyped('messages', 'Field required');
  const read = messages.map((message: unknown): ChatMessage => {
    const { role, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown };
    return typeof role === 'string'
      ? { role, content: messageText(content) }
      : mistyped('messages', 'Field required: role');
  });
  return encodeChat(read);
}

/** What may be generated: what was asked for, else 16 tokens (completions) or all that is left (chat). */
function answerLimit(body: Body, api: SimApi, promptTokens: number, maxModelLen: number): number {
  const asked = (api === 'chat' ? integer(body, 'max_completion_tokens') : null) ?? integer(body, 'max_tokens');
  const left = maxModelLen - promptTokens;
  const limit = asked ?? (api === 'chat' ? Math.max(left, 1) : 16);
  if (limit < 1) refuse(`max_tokens must be at least 1, got ${limit}.`, 'max_tokens', limit);
  if (limit > maxModelLen) {
    refuse(`max_tokens=${limit} cannot be greater than max_model_len=${maxModelLen}.`, 'max_tokens', limit);
  }
  if (limit > left) {
    const sizes = `You asked for ${limit} output tokens and your prompt contains ${promptTokens} input tokens.`;
    refuse(`This model's maximum context length is ${maxModelLen} tokens. ${sizes}`, 'input_tokens', promptTokens);
  }
  return limit;
}

function streamOptions(
  body: Body,
  stream: boolean,
): { readonly includeUsage: boolean; readonly continuousUsage: boolean } {
  const given = body.stream_options ?? null;
  if (given === null) return { includeUsage: false, continuousUsage: false };
  if (!stream) refuse('Stream options can only be defined when `stream=True`.', 'stream_options');
  if (typeof given !== 'object') return mistyped('stream_options', 'Input should be a valid dictionary');
  const options = given as Body;
  const includeUsage = boolean(options, 'include_usage');
  return { includeUsage, continuousUsage: includeUsage && boolean(options, 'continuous_usage_stats') };
}

/** The one model there is; a request may leave it out. */
function checkModel(body: Body, served: string): void {
  const model = body.model ?? null;
  if (model === null || model === served) return;
  throw new ApiFailure(
    404,
    'NotFoundError',
    `The model \`${String(model)}\` does not exist. Valid aliases: ${served}.`,
    'model',
  );
}

/** Reads a request body as vLLM does: unknown fields are passed over. Throws `ApiFailure`. */
export function readCall(
  api: SimApi,
  body: unknown,
  served: { readonly model: string; readonly maxModelLen: number },
): ApiCall {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return mistyped('', 'Input should be a valid dictionary');
  const given = body as Body;
  const stream = boolean(given, 'stream');
  const { includeUsage, continuousUsage } = streamOptions(given, stream);
  const temperature = given.temperature ?? 0;
  if (typeof temperature !== 'number') mistyped('temperature', 'Input should be a valid number');
  else if (temperature < 0) refuse(`temperature must be non-negative, got ${temperature}.`, 'temperature', temperature);
  if ((integer(given, 'n') ?? 1) !== 1) refuse('The simulator gives one answer a request.', 'n', given.n);
  const minTokens = integer(given, 'min_tokens') ?? 0;
  const prompt = api === 'chat' ? chatPrompt(given) : completionPrompt(given);
  checkModel(given, served.model);
  const maxTokens = answerLimit(given, api, prompt.length, served.maxModelLen);
  if (minTokens < 0 || minTokens > maxTokens) {
    refuse(`min_tokens must be between 0 and max_tokens=${maxTokens}, got ${minTokens}.`, 'min_tokens', minTokens);
  }
  return {
    api,
    promptTokenIds: prompt,
    maxTokens,
    minTokens,
    ignoreEos: boolean(given, 'ignore_eos'),
    seed: integer(given, 'seed') ?? 0,
    stream,
    includeUsage,
    continuousUsage,
  };
}

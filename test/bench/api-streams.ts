import type { ApiName } from '../../src/probe/outcome.ts';

/** What the scripted server sends for one API. */
export interface ApiStream {
  readonly api: ApiName;
  readonly path: RegExp;
  readonly contentType: string;
  wantedTokens(body: Readonly<Record<string, unknown>>): number;
  /** Everything before the first token: role frames and the like, which are no tokens. */
  opening(): string;
  token(index: number): string;
  closing(tokens: number): string;
}

const WORD = ' word';
const SSE = 'text/event-stream';
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: [DONE]\n\n';
const events = (...parts: readonly string[]): string => parts.join('');
const named = (event: string, value: Readonly<Record<string, unknown>>): string =>
  `event: ${event}\n${data({ type: event, ...value })}`;
const numberAt = (body: Readonly<Record<string, unknown>>, ...path: readonly string[]): number => {
  const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body);
  return typeof value === 'number' ? value : 16;
};

const openAiUsage = (tokens: number): Readonly<Record<string, unknown>> => ({
  prompt_tokens: 64,
  completion_tokens: tokens,
  total_tokens: 64 + tokens,
});

const chatChunk = (delta: unknown, finish: string | null): Readonly<Record<string, unknown>> => ({
  id: 'chatcmpl-bench',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'bench',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});
const chatStream = (api: ApiName, path: RegExp): ApiStream => ({
  api,
  path,
  contentType: SSE,
  wantedTokens: (body) =>
    numberAt(body, body.max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens'),
  opening: () => data(chatChunk({ role: 'assistant', content: '' }, null)),
  token: () => data(chatChunk({ content: WORD }, null)),
  closing: (tokens) =>
    events(
      data(chatChunk({}, 'length')),
      data({ ...chatChunk({}, null), choices: [], usage: openAiUsage(tokens) }),
      DONE,
    ),
});

const completionChunk = (text: string, finish: string | null): Readonly<Record<string, unknown>> => ({
  id: 'cmpl-bench',
  object: 'text_completion',
  created: 1,
  model: 'bench',
  choices: [{ index: 0, text, logprobs: null, finish_reason: finish }],
});

/** One entry per API that the probe speaks; the first whose path matches answers. */
export const API_STREAMS: readonly ApiStream[] = [
  chatStream('azure', /^\/openai\/deployments\/[^/]+\/chat\/completions$/),
  chatStream('chat', /^\/v1\/chat\/completions$/),
  {
    api: 'completions',
    path: /^\/v1\/completions$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'max_tokens'),
    opening: () => '',
    token: () => data(completionChunk(WORD, null)),
    closing: (tokens) =>
      events(
        data(completionChunk('', 'length')),
        data({ ...completionChunk('', null), choices: [], usage: openAiUsage(tokens) }),
        DONE,
      ),
  },
  {
    api: 'responses',
    path: /^\/v1\/responses$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'max_output_tokens'),
    opening: () => named('response.created', { response: { id: 'resp-bench', status: 'in_progress', output: [] } }),
    token: () =>
      named('response.output_text.delta', { item_id: 'msg-bench', output_index: 0, content_index: 0, delta: WORD }),
    closing: (tokens) =>
      named('response.completed', {
        response: {
          id: 'resp-bench',
          status: 'completed',
          output: [],
          usage: { input_tokens: 64, output_tokens: tokens, total_tokens: 64 + tokens },
        },
      }),
  },
  {
    api: 'messages',
    path: /^\/v1\/messages$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'max_tokens'),
    opening: () =>
      named('message_start', {
        message: { id: 'msg-bench', role: 'assistant', content: [], usage: { input_tokens: 64, output_tokens: 0 } },
      }) + named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    token: () => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: WORD } }),
    closing: (tokens) =>
      named('content_block_stop', { index: 0 }) +
      named('message_delta', { delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: tokens } }) +
      named('message_stop', {}),
  },
  {
    api: 'sglang',
    path: /^\/generate$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'sampling_params', 'max_new_tokens'),
    opening: () => '',
    // SGLang repeats the whole text so far in each event.
    token: (index) =>
      data({
        text: WORD.repeat(index + 1),
        meta_info: { prompt_tokens: 64, completion_tokens: index + 1, finish_reason: null },
      }),
    closing: (tokens) =>
      events(
        data({
          text: WORD.repeat(tokens),
          meta_info: {
            prompt_tokens: 64,
            completion_tokens: tokens,
            finish_reason: { type: 'length', length: tokens },
          },
        }),
        DONE,
      ),
  },
  {
    api: 'tgi',
    path: /^\/generate_stream$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'parameters', 'max_new_tokens'),
    opening: () => '',
    token: (index) =>
      data({ index, token: { id: 1, text: WORD, logprob: -1, special: false }, generated_text: null, details: null }),
    closing: (tokens) =>
      data({
        index: tokens,
        token: { id: 2, text: '</s>', logprob: -1, special: true },
        generated_text: WORD.repeat(tokens),
        details: { finish_reason: 'length', generated_tokens: tokens, input_length: 64 },
      }),
  },
  {
    api: 'llamacpp',
    path: /^\/completion$/,
    contentType: SSE,
    wantedTokens: (body) => numberAt(body, 'n_predict'),
    opening: () => '',
    token: (index) =>
      data({ index: 0, content: WORD, tokens: [1], stop: false, tokens_predicted: index + 1, tokens_evaluated: 64 }),
    closing: (tokens) =>
      data({
        index: 0,
        content: '',
        stop: true,
        stop_type: 'limit',
        tokens_predicted: tokens,
        tokens_evaluated: 64,
        truncated: false,
      }),
  },
  {
    api: 'ollama',
    path: /^\/api\/chat$/,
    contentType: 'application/x-ndjson',
    wantedTokens: (body) => numberAt(body, 'options', 'num_predict'),
    opening: () => '',
    token: () => `${JSON.stringify({ model: 'bench', message: { role: 'assistant', content: WORD }, done: false })}\n`,
    closing: (tokens) =>
      `${JSON.stringify({ model: 'bench', message: { role: 'assistant', content: '' }, done: true, done_reason: 'length', prompt_eval_count: 64, eval_count: tokens })}\n`,
  },
];

import { describe, expect, test } from 'vitest';
import { checkEmptiness, checkExpectation } from '../../../src/probe/expectation.ts';
import type { ApiName } from '../../../src/probe/outcome.ts';
import type { Expectation } from '../../../src/probe/profile.ts';
import type { ReadingResult } from '../../../src/probe/reading.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { retryAfter } from '../../../src/probe/retry-after.ts';
import { unixTime } from '../../../src/units.ts';
import { C, D, F, token, U } from '../../support/stream-text.ts';
import { verdictOn } from './verdict.ts';

const data = (object: unknown): string => `data: ${JSON.stringify(object)}\n\n`;
const choice = (fields: object): string => data({ choices: [{ index: 0, finish_reason: null, ...fields }] });
const AB = token('A') + token('B');
const END = F('stop') + U(9, 2) + D;
const JSON_TYPE = { 'content-type': 'application/json' };
const openai = (message: string, more: object = {}): object => ({ error: { message, type: null, ...more } });

interface Refusal {
  readonly title: string;
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly reason: FailureReason;
  readonly detail?: Readonly<Record<string, unknown>>;
}

const REFUSALS: readonly Refusal[] = [
  {
    title: 'Anthropic without credit',
    status: 400,
    body: { error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' } },
    reason: 'quota_exhausted',
  },
  {
    title: 'a quota in the form of an event',
    status: 429,
    body: `event: error\n${data({ error: { type: 'insufficient_quota' } })}`,
    headers: { 'content-type': 'text/event-stream' },
    reason: 'quota_exhausted',
  },
  {
    title: 'a budget after a byte order mark',
    status: 400,
    body: '\ufeff{"error":{"type":"budget_exceeded"}}',
    reason: 'quota_exhausted',
  },
  {
    title: 'a budget in JSON that was made into JSON',
    status: 400,
    body: JSON.stringify('{"error":{"type":"budget_exceeded"}}'),
    reason: 'quota_exhausted',
  },
  {
    title: "the engine's overload as a text",
    status: 500,
    body: { detail: '{"error":{"type":"overloaded_error"}}' },
    reason: 'overloaded',
  },
  {
    title: 'a quota in a list of errors',
    status: 403,
    body: { errors: [{ code: 'token_quota_reached', message: 'x' }], trace: 'x', status_code: 403 },
    reason: 'quota_exhausted',
  },
  {
    title: 'a model that no provider has',
    status: 400,
    body: openai('x', { code: 'model_not_supported' }),
    reason: 'not_found',
  },
  {
    title: 'nginx that speaks TLS',
    status: 400,
    body: '<title>400 The plain HTTP request was sent to HTTPS port</title>',
    headers: { 'content-type': 'text/html' },
    reason: 'protocol_error',
    detail: { speaks_tls: true },
  },
  {
    title: 'a server in Go that speaks TLS',
    status: 400,
    body: 'Client sent an HTTP request to an HTTPS server.',
    reason: 'protocol_error',
    detail: { speaks_tls: true },
  },
  {
    title: 'LiteLLM with every deployment down',
    status: 400,
    body: openai('You passed in model=foo. There are no healthy deployments for this model.', { code: '400' }),
    reason: 'no_upstream',
  },
  // A model or an adapter that is not there, where the gateway thinks that a bad request.
  {
    title: 'LiteLLM without the model',
    status: 400,
    body: openai('/chat/completions: Invalid model name passed in model=foo. Call `/v1/models`', { code: '400' }),
    reason: 'not_found',
  },
  {
    title: 'OpenRouter without the model',
    status: 400,
    body: openai('a/x-7 is not a valid model ID'),
    reason: 'not_found',
  },
  {
    title: "vLLM's router without the model",
    status: 400,
    body: { error: 'Model acme/llama-3.1-8b not found or vLLM engine is sleeping.' },
    reason: 'not_found',
  },
  { title: 'Triton without the model', status: 400, body: { detail: 'Unknown model: m' }, reason: 'not_found' },
  {
    title: 'SGLang without the adapter',
    status: 400,
    body: { object: 'error', message: 'The following requested LoRA adapters are not loaded: sql', code: 400 },
    reason: 'not_found',
  },
  {
    title: 'a refusal that only mentions the model',
    status: 400,
    body: openai("This model's tokenizer has no chat template"),
    reason: 'bad_request',
  },
  // Words of the same kind in the spelling of each vendor.
  {
    title: 'a spent quota of Moonshot',
    status: 429,
    body: openai('x', { type: 'exceeded_current_quota_error' }),
    reason: 'quota_exhausted',
  },
  { title: 'arrears at DashScope', status: 400, body: { code: 'Arrearage', message: 'x' }, reason: 'quota_exhausted' },
  {
    title: 'a rate of DashScope',
    status: 400,
    body: { code: 'Throttling.RateQuota', message: 'x' },
    reason: 'rate_limited',
  },
  {
    title: 'an overload of Moonshot',
    status: 429,
    body: openai('x', { type: 'engine_overloaded_error' }),
    reason: 'overloaded',
  },
  {
    title: 'an inspection of DashScope',
    status: 400,
    body: openai('x', { code: 'data_inspection_failed' }),
    reason: 'content_filtered',
  },
  {
    title: 'a rate of AWS in the body',
    status: 400,
    body: { __type: 'com.amazon.coral.availability#ThrottlingException', message: 'x' },
    reason: 'rate_limited',
  },
  {
    title: 'a model of Bedrock that loads, in the header',
    status: 429,
    body: { message: 'x' },
    headers: { ...JSON_TYPE, 'x-amzn-errortype': 'ModelNotReadyException:http://internal.example/' },
    reason: 'starting',
  },
  {
    title: 'a bad credential, which is no credit',
    status: 401,
    body: openai('x', { code: 'invalid_credentials' }),
    reason: 'unauthorized',
  },
  // Gateways that stand alone.
  {
    title: 'LiteLLM whose engine is gone',
    status: 500,
    body: openai('litellm.InternalServerError: OpenAIException - Connection error..', { code: '500' }),
    reason: 'bad_gateway',
  },
  {
    title: 'a proxy in Python whose engine is gone',
    status: 500,
    body: 'Cannot connect to host decode-0:8000 ssl:default',
    reason: 'bad_gateway',
  },
  {
    title: 'a proxy in Go whose engine is gone',
    status: 503,
    body: 'dial tcp 10.0.0.7:8000: connect: connection refused',
    reason: 'bad_gateway',
  },
  {
    title: 'Dynamo without a worker',
    status: 500,
    body: { message: 'Failed to generate: no responders', code: 500 },
    reason: 'no_upstream',
  },
  {
    title: 'the inference gateway without a pod',
    status: 503,
    body: 'failed to find candidate pods for serving the request',
    reason: 'no_upstream',
  },
  {
    title: 'Linkerd without an endpoint',
    status: 503,
    body: '',
    headers: { 'l5d-proxy-error': 'logical service 10.1.1.1:80: service in fail-fast' },
    reason: 'no_upstream',
  },
  {
    title: 'Kong that cannot resolve',
    status: 503,
    body: { message: 'name resolution failed' },
    reason: 'bad_gateway',
    detail: { upstream_dns: true },
  },
  {
    title: 'an engine that broke',
    status: 500,
    body: openai('EngineCore encountered an issue'),
    reason: 'server_error',
  },
  { title: 'a refusal for legal reasons', status: 451, body: '', reason: 'forbidden' },
  {
    title: 'TGI with a prompt that is too long',
    status: 422,
    body: {
      error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096',
      error_type: 'validation',
    },
    reason: 'bad_request',
    detail: { refused_for: 'prompt_too_long' },
  },
];

describe('a refusal in the words of a gateway', () => {
  test.each(REFUSALS)('$title ($status) is $reason', ({ status, body, headers = JSON_TYPE, reason, detail = {} }) => {
    const { failure } = verdictOn({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
    expect(failure?.reason).toBe(reason);
    expect(failure?.detail).toMatchObject(detail);
  });
});

interface Stream {
  readonly title: string;
  readonly api?: ApiName;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly verdict: FailureReason | 'good';
  readonly result?: Partial<ReadingResult>;
}

const failedChoice = (error: object): string => choice({ delta: { content: '' }, finish_reason: 'error', error });
const summary = (fields: object): string =>
  data({
    type: 'response.completed',
    response: { status: 'completed', usage: { input_tokens: 9, output_tokens: 2 }, ...fields },
  });

const ERRORS: readonly Stream[] = [
  {
    title: 'an error inside the choice, with its code',
    body: AB + failedChoice({ code: 502, message: 'x' }) + D,
    verdict: 'bad_gateway',
  },
  {
    title: 'a rate limit inside the choice',
    body: failedChoice({ code: 429, message: 'x' }) + D,
    verdict: 'rate_limited',
  },
  {
    title: 'an error of NestJS before [DONE]',
    body: AB + data({ statusCode: 503, message: 'x' }) + D,
    verdict: 'overloaded',
  },
  {
    title: "grpc-gateway's error",
    body: AB + data({ error: { grpc_code: 14, http_code: 503, message: 'x' } }),
    verdict: 'overloaded',
  },
  {
    title: "Google's word without a number",
    body: data({ error: { status: 'RESOURCE_EXHAUSTED' } }),
    verdict: 'rate_limited',
  },
  {
    title: 'a model that loads, without a code',
    body: data({ error: { message: 'Loading model', type: 'unavailable_error' } }),
    verdict: 'starting',
  },
  {
    title: 'a code of its own and a message',
    body: data({ code: 40001, msg: 'x', data: null, success: false }) + D,
    verdict: 'stream_error',
  },
  {
    title: 'a code of its own that says that all is well',
    body: data({ code: 0, msg: 'ok', data: null }) + AB + END,
    verdict: 'good',
  },
  {
    title: 'a bare error object as a line, between tokens and [DONE]',
    body: `${AB}{"error":{"message":"x","code":500}}\n\n${D}`,
    verdict: 'stream_error',
  },
  {
    title: 'a bare error object as a last line without end',
    body: `${AB}{"error":{"message":"x","code":503}}`,
    verdict: 'overloaded',
  },
  {
    title: 'a bare error object after a comment',
    body: ': keep-alive\n\n{"error":{"message":"x","code":503}}\n',
    verdict: 'overloaded',
  },
  {
    title: 'another object as a line',
    body: `${AB}{"took_ms":7}\n\n${END}`,
    verdict: 'good',
    result: { nonconformingEvents: 1 },
  },
  {
    title: 'a code and a message for a body',
    headers: JSON_TYPE,
    body: '{"code":40001,"msg":"x","data":null}',
    verdict: 'stream_error',
  },
];

const WORDS: readonly Stream[] = [
  { title: 'an error that is a flag', body: AB + data({ error: true, message: 'boom' }) + D, verdict: 'stream_error' },
  {
    title: 'an error that is a list',
    body: AB + data({ error: [{ message: 'x', code: 503 }] }) + D,
    verdict: 'overloaded',
  },
  { title: 'an error that is a number', body: AB + data({ error: 429, message: 'x' }) + D, verdict: 'rate_limited' },
  { title: 'an error that is false', body: AB + data({ error: false, choices: [] }) + END, verdict: 'good' },
  { title: 'an error that is 0', body: AB + data({ error: 0, choices: [] }) + END, verdict: 'good' },
  { title: 'an event named ERROR', body: `${AB}event: ERROR\ndata: boom\n\n${D}`, verdict: 'stream_error' },
  { title: 'plain words of an error', body: `${AB}data: Error: it broke\n\n${D}`, verdict: 'stream_error' },
  { title: 'the phrase of a status', body: `${AB}data: Service Unavailable\n\n${D}`, verdict: 'overloaded' },
  {
    title: 'the phrase of a status as error',
    body: AB + data({ error: 'Service Unavailable' }) + D,
    verdict: 'overloaded',
  },
  { title: 'plain words of something else', body: `${AB}data: heartbeat\n\n${END}`, verdict: 'good' },
  {
    title: "FastChat's code beside a text",
    body: data({ text: '**NETWORK ERROR**', error_code: 50002 }) + D,
    verdict: 'stream_error',
  },
  {
    title: "FastChat's code of 0",
    api: 'completions',
    body: data({ choices: [{ index: 0, text: 'A' }], error_code: 0 }) + END,
    verdict: 'good',
  },
];

const ENDS: readonly Stream[] = [
  ...(
    [
      ['inference_error', 'engine_abort'],
      ['InternalServerError', 'engine_abort'],
      ['USER_CANCEL', 'engine_abort'],
      ['client_disconnect', 'engine_abort'],
      ['ERROR_TOXIC', 'content_filtered'],
      ['IMAGE_SAFETY', 'content_filtered'],
      ['max_new_tokens', 'good'],
      ['ERROR_LIMIT', 'good'],
      ['pause_turn', 'good'],
      ['no_error', 'good'],
      ['wibble', 'good'],
    ] as const
  ).map(([word, verdict]) => ({ title: `the end ${word}`, body: AB + F(word) + D, verdict })),
];

const NO_ERRORS: readonly Stream[] = [
  {
    title: 'a state with a message',
    body: data({ status: 'queued', message: 'position 3' }) + AB + END,
    verdict: 'good',
  },
  { title: 'news with a message', body: data({ type: 'info', message: 'x' }) + AB + END, verdict: 'good' },
  { title: 'a warning with a message', body: data({ type: 'warning', message: 'x' }) + AB + END, verdict: 'good' },
  {
    title: 'a state of error with a message',
    body: AB + data({ status: 'error', message: 'x' }) + D,
    verdict: 'stream_error',
  },
  {
    title: 'empty errors of every kind beside the text',
    body:
      ['', [], {}, null]
        .map((error) => data({ error, error_code: 0, choices: [{ delta: { content: 'A' } }] }))
        .join('') + END,
    verdict: 'good',
    result: { tokenChunks: 4 },
  },
  { title: 'an answer that speaks of errors', body: token('Error: Internal Server Error') + END, verdict: 'good' },
  {
    title: 'a list of errors with its code',
    body: AB + data({ errors: [{ code: 503, message: 'x' }] }) + D,
    verdict: 'overloaded',
  },
  {
    title: "the engine's error as a text",
    body: AB + data({ error: '{"error":{"code":429}}' }) + D,
    verdict: 'rate_limited',
  },
  {
    title: 'a word of Databricks',
    body: data({ error_code: 'REQUEST_LIMIT_EXCEEDED', message: 'x' }),
    verdict: 'rate_limited',
  },
];

const TEXTS: readonly Stream[] = (
  [
    ["model 'm' not found, try pulling it first", 'not_found'],
    ["This model's maximum context length is 4096 tokens", 'bad_request'],
    ['The server is overloaded, please try again later', 'overloaded'],
    ['The request queue is full', 'overloaded'],
    ['Rate limit reached for model m', 'rate_limited'],
    ['Model is still loading', 'starting'],
    ['no available workers', 'no_upstream'],
    ['Connection refused', 'bad_gateway'],
    ['CUDA error: an illegal memory access was encountered', 'stream_error'],
  ] as const
).map(([text, verdict]) => ({ title: text, body: AB + data({ error: { message: text } }) + D, verdict }));

const named = (events: string): string => events.replaceAll('data:', 'event: message\ndata:');
const OTHER_APIS: readonly Stream[] = [
  {
    title: 'chat under a name, read as messages',
    api: 'messages',
    body: named(AB + F('stop')) + D,
    verdict: 'protocol_error',
  },
  {
    title: 'chat under a name, read as responses',
    api: 'responses',
    body: named(AB + F('stop')) + D,
    verdict: 'protocol_error',
  },
  {
    title: 'messages read as responses',
    api: 'responses',
    body: data({ type: 'content_block_delta', delta: { text: 'A' } }) + data({ type: 'message_stop' }),
    verdict: 'protocol_error',
  },
  {
    title: 'responses read as messages',
    api: 'messages',
    body: data({ type: 'response.output_text.delta', delta: 'A' }) + data({ type: 'response.completed' }),
    verdict: 'protocol_error',
  },
  { title: 'a delta that is a text', body: choice({ delta: 'A' }) + F('stop') + D, verdict: 'protocol_error' },
  {
    title: 'a message of Anthropic under the name of every event',
    api: 'messages',
    body: named(data({ type: 'content_block_delta', delta: { text: 'A' } }) + data({ type: 'message_stop' })),
    verdict: 'good',
  },
];

const COUNTS: readonly Stream[] = [
  {
    title: 'usage in the corner of Groq',
    body: AB + data({ choices: [], x_groq: { usage: { prompt_tokens: 9, completion_tokens: 2 } } }) + F('stop') + D,
    verdict: 'good',
    result: { tokenSource: 'usage', promptTokens: 9 },
  },
  {
    title: 'reasoning that is counted apart, as the total says',
    body:
      C({ reasoning: 'a' }).repeat(3) +
      token('A') +
      F('stop') +
      U(9, 1, { total_tokens: 13, completion_tokens_details: { reasoning_tokens: 3 } }) +
      D,
    verdict: 'good',
    result: { outputTokens: 4, reasoningTokens: 3, tokenChunks: 4 },
  },
  {
    title: 'reasoning that is part of the output',
    body:
      C({ reasoning: 'a' }).repeat(3) +
      token('A') +
      F('stop') +
      U(9, 4, { completion_tokens_details: { reasoning_tokens: 3 } }) +
      D,
    verdict: 'good',
    result: { outputTokens: 4, reasoningTokens: 3 },
  },
];

const FORMS: readonly Stream[] = [
  {
    title: 'a part that is no list',
    body: C({ content: { type: 'text', text: 'A' } }) + F('stop') + D,
    verdict: 'good',
    result: { text: 'A' },
  },
  {
    title: 'ends that are none, and no end',
    body: choice({ delta: { content: 'A' }, finish_reason: 'FINISH_REASON_UNSPECIFIED' }),
    verdict: 'truncated',
  },
  { title: 'a list', headers: JSON_TYPE, body: '{"object":"list","data":[]}', verdict: 'protocol_error' },
  { title: 'a status', headers: JSON_TYPE, body: '{"status":"ok"}', verdict: 'protocol_error' },
  { title: "TGI's older whole answer", headers: JSON_TYPE, body: '[{"generated_text":"A"}]', verdict: 'not_streaming' },
  {
    title: 'the beginning of a whole answer',
    headers: JSON_TYPE,
    body: '{"object":"chat.comple',
    verdict: 'not_streaming',
  },
  {
    title: 'events around a whole response',
    api: 'responses',
    body:
      data({ type: 'response.created', response: {} }) +
      summary({ output: [{ type: 'message', content: [{ text: 'A B' }] }] }),
    verdict: 'not_streaming',
  },
  {
    title: 'a response that repeats its text at the end',
    api: 'responses',
    body:
      data({ type: 'response.output_text.delta', delta: 'A' }) +
      summary({ output: [{ type: 'message', content: [{ text: 'A' }] }] }),
    verdict: 'good',
    result: { nonconformingEvents: 0, outputTokens: 2 },
  },
];

const CHANNELS: readonly Stream[] = [
  {
    title: 'a refusal beside an empty content',
    body: choice({ delta: { content: '', refusal: 'No' } }) + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 1, text: 'No' },
  },
  {
    title: 'a custom tool call',
    body: choice({ delta: { tool_calls: [{ index: 0, custom: { name: 'f', input: '' } }] } }) + F('tool_calls') + D,
    verdict: 'good',
    result: { firstContentAt: null },
  },
  {
    title: 'reasoning details alone',
    body: C({ content: '', reasoning_details: [{ text: 'hm' }] }) + token('A') + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 2 },
  },
  {
    title: 'reasoning details beside reasoning',
    body: C({ reasoning: 'hm', reasoning_details: [{ text: 'hm' }] }) + F('stop') + D,
    verdict: 'good',
    result: { text: 'hm' },
  },
  {
    title: 'a thinking part as text',
    body: C({ content: [{ type: 'thinking', thinking: 'hm' }] }) + token('A') + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 2 },
  },
  {
    title: 'the code of a tool',
    api: 'responses',
    body: data({ type: 'response.code_interpreter_call_code.delta', delta: 'x=1' }) + summary({}),
    verdict: 'good',
    result: { firstContentAt: null },
  },
  {
    title: 'a tool of the server',
    api: 'messages',
    body:
      data({ type: 'content_block_start', content_block: { type: 'server_tool_use' } }) +
      data({ type: 'message_stop' }),
    verdict: 'good',
  },
];

describe.each([
  ['an error in the form of a gateway', ERRORS],
  ['an error in odd words', WORDS],
  ['an end in the word of a server', ENDS],
  ['an error that is none, or is one', NO_ERRORS],
  ['an error of nothing but a text', TEXTS],
  ['a count', COUNTS],
  ['the stream of another API', OTHER_APIS],
  ['a body in another form', FORMS],
  ['a channel of another name', CHANNELS],
])('%s', (_, streams) => {
  test.each(streams)('$title is $verdict', ({ verdict, result, ...answer }) => {
    const { reason, facts } = verdictOn(answer);
    expect(reason).toBe(verdict);
    if (result !== undefined) expect(facts.result).toMatchObject(result);
  });
});

describe('chunks that all claim to be the last', () => {
  const total = { kind: 'deadline', reason: 'total_timeout' } as const;
  const last = (text: string): string => choice({ delta: { content: text }, finish_reason: 'stop' });

  test('are no end when the deadline of the whole probe comes before silence', () => {
    expect(verdictOn({ body: last('A') + last('B'), ending: total }).reason).toBe('total_timeout');
  });

  test('are one with [DONE], or when silence came', () => {
    expect(verdictOn({ body: last('A') + last('B') + D, ending: total }).reason).toBe('good');
    expect(verdictOn({ body: last('A') + last('B'), ending: { kind: 'graced' } }).reason).toBe('good');
  });

  test('take nothing from an end that came once', () => {
    expect(verdictOn({ body: AB + F('stop'), ending: total }).reason).toBe('good');
  });
});

describe('what a profile expects', () => {
  const nothing: Expectation = { minTokens: null, pattern: null, answer: null, detectDegenerate: false };
  const read = (body: string, api: ApiName = 'chat'): ReadingResult => {
    const { result } = verdictOn({ body, api }).facts;
    if (result === null) throw new Error('no stream');
    return result;
  };
  const empties = (count: number, usage: string): ReadingResult =>
    read(choice({ delta: { content: '' } }).repeat(count) + F('length') + usage + D);
  const detect = { ...nothing, detectDegenerate: true };

  test('tokens that are sent and counted, and make no text, are garbage', () => {
    expect(checkEmptiness(detect, empties(16, U(9, 16)))).toMatchObject({
      reason: 'degenerate_output',
      detail: { kind: 'empty' },
    });
  });

  test.each([
    ['few', empties(7, U(9, 7))],
    ['not counted', empties(16, '')],
    ['counted as reasoning', empties(16, U(9, 16, { completion_tokens_details: { reasoning_tokens: 16 } }))],
    ['counted and not sent', empties(1, U(9, 16))],
  ])('tokens without text are no garbage when they are %s', (_, result) => {
    expect(checkEmptiness(detect, result)).toBeNull();
  });

  test('garbage of no text is found only where it is looked for', () => {
    expect(checkEmptiness(nothing, empties(16, U(9, 16)))).toBeNull();
  });

  test('reasoning does not stand for the answer', () => {
    const thinks = (end: string): ReadingResult => read(C({ reasoning: '2+2=4' }) + F(end) + U(9, 5) + D);
    for (const wanted of [{ pattern: /4/ }, { answer: '2+2=4' }]) {
      expect(checkExpectation({ ...nothing, ...wanted }, thinks('length'))?.reason).toBe('no_visible_output');
      expect(checkExpectation({ ...nothing, ...wanted }, thinks('stop'))?.reason).toBe('expectation_failed');
    }
    expect(checkExpectation({ ...nothing, minTokens: 5 }, thinks('length'))).toBeNull();
  });
});

test('of two waits that middle boxes have added the longer one counts', () => {
  expect(retryAfter({ 'retry-after': '7, 120' }, unixTime(0))).toBe(120);
});

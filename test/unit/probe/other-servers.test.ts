import { describe, expect, test } from 'vitest';
import { OPENAI_OPTIONAL_PARAMETERS } from '../../../src/probe/apis/openai.ts';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import { bodyKind, createBody } from '../../../src/probe/body.ts';
import type { ReadingResult } from '../../../src/probe/reading.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { createRefusals } from '../../../src/probe/refusals.ts';
import { sniffEvents } from '../../../src/probe/sniff.ts';
import { C, D, F, token, U } from '../../support/stream-text.ts';
import { atMs, content, cut, DONE, finish, LIMITS, read, toBytes } from '../../support/streams.ts';
import { type ErrorRow, openai, reasonFor, verdictOn } from './verdict.ts';

/*
 * What servers that were not at hand write, by their sources and by what their users report.
 */

const data = (object: unknown): string => `data: ${JSON.stringify(object)}\n\n`;

const NO_MONEY: readonly ErrorRow[] = [
  [429, openai('Insufficient balance or no resource package. Please recharge.', { code: '1113' }), 'quota_exhausted'],
  [403, { code: 'x', error: 'Your team has either used all available credits or ...' }, 'quota_exhausted'],
  [403, { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 2 h.' }, 'quota_exhausted'],
  [403, openai('User quota is not enough', { type: 'new_api_error' }), 'quota_exhausted'],
  [412, openai('Account x is suspended, possibly due to reaching the monthly spending limit'), 'quota_exhausted'],
  [403, openai('This key may not use the model'), 'forbidden'],
  [429, openai('余额不足或无可用资源包,请充值。', { code: '1113' }), 'quota_exhausted'],
  [200, openai('您的账户已达到速率限制', { code: '1302' }), 'rate_limited'],
];
const NO_ROOM: readonly ErrorRow[] = [
  [429, 'inference error: ResourceExhausted - system saturated, sheddable request dropped', 'overloaded'],
  [429, { object: 'error', message: 'Service tier capacity exceeded for this model.', code: '3505' }, 'overloaded'],
  [429, openai('Too many requests'), 'rate_limited'],
  [429, { errors: [{ message: 'Capacity temporarily exceeded, please try again.', code: 3040 }] }, 'overloaded'],
  [500, openai('x', { type: 'insufficient_capacity' }), 'overloaded'],
  [200, openai('Service is too busy. Try again later.'), 'overloaded'],
  [429, openai('当前分组上游负载已饱和,请稍后再试'), 'overloaded'],
  [503, openai('当前分组 default 下对于模型 m 无可用渠道'), 'no_upstream'],
  [500, openai('The model is overloaded. Please try again later.'), 'overloaded'],
  [500, openai('server busy, please try again'), 'overloaded'],
  [500, { error: 'llm server loading model' }, 'starting'],
  [429, openai('Model is loading'), 'starting'],
  [500, { error: 'llama runner process has terminated: error loading model: unable to allocate' }, 'server_error'],
  [503, { error: 'failed while loading the model' }, 'overloaded'],
  [500, openai('CUDA error: an illegal memory access was encountered'), 'server_error'],
];
const LET_DOWN: readonly ErrorRow[] = [
  [500, openai('litellm.APIError: OpenAIException - peer closed connection (incomplete chunked read)'), 'bad_gateway'],
  [500, 'read tcp 10.0.0.7:8000: connection reset by peer', 'bad_gateway'],
  [503, { error: 'HTTP error: Server disconnected' }, 'bad_gateway'],
  [503, { error: 'Failed to connect to backend: x' }, 'bad_gateway'],
  [500, 'Post "http://engine:8000": context deadline exceeded', 'gateway_timeout'],
  [503, openai('litellm.APITimeoutError: x'), 'gateway_timeout'],
  [200, openai('OpenAIException - Connection closed.', { code: '500' }), 'bad_gateway'],
  [200, openai('upstream timed out'), 'gateway_timeout'],
];
const BAD_KEYS: readonly ErrorRow[] = [
  [400, openai('API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' }), 'unauthorized'],
  [400, [openai('API key not valid. Please pass a valid API key.')], 'unauthorized'],
  [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: x.' }, 'unauthorized'],
  [400, openai('Authentication Error, No api key passed in.', { type: 'auth_error', code: '400' }), 'unauthorized'],
  [500, openai('x', { type: 'auth_error', code: '401' }), 'unauthorized'],
  [400, openai('unknown key "api" in the body'), 'bad_request'],
  [400, openai('Model Not Exist', { type: 'invalid_request_error' }), 'not_found'],
];
const ENVELOPES: readonly ErrorRow[] = [
  [200, { base_resp: { status_code: 1004, status_msg: 'login fail: carry the API secret key' } }, 'unauthorized'],
  [200, { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }, 'quota_exhausted'],
  [200, { id: 'x', choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 'rate_limited'],
  [200, { Response: { Error: { Code: 'InternalError', Message: 'x' }, RequestId: 'x' } }, 'stream_error'],
  [200, { Response: { Error: { Code: 'RequestLimitExceeded', Message: 'x' } } }, 'rate_limited'],
  [200, { data: { error: { code: 503, message: 'x' } } }, 'overloaded'],
  [200, { error_code: 18, error_msg: 'Open api qps request limit reached' }, 'rate_limited'],
  [200, { data: { error: {} }, choices: [{}] }, 'not_streaming'],
];

describe.each([
  ['an account without money', NO_MONEY],
  ['no room, or not yet', NO_ROOM],
  ['a gateway that was let down', LET_DOWN],
  ['a key that is refused', BAD_KEYS],
  ['an error in an envelope', ENVELOPES],
])('%s', (_, rows) => {
  test.each(rows)('%i %j is %s', (status, body, reason) => {
    expect(reasonFor(status, body)).toBe(reason);
  });
});

interface Stream {
  readonly title: string;
  readonly body: string;
  readonly verdict: FailureReason | 'good';
  readonly result?: Partial<ReadingResult>;
}

const thinks = (delta: object): string => C(delta) + token('A') + F('stop') + D;
const REASONING: readonly Stream[] = [
  ...(
    [
      { role: 'assistant', content: null, reasoning_text: 'hm' },
      { content: '', thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }] },
      { reasoning: { content: 'hm' } },
      { reasoning_content: [{ type: 'text', text: 'hm' }] },
      { thought: 'hm' },
      { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] },
      { content: [{ type: 'reasoning', text: 'hm' }] },
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
    ] as const
  ).map((delta) => ({
    title: `reasoning as ${JSON.stringify(delta)}`,
    body: thinks(delta),
    verdict: 'good' as const,
    result: { tokenChunks: 2, text: 'A' },
  })),
  ...(
    [
      { reasoning_opaque: 'QUJD' },
      { content: '', reasoning_details: [{ type: 'reasoning.encrypted', data: 'QUJD', format: 'x' }] },
      { thinking_signature: 'QUJD' },
      { reasoning_status: 'started' },
      { content: [{ type: 'reference', reference_ids: [1] }] },
    ] as const
  ).map((delta) => ({
    title: `no token in ${JSON.stringify(delta)}`,
    body: thinks(delta),
    verdict: 'good' as const,
    result: { tokenChunks: 1 },
  })),
  {
    title: 'reasoning of another name up to the limit',
    body: C({ reasoning_text: 'hm' }) + F('length') + D,
    verdict: 'good',
    result: { firstContentAt: null, text: 'hm' },
  },
  {
    title: 'parts nested beyond all reason',
    body: `data: {"choices":[{"index":0,"delta":{"thinking":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}\n\n${F('stop')}${D}`,
    verdict: 'empty_stream',
  },
  {
    title: 'a text in the delta of a chat, which no client reads',
    body: C({ text: 'A' }) + F('stop') + D,
    verdict: 'protocol_error',
  },
];

const words = (text: string): string => `data: ${text}\n\n`;
const LAST_WORDS: readonly Stream[] = [
  { title: 'words and the end', body: token('A') + words('A weight is missing') + D, verdict: 'stream_error' },
  {
    title: 'words of a known kind and the end',
    body: token('A') + words('Failed to generate: the request queue is full') + D,
    verdict: 'overloaded',
  },
  {
    title: 'words, a ping and the end',
    body: `${token('A') + words('It broke')}: ping\n\n${D}`,
    verdict: 'stream_error',
  },
  { title: 'words before more text', body: token('A') + words('please wait') + token('B') + D, verdict: 'good' },
  { title: 'words after a finish reason', body: token('A') + F('stop') + words('good bye now') + D, verdict: 'good' },
  { title: 'one word and the end', body: token('A') + words('heartbeat') + D, verdict: 'good' },
  { title: 'a broken object and the end', body: token('A') + words('{"choices":[{"delta" NaN}') + D, verdict: 'good' },
  {
    title: 'a mebibyte of blanks',
    body: token('A') + words(`a${' '.repeat(1_000_000)}`) + D,
    verdict: 'good',
  },
  {
    title: 'an account that is in order',
    body: token('A') + data({ choices: [], base_resp: { status_code: 0, status_msg: '' } }) + F('stop') + D,
    verdict: 'good',
  },
  {
    title: 'an account that is not',
    body: token('A') + data({ choices: [], base_resp: { status_code: 1013, status_msg: 'internal' } }) + D,
    verdict: 'stream_error',
  },
  { title: 'a balance', body: data(openai('Insufficient Balance')), verdict: 'quota_exhausted' },
  { title: 'a key', body: data(openai('Invalid API key provided')), verdict: 'unauthorized' },
  { title: 'a policy', body: data(openai('rejected by our content policy')), verdict: 'content_filtered' },
  ...['terminated', 'REJECTED', 'deadline_exceeded', 'out_of_memory', 'oom', 'kv_oom'].map((word) => ({
    title: `the end ${word}`,
    body: token('A') + F(word) + D,
    verdict: 'engine_abort' as const,
  })),
  { title: 'the end of a sequence', body: token('A') + F('end_of_sequence') + D, verdict: 'good' },
];

const EMPTY_ERRORS: readonly Stream[] = [
  {
    title: 'an error with a comment for its data',
    body: 'event: error\n: unspecified error\n\n',
    verdict: 'stream_error',
  },
  {
    title: 'an error whose comment is of a known kind',
    body: `${token('A')}event: error\n: no instances found for endpoint\n\n${D}`,
    verdict: 'no_upstream',
  },
  {
    title: 'an error with a comment before its name',
    body: `${token('A')}: x\nevent:error\n\n${D}`,
    verdict: 'stream_error',
  },
  { title: 'an error of nothing but its name', body: `${token('A')}event: error\r\n\r\n${D}`, verdict: 'stream_error' },
  { title: 'an error that ends in its name', body: `${token('A')}event: error`, verdict: 'stream_error' },
  {
    title: 'an error with a comment and data',
    body: `${token('A')}event: error\n: x\n${data({ error: { code: 429, message: 'x' } })}`,
    verdict: 'rate_limited',
  },
  {
    title: 'an error with data before its name',
    body: `${token('A')}data: {"error":{"code":503}}\nevent: error\n\n`,
    verdict: 'overloaded',
  },
  {
    title: 'other names without data',
    body: `event: ping\n\nevent: no error\n: x\n\n${token('A')}event: terror\n\n${F('stop')}${D}`,
    verdict: 'good',
    result: { tokenChunks: 1, nonconformingEvents: 0 },
  },
  {
    title: 'a ping of an empty line after a comment',
    body: `: x\n\nevent: ping\ndata:\n\n${token('event: error')}${F('stop')}${D}`,
    verdict: 'good',
    result: { tokenChunks: 1, text: 'event: error' },
  },
];

const COUNTS: readonly Stream[] = [
  {
    title: 'a cached prompt in the timings of llama.cpp',
    body:
      token('A') +
      F('stop') +
      data({
        choices: [],
        usage: { prompt_tokens: 12, completion_tokens: 1 },
        timings: { cache_n: 8, prompt_n: 4, predicted_n: 1 },
      }) +
      D,
    verdict: 'good',
    result: { cachedPromptTokens: 8, promptTokens: 12 },
  },
  {
    title: 'a cached prompt in both places',
    body:
      token('A') +
      F('stop') +
      data({
        choices: [],
        usage: { prompt_tokens: 12, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 7 } },
        timings: { cache_n: 8 },
      }) +
      D,
    verdict: 'good',
    result: { cachedPromptTokens: 7 },
  },
  {
    title: 'no cached prompt anywhere',
    body: token('A') + F('stop') + U(9, 1) + D,
    verdict: 'good',
    result: { cachedPromptTokens: null },
  },
];

const STREAMS = [...REASONING, ...LAST_WORDS, ...EMPTY_ERRORS, ...COUNTS];

test.each(STREAMS)('$title is $verdict', ({ body, verdict, result }) => {
  const { reason, facts } = verdictOn({ body });
  expect(reason).toBe(verdict);
  if (result !== undefined) expect(facts.result).toMatchObject(result);
});

test('none of it depends on where the reads end', () => {
  const dialect = apiDialect('chat');
  for (const { title, body } of STREAMS) {
    const bytes = toBytes(body);
    if (bytes.length > 2_000) continue;
    const whole = verdictOn({ body }).facts.result;
    for (let at = 1; at < bytes.length; at += 1) {
      const kind = bodyKind(200, 'text/event-stream', dialect.streamTypes);
      const reader = createBody(kind, sniffEvents, () => dialect.createReading(LIMITS, atMs(0)));
      const failed = cut(bytes, [at]).map((piece) => reader.push(atMs(100), piece).failed);
      if (!failed.includes(true)) reader.end(atMs(110));
      expect([title, at, reader.result()]).toEqual([title, at, whole]);
    }
  }
});

describe('a usage in every chunk', () => {
  const counted = (completion: number): object => ({ usage: { prompt_tokens: 9, completion_tokens: completion } });
  const steps = (counts: readonly number[], end: string) =>
    read([
      ...counts.map((count, at) => [100 + 20 * at, content('A', counted(count))] as const),
      [100 + 20 * counts.length, finish('stop') + end + DONE] as const,
    ]).result;

  test('that runs tells the tokens of the first chunk', () => {
    const result = steps([2, 3, 4, 5], '');
    expect(result).toMatchObject({ outputTokens: 5, firstChunkTokens: 2, tokenSource: 'usage' });
    expect(result.tpotSeconds).toBeCloseTo(0.02, 6);
  });

  test('that is the final one says nothing of the first chunk', () => {
    const result = steps([4, 4, 4, 4], '');
    expect(result).toMatchObject({ outputTokens: 4, firstChunkTokens: 1, tokenSource: 'usage' });
    expect(result.tpotSeconds).toBeCloseTo(0.02, 6);
  });

  test('that is 1 is no count of the answer', () => {
    const result = steps([1, 1, 1, 1], '');
    expect(result).toMatchObject({ outputTokens: 4, tokenSource: 'chunks' });
    expect(result.tpotSeconds).toBeCloseTo(0.02, 6);
  });

  test('that is 1 does not stand against the count at the end', () => {
    expect(steps([1, 1, 1, 1], U(9, 5))).toMatchObject({ outputTokens: 5, tokenSource: 'usage' });
  });

  test('that stands still for one chunk may count text that was held back', () => {
    const result = steps([2, 2], '');
    expect(result).toMatchObject({ outputTokens: 2, firstChunkTokens: 2, tpotSeconds: null });
  });
});

describe('a parameter that is refused', () => {
  test.each([
    ['`temperature` is deprecated for this model.', 'temperature'],
    ['invalid temperature: only 1 is allowed for this model', 'temperature'],
    ['ignore_eos is not implemented', 'ignore_eos'],
    ["'stream_options' must be omitted", 'stream_options'],
    [
      "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options', 'continuous_usage_stats'), 'msg': 'Extra inputs'}]",
      'continuous_usage_stats',
    ],
    ['temperature must be positive', null],
  ])('%j is %s', (text, parameter) => {
    const error = { status: 400, type: 'invalid_request_error', code: null, param: null, text };
    expect(createRefusals(OPENAI_OPTIONAL_PARAMETERS).learn(400, error)).toBe(parameter);
  });

  test('is the whole once its newer half is gone', () => {
    const refusals = createRefusals(OPENAI_OPTIONAL_PARAMETERS, ['continuous_usage_stats']);
    const text = 'unknown field stream_options (with continuous_usage_stats)';
    expect(refusals.learn(400, { status: 400, type: null, code: null, param: null, text })).toBe('stream_options');
  });
});

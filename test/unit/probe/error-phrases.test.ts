import { describe, expect, test } from 'vitest';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { C, D, F, token } from '../../support/stream-text.ts';
import { atMs, LIMITS, toBytes } from '../../support/streams.ts';
import { type ErrorRow, openai, reasonFor, verdictOn } from './verdict.ts';

/*
 * The same words mean different things, depending on who says them and where.
 */

const quoted = { model: 'm', messages: [{ role: 'user', content: 'api key missing, no healthy upstream' }] };
const pydantic = { detail: [{ type: 'missing', loc: ['body', 'x'], msg: 'Field required', input: quoted }] };
const QUOTED: readonly ErrorRow[] = [
  [400, pydantic, 'bad_request'],
  [422, { detail: [{ type: 'missing', loc: ['body', 'inputs'], msg: 'x', input: 'unknown model' }] }, 'bad_request'],
  [
    400,
    openai("[{'type': 'missing', 'loc': ('body', 'x'), 'msg': 'Field required', 'input': 'insufficient balance'}]"),
    'bad_request',
  ],
];
const LIMITS_OF_CLIENTS: readonly ErrorRow[] = [
  [429, openai('Rate limit exceeded: server is busy'), 'rate_limited'],
  [429, openai('You have hit your per-minute rate-limit while the model is loading'), 'rate_limited'],
  [429, { title: 'Too Many Requests', detail: 'server at capacity' }, 'overloaded'],
  [200, openai('Request rate increased too quickly.', { code: 'limit_burst_rate' }), 'rate_limited'],
  [200, openai('x', { type: 'limit_requests', code: 'limit_requests' }), 'rate_limited'],
  [403, openai('Key limit exceeded (total limit). Manage it at x', { code: 403 }), 'quota_exhausted'],
];
const KEYS: readonly ErrorRow[] = [
  [200, openai('x', { type: 'invalid_request_error', code: 'invalid_api_key' }), 'unauthorized'],
  [400, openai('x', { type: 'invalid_request_error', code: 'invalid_api_key' }), 'unauthorized'],
  [200, openai('x', { type: 'invalid_request_error', code: 'invalid_value' }), 'bad_request'],
];
const MORE_WORDS: readonly ErrorRow[] = [
  [503, openai('The request cannot be handled: all workers are unhealthy'), 'no_upstream'],
  [400, { message: 'The provided model identifier is invalid.' }, 'not_found'],
  [498, openai('Flex tier capacity exceeded for model m'), 'overloaded'],
  [498, openai('Token expired'), 'bad_request'],
  [400, openai('You have reached your specified API usage limits.'), 'quota_exhausted'],
  [500, openai('Request dropped due to backpressure'), 'overloaded'],
  [429, { detail: 'Request queue full' }, 'overloaded'],
  [500, openai('upstream prematurely closed connection while reading response header'), 'bad_gateway'],
];
const INSIDE_OF_ENGINES: readonly ErrorRow[] = [
  [500, { error: 'an error was encountered while running the model: unexpected EOF' }, 'server_error'],
  [500, openai('[gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.1]:43139'), 'server_error'],
  [500, openai('NCCL error: remote process exited, connection reset by peer'), 'server_error'],
  [500, openai('IndexError while loading the model config'), 'server_error'],
  [500, openai('Model is loading'), 'starting'],
  [500, openai('Connection closed by peer'), 'bad_gateway'],
];

describe.each([
  ['a request that is quoted', QUOTED],
  ['the limit of a client', LIMITS_OF_CLIENTS],
  ['a code that says more than the type', KEYS],
  ['what else servers say', MORE_WORDS],
  ['the inside of an engine', INSIDE_OF_ENGINES],
])('%s', (_, rows) => {
  test.each(rows)('%i %j is %s', (status, body, reason) => {
    expect(reasonFor(status, body)).toBe(reason);
  });
});

test('an engine that lost its runner in the middle is no gateway', () => {
  const body = `{"message":{"content":"A"},"done":false}\n{"error":"an error was encountered while running the model: unexpected EOF"}\n`;
  const headers = { 'content-type': 'application/x-ndjson' };
  expect(verdictOn({ api: 'ollama', headers, body }).reason).toBe('stream_error');
});

const line = (text: string): string => `data: ${text}\n\n`;
const error = '{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}';
test.each<readonly [string, string, FailureReason | 'good']>([
  ['an error in an array', line(`[${error}]`), 'overloaded'],
  ['an error made into JSON twice', line(JSON.stringify(error)), 'overloaded'],
  ['an array without an error', line('[{"choices":[]}]'), 'good'],
  ['a text made into JSON', line('"so it goes"'), 'good'],
  ['a field within a field', line('data: {"choices":[]}'), 'good'],
  ['words of life', line('keep alive'), 'good'],
  ['words of the end', line('end of stream'), 'good'],
  ['other words of the end', line('Stream completed in 2 s'), 'good'],
  ['words of failure', line('streaming broke in the middle'), 'stream_error'],
])('after a token, %s is %s', (_, event, reason) => {
  expect(verdictOn({ body: token('A') + event + D }).reason).toBe(reason);
});

test('how much a model is to think is no thought', () => {
  const { facts } = verdictOn({ body: C({ thinking_level: 'high' }) + token('A') + F('stop') + D });
  expect(facts.result).toMatchObject({ tokenChunks: 1 });
});

test.each(['model', 'model:', "'loc':[", 'adapter ', 'api key ', 'error loading '])(
  'a body full of %j is judged at once',
  (unit) => {
    const body = unit.repeat(64_000 / unit.length);
    const before = process.cpuUsage();
    for (const status of [400, 429, 500, 503]) reasonFor(status, body);
    const { user } = process.cpuUsage(before);
    expect(user / 1e6).toBeLessThan(0.6);
  },
);

describe('an error over several lines in the middle of a stream', () => {
  const object = { error: { code: 503, message: 'overloaded: try again', status: 'UNAVAILABLE', details: [{}] } };
  const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
  test.each<readonly [string, string, FailureReason | 'good']>([
    ['at the end', `${token('A')}${pretty(object)}\n`, 'overloaded'],
    ['without the end of its last line', token('A') + pretty(object), 'overloaded'],
    ['after a finish reason', `${token('A') + F('stop') + pretty(object)}\n\n${D}`, 'overloaded'],
    ['in an array', `${token('A')}[${pretty(object)}\n]\n`, 'overloaded'],
    ['in an indented array', `${token('A')}${pretty([object])}\n`, 'overloaded'],
    ['in an array on one line', `${token('A')}${JSON.stringify([object])}\n`, 'overloaded'],
    ['that was cut', token('A') + pretty(object).slice(0, 60), 'truncated'],
    ['that is none', `${token('A')}${pretty({ metrics: { a: 1 } })}\n${F('stop')}${D}`, 'good'],
    ['that an event has broken', `${token('A')}{\n${token('B')}"error": 500\n}\n${F('stop')}${D}`, 'good'],
  ])('%s', (_, body, reason) => {
    expect(verdictOn({ body }).reason).toBe(reason);
  });

  test('wherever the reads end', () => {
    const bytes = toBytes(`${token('A')}${pretty(object)}`);
    for (let at = 1; at < bytes.length; at += 1) {
      const reading = apiDialect('chat').createReading(LIMITS, atMs(0));
      reading.push(atMs(1), bytes.subarray(0, at));
      reading.push(atMs(2), bytes.subarray(at));
      reading.end(atMs(3));
      expect(reading.result().error).toMatchObject({ status: 503, type: 'UNAVAILABLE' });
    }
  });

  test('is not gathered without limit', () => {
    const body = `${token('A')}{\n${`"x": "${'y'.repeat(1000)}",\n`.repeat(60)}"error": {"code": 503}\n}\n${F('stop')}${D}`;
    expect(verdictOn({ body }).reason).toBe('good');
  });
});

describe('an error behind half an event', () => {
  const half = 'data: {"choices":[{"index":0,"delta":{"cont';
  const failed = line('{"error":{"code":502,"message":"x"}}');
  test.each<readonly [string, string, FailureReason | 'good']>([
    ['on the next line', `${half}\n${failed}${D}`, 'bad_gateway'],
    ['on the same line', `${half}${failed}${D}`, 'bad_gateway'],
    ['with a name', `${half}\nevent: error\n${failed}${D}`, 'bad_gateway'],
    ['that is none', `${half}\n${token('B')}${F('stop')}${D}`, 'good'],
    ['that is part of a text', `${token('see data: {"error":1}')}${F('stop')}${D}`, 'good'],
  ])('%s', (_, rest, reason) => {
    expect(verdictOn({ body: token('A') + rest }).reason).toBe(reason);
  });
});

test('an error event of the responses API under its other name', () => {
  const body = `data: {"type":"response.output_text.delta","delta":"A"}\n\ndata: {"type":"response.error","code":"server_error","message":"x"}\n\n`;
  expect(verdictOn({ api: 'responses', body }).reason).toBe('stream_error');
});

test('the last event of the responses API under the name of the realtime API', () => {
  const end = {
    type: 'response.done',
    response: { status: 'completed', usage: { input_tokens: 7, output_tokens: 3 } },
  };
  const body = `data: {"type":"response.output_text.delta","delta":"A"}\n\ndata: ${JSON.stringify(end)}\n\n`;
  const { reason, facts } = verdictOn({ api: 'responses', body });
  expect(reason).toBe('good');
  expect(facts.result).toMatchObject({ outputTokens: 3, finishReason: 'stop' });
});

test.each([
  ['upstream_error', 'stream_error'],
  ['stream.error', 'stream_error'],
  ['terror', 'good'],
])('an event by the name of %s is %s', (name, reason) => {
  const body = `${token('A')}event: ${name}\ndata: {"reason":"x"}\n\n${D}`;
  expect(verdictOn({ body }).reason).toBe(reason);
});

test.each([
  ['info', '{"message":"cached"}', 'good'],
  ['status', '{"message":"queued","code":0}', 'good'],
  ['title', '{"title":"My chat"}', 'good'],
  ['info', '{"error":{"message":"x"}}', 'stream_error'],
  ['message', '{"message":"x"}', 'stream_error'],
  ['problem', '{"title":"x","status":503}', 'overloaded'],
])('an event by the name of %s with %s is %s', (name, object, reason) => {
  const body = `${token('A')}event: ${name}\ndata: ${object}\n\n${F('stop')}${D}`;
  expect(verdictOn({ body }).reason).toBe(reason);
});

test('a usage in the last event of the messages API', () => {
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'A' } };
  const stop = { type: 'message_stop', message: { usage: { input_tokens: 7, output_tokens: 3 } } };
  const body = [text, stop].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const { reason, facts } = verdictOn({ api: 'messages', body });
  expect(reason).toBe('good');
  expect(facts.result).toMatchObject({ outputTokens: 3, promptTokens: 7 });
});

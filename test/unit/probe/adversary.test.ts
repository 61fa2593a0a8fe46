import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import { bodyKind, createBody, mediaType } from '../../../src/probe/body.ts';
import { type ExchangeFacts, noExchange } from '../../../src/probe/exchange.ts';
import { judge } from '../../../src/probe/judge.ts';
import type { ApiName } from '../../../src/probe/outcome.ts';
import type { ReadingResult } from '../../../src/probe/reading.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { sniffEvents, sniffLines } from '../../../src/probe/sniff.ts';
import { DEADLINES } from '../../support/probe-rig.ts';
import { C, D, F, token, U } from '../../support/stream-text.ts';
import { atMs, cut, LIMITS, toBytes } from '../../support/streams.ts';

const PLACE = 'http://engine.test/';
type Verdict = FailureReason | 'good';

/** The facts of a 2xx answer with this body, in the pieces given, 10 ms apart. */
function exchange(api: ApiName, contentType: string, pieces: readonly Uint8Array[]): ExchangeFacts {
  const dialect = apiDialect(api);
  const declared = bodyKind(200, mediaType(contentType), dialect.streamTypes);
  const sniff = api === 'ollama' ? sniffLines : sniffEvents;
  const body = createBody(declared, sniff, () => dialect.createReading(LIMITS, atMs(0)));
  let failed = false;
  pieces.forEach((piece, index) => {
    failed ||= body.push(atMs(100 + 10 * index), piece).failed;
  });
  const endedAt = atMs(100 + 10 * pieces.length);
  if (!failed) body.end(endedAt);
  return {
    ...noExchange(endedAt),
    status: 200,
    headers: { 'content-type': contentType },
    kind: body.kind,
    result: body.result(),
    text: body.text(),
    ending: { kind: failed ? 'stopped' : 'ended' },
  };
}

function verdict(api: ApiName, contentType: string, pieces: readonly Uint8Array[]): [Verdict, ReadingResult | null] {
  const facts = exchange(api, contentType, pieces);
  const judged = judge(facts, { place: PLACE, deadlines: DEADLINES, dialect: apiDialect(api), parameters: [] });
  return [judged.failure?.reason ?? 'good', facts.result];
}

const data = (object: unknown): string => `data: ${JSON.stringify(object)}\n\n`;
const choice = (fields: object): string => data({ choices: [{ index: 0, ...fields }] });
const SSE = 'text/event-stream';
const AB = token('A') + token('B');

interface Attack {
  readonly title: string;
  readonly api?: ApiName;
  readonly type?: string;
  readonly body: string;
  readonly verdict: Verdict;
  readonly result?: Partial<ReadingResult>;
}

const completeChat = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A B' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 2 },
};

const FORMS: readonly Attack[] = [
  { title: 'a whole answer as one event', body: data(completeChat) + D, verdict: 'not_streaming' },
  { title: 'a whole answer under the type of a stream', body: JSON.stringify(completeChat), verdict: 'not_streaming' },
  {
    title: 'a whole answer as plain text',
    type: 'text/plain',
    body: JSON.stringify(completeChat),
    verdict: 'not_streaming',
  },
  {
    title: 'a whole message of Anthropic as one event',
    api: 'messages',
    body: data({
      type: 'message',
      content: [{ type: 'text', text: 'A' }],
      usage: { input_tokens: 3, output_tokens: 1 },
    }),
    verdict: 'not_streaming',
  },
  { title: 'a whole answer of TGI', api: 'tgi', body: '{"generated_text":"A B"}', verdict: 'not_streaming' },
  {
    title: 'a bare error object under the type of a stream',
    body: JSON.stringify({ error: { message: 'x', code: 500 } }, null, 2),
    verdict: 'stream_error',
  },
  { title: 'a bare overload', body: '{"error":{"type":"overloaded_error"}}\n', verdict: 'overloaded' },
  {
    title: 'an array of errors',
    type: 'application/json',
    body: '[{"error":{"code":429,"message":"x"}}]',
    verdict: 'rate_limited',
  },
  { title: 'a page under the type of a stream', body: '<html>\n<body>502</body></html>\n', verdict: 'protocol_error' },
  { title: 'plain words without a line end', body: 'Internal Server Error', verdict: 'protocol_error' },
  { title: 'plain words', type: 'text/plain', body: 'upstream request timeout\n', verdict: 'protocol_error' },
  {
    title: 'completions read as chat',
    body: choice({ text: 'A' }) + choice({ text: 'B', finish_reason: 'length' }) + U(9, 2) + D,
    verdict: 'protocol_error',
  },
  {
    title: 'chat read as completions',
    api: 'completions',
    body: AB + F('length') + U(9, 2) + D,
    verdict: 'protocol_error',
  },
  { title: 'chat read as SGLang', api: 'sglang', body: AB + F('stop') + D, verdict: 'protocol_error' },
  {
    title: 'chat read as Ollama',
    api: 'ollama',
    type: 'application/x-ndjson',
    body: AB + F('stop') + D,
    verdict: 'protocol_error',
  },
  {
    title: 'a stream under the type of JSON',
    type: 'application/json',
    body: AB + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 2 },
  },
  {
    title: 'a stream under the type of a page',
    type: 'text/html',
    body: `: hi\n\n${AB}${F('stop')}${D}`,
    verdict: 'good',
    result: { tokenChunks: 2 },
  },
  { title: 'a stream whose type came twice', type: `${SSE}, ${SSE}`, body: AB + F('stop') + D, verdict: 'good' },
  {
    title: 'lines under the type of JSON',
    api: 'ollama',
    type: 'application/json',
    body: '{"message":{"content":"A"},"done":false}\n{"message":{"content":""},"done":true,"done_reason":"stop"}\n',
    verdict: 'good',
    result: { tokenChunks: 1 },
  },
  {
    title: 'wrapped keep-alives and nothing else',
    body: 'data: : x\n\ndata:\n\ndata: : x\n\n',
    verdict: 'empty_stream',
    result: { keepAlives: 3 },
  },
  { title: 'wrapped keep-alives and an end marker', body: `data: : x\n\n${D}`, verdict: 'empty_stream' },
  { title: 'a hundred lines of something else after tokens', body: AB + 'x\n'.repeat(200), verdict: 'protocol_error' },
];

const ENDS: readonly Attack[] = [
  {
    title: 'a finish reason written as "null"',
    body:
      choice({ delta: { content: 'A' }, finish_reason: 'null' }) +
      choice({ delta: { content: 'B' }, finish_reason: 'None' }) +
      F('stop') +
      D,
    verdict: 'good',
    result: { tokenChunks: 2, finishReason: 'stop' },
  },
  {
    title: 'only "null" for a finish reason',
    body: choice({ delta: { content: 'A' }, finish_reason: 'null' }),
    verdict: 'truncated',
  },
  {
    title: 'a finish reason in every chunk',
    body:
      choice({ delta: { content: 'A' }, finish_reason: 'stop' }) +
      choice({ delta: { content: 'B' }, finish_reason: 'stop' }) +
      U(9, 2) +
      D,
    verdict: 'good',
    result: { tokenChunks: 2, outputTokens: 2, text: 'AB', buffered: false },
  },
  {
    title: 'a finish reason before the first token',
    body: F('stop') + AB + D,
    verdict: 'good',
    result: { tokenChunks: 2 },
  },
  {
    title: 'a finish reason that text follows, and no end',
    body: token('A') + F('stop') + token('B'),
    verdict: 'truncated',
  },
  { title: 'a want of resources', body: AB + F('insufficient_system_resource') + D, verdict: 'engine_abort' },
  {
    title: 'an error as finish reason',
    body: AB + choice({ delta: {}, finish_reason: { error: 'x' } }) + D,
    verdict: 'engine_abort',
  },
  { title: 'a sensitive answer', body: token('A') + F('sensitive') + D, verdict: 'content_filtered' },
  {
    title: "vLLM's incomplete response",
    api: 'responses',
    body:
      data({ type: 'response.output_text.delta', delta: 'A' }) +
      data({
        type: 'response.completed',
        response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      }),
    verdict: 'good',
    result: { finishReason: 'length' },
  },
  {
    title: 'a response that is completed and failed',
    api: 'responses',
    body:
      data({ type: 'response.output_text.delta', delta: 'A' }) +
      data({
        type: 'response.completed',
        response: { status: 'failed', error: { code: 'server_error', message: 'x' } },
      }),
    verdict: 'stream_error',
  },
  {
    title: 'a response of status failed without an error',
    api: 'responses',
    body:
      data({ type: 'response.output_text.delta', delta: 'A' }) +
      data({ type: 'response.completed', response: { status: 'failed', error: null } }),
    verdict: 'engine_abort',
  },
  {
    title: "FastAPI's error between tokens and [DONE]",
    body: AB + data({ detail: 'Internal Server Error' }) + D,
    verdict: 'stream_error',
  },
  {
    title: 'a lone message between tokens and [DONE]',
    body: AB + data({ message: 'engine died' }) + D,
    verdict: 'stream_error',
  },
  {
    title: 'problem+json between tokens and [DONE]',
    body: AB + data({ title: 'x', status: 503, detail: 'Loading model' }) + D,
    verdict: 'starting',
  },
  {
    title: 'a refusal of the filter in the stream',
    body: data({ error: { code: 'content_filter', message: 'x' } }),
    verdict: 'content_filtered',
  },
  { title: 'usage and no end', body: AB + U(9, 2), verdict: 'truncated' },
  { title: 'a role and no more', body: C({ role: 'assistant', content: '' }), verdict: 'empty_stream' },
  {
    title: 'an engine that was only loaded',
    api: 'ollama',
    type: 'application/x-ndjson',
    body: '{"message":{"content":""},"done":true,"done_reason":"load"}\n',
    verdict: 'empty_stream',
  },
];

const CHANNELS: readonly Attack[] = [
  {
    title: "reasoning under Anthropic's name in a chat",
    body: C({ thinking: 'a' }) + token('A') + F('stop') + U(9, 2) + D,
    verdict: 'good',
    result: { tokenChunks: 2, outputTokens: 2 },
  },
  {
    title: 'an error in every chunk that says that there is none',
    body: data({ error: { message: '', code: 0 }, choices: [{ index: 0, delta: { content: 'A' } }] }) + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 1 },
  },
];

const COUNTS: readonly Attack[] = [
  {
    title: 'more tokens than can be',
    body: AB + F('stop') + U(9, 1e300) + D,
    verdict: 'good',
    result: { outputTokens: 2, tokenSource: 'chunks' },
  },
  {
    title: 'half a token',
    body: AB + F('stop') + U(9, 2.5) + D,
    verdict: 'good',
    result: { outputTokens: 2, tokenSource: 'chunks' },
  },
  {
    title: 'an index written as text',
    body: data({ choices: [{ index: '0', delta: { content: 'A' } }] }) + F('stop') + D,
    verdict: 'good',
    result: { tokenChunks: 1 },
  },
];

describe.each([
  ['a body in another form', FORMS],
  ['an end that is none, or none that is one', ENDS],
  ['counts that cannot be', COUNTS],
  ['channels and fields of other gateways', CHANNELS],
])('%s', (_, attacks) => {
  test.each(attacks)('$title is $verdict', ({ api = 'chat', type = SSE, body, verdict: wanted, result }) => {
    const [reason, read] = verdict(api, type, [toBytes(body)]);
    expect(reason).toBe(wanted);
    if (result !== undefined) expect(read).toMatchObject(result);
  });
});

test('the verdict does not depend on where the reads end', () => {
  const all = [...FORMS, ...ENDS, ...COUNTS];
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.array(fc.nat(400), { maxLength: 8 }), (attack, positions) => {
      const { api = 'chat', type = SSE, body } = attack;
      const bytes = toBytes(body);
      const inside = positions.filter((position) => position < bytes.length);
      expect(verdict(api, type, cut(bytes, inside))[0]).toBe(attack.verdict);
    }),
    { numRuns: 300 },
  );
});

test('bytes that are held back keep their stamps', () => {
  const body = toBytes(`\ufeff${AB}${F('stop')}${D}`);
  const single = Array.from(body, (byte) => Uint8Array.of(byte));
  const [reason, result] = verdict('chat', 'application/json', single);
  expect(reason).toBe('good');
  expect(result?.firstTokenAt).toBeCloseTo(atMs(100 + 10 * (toBytes(`\ufeff${token('A')}`).length - 1)), 6);
});

test('blanks without end are not held back without end', () => {
  const [reason] = verdict(
    'chat',
    'application/json',
    Array.from({ length: 64 }, () => toBytes(' '.repeat(1024))),
  );
  expect(reason).toBe('empty_stream');
});

import { describe, expect, test } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { startRig, withRig } from '../../support/probe-rig.ts';
import type { Script } from '../../support/scripted-server.ts';
import { D, F, GOOD_STREAM, openStream, respond, stream, token, U } from '../../support/stream-text.ts';
import { expectSeconds, NEVER_DISTURBED, wireCases } from '../../support/wire-case.ts';

const IDLE_408 =
  'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\nCache-Control: no-cache\r\n\r\n';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const finished = (text: string): string =>
  `data: {"choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":"stop"}]}\n\n`;
const streamOfType = (type: string, body: string) => [
  { atMs: 0, act: `HTTP/1.1 200 OK\r\n${type}Connection: close\r\n\r\n` },
  { atMs: 30, act: body },
  { atMs: 40, act: 'FIN' as const },
];

describe('a server that lies about what it sends', () => {
  wireCases([
    {
      id: 'type: JSON',
      title: 'a stream under the type of JSON is read as what it is, with the stamps of its bytes',
      steps: streamOfType('Content-Type: application/json\r\n', token('A') + F('stop') + U(9, 1) + D),
      verdict: 'good',
      outcome: { outputTokens: 1 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 30),
    },
    {
      id: 'type: twice',
      title: 'a type that two middle boxes have set is the first of the two',
      steps: streamOfType(
        'Content-Type: text/event-stream\r\nContent-Type: text/event-stream; charset=utf-8\r\n',
        token('A') + F('stop') + D,
      ),
      verdict: 'good',
    },
    {
      id: 'type: stream, error',
      title: 'an error object under the type of a stream is judged by its words',
      steps: respond(200, { 'Content-Type': 'text/event-stream' }, '{"error":{"message":"x","code":503}}'),
      verdict: 'overloaded',
      detail: { error_status: 503 },
    },
    {
      id: 'no room, as 200',
      title: 'a wait that an error under HTTP 200 asks for is heard',
      steps: respond(200, { ...JSON_TYPE, 'Retry-After': '7' }, '{"error":{"message":"x","code":429}}'),
      verdict: 'rate_limited',
      outcome: { retryAfterSeconds: seconds(7) },
    },
    {
      id: 'error, then lost',
      title: 'an error object that is whole counts, although the connection broke after it',
      steps: [
        { atMs: 0, act: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n' },
        { atMs: 5, act: '{"error":{"message":"x","code":500}}' },
        { atMs: 20, act: 'RST' },
      ],
      verdict: 'stream_error',
    },
    {
      id: 'one answer, slowly',
      title: 'half of a whole answer and then silence is a first-token timeout',
      steps: [
        { atMs: 0, act: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n' },
        { atMs: 5, act: '{"object":"chat.completion","choi' },
      ],
      profile: { deadlines: { firstTokenSeconds: seconds(0.2), headersSeconds: seconds(0.1) } },
      verdict: 'ttft_timeout',
    },
    {
      id: 'many ends',
      title: 'a finish reason in every chunk ends the probe with the last one',
      steps: stream([
        [0, finished('A')],
        [40, finished('B')],
        [80, finished('C') + U(9, 3) + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 3, outputTokens: 3, buffered: false },
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 80),
    },
    {
      id: 'an end that is none, then silence',
      title: 'text after a finish reason and then nothing is stalled',
      steps: openStream([
        [0, finished('A')],
        [20, token('B')],
      ]),
      profile: { deadlines: { betweenTokensSeconds: seconds(0.2) } },
      verdict: 'stalled',
    },
    {
      id: 'ends for ever',
      title: 'chunks that all claim to be the last meet the deadline of the whole probe',
      steps: openStream(Array.from({ length: 60 }, (_, index) => [index * 10, finished('x')] as const)),
      profile: { deadlines: { totalSeconds: seconds(0.3) } },
      verdict: 'total_timeout',
      also: ({ durationSeconds, eventLoopDelaySeconds }) =>
        expect(durationSeconds).toBeLessThan(0.6 + 2.5 * (eventLoopDelaySeconds ?? 0)),
    },
    {
      id: 'a mock server',
      title: '16 tokens at once behind no wait to speak of are not called buffered',
      steps: stream([[0, token('x').repeat(16) + F('length') + U(9, 16) + D]]),
      disturbedAfterSeconds: NEVER_DISTURBED,
      verdict: 'good',
      also: ({ buffered, ttftSeconds }) => expect(buffered).toBe((ttftSeconds ?? 0) >= 0.015),
    },
  ]);
});

describe('a load balancer that says 408 on an idle connection', () => {
  const then408: Script = (_, index) =>
    index === 1
      ? [
          { atMs: 0, act: IDLE_408 },
          { atMs: 1, act: 'FIN' },
        ]
      : GOOD_STREAM;

  test('crossing our request on its way costs no probe', async () => {
    await withRig({ script: then408 }, async ({ good, server }) => {
      await good();
      const outcome = await good();
      expect(outcome).toMatchObject({ retriedStaleConnection: true, connection: 'fresh', httpStatus: 200 });
      expect(server.requests).toHaveLength(3);
    });
  });

  test('before our request is not even noticed', async () => {
    const script: Script = (_, index) =>
      index === 0 ? [...GOOD_STREAM, { atMs: 30, act: IDLE_408 }, { atMs: 31, act: 'FIN' }] : GOOD_STREAM;
    await withRig({ script }, async ({ good, server }) => {
      await good();
      await server.quiet();
      expect(await good()).toMatchObject({ retriedStaleConnection: false, connection: 'fresh' });
    });
  });

  test('on a fresh connection is the answer to our request', async () => {
    await withRig({ script: () => [{ atMs: 0, act: IDLE_408 }] }, async ({ failed }) => {
      expect((await failed()).failure.reason).toBe('gateway_timeout');
    });
  });

  test('twice is an answer too', async () => {
    const script: Script = (_, index) => (index === 0 ? GOOD_STREAM : [{ atMs: 0, act: IDLE_408 }]);
    await withRig({ script }, async ({ good, failed }) => {
      await good();
      expect((await failed()).failure.reason).toBe('gateway_timeout');
    });
  });
});

test.each(['http', 'https'])('a proxy that is down is not held against an endpoint of %s', async (scheme) => {
  const closed = await startRig();
  const proxyUrl = closed.server.url;
  await closed.close();
  const options = { target: { url: `${scheme}://engine.test`, connection: { proxyUrl } } };
  await withRig(options, async ({ failed }) => {
    const { failure } = await failed();
    expect(failure).toMatchObject({ reason: 'connection_lost', side: 'path' });
    expect(failure.message).toContain('the proxy cannot be reached (127.0.0.1 ECONNREFUSED)');
  });
});

test('an answer of another API on a kept-alive connection leaves the connection usable', async () => {
  const answer = '{"object":"chat.completion","choices":[]}';
  const script: Script = (_, index) => (index === 0 ? respond(200, JSON_TYPE, answer) : GOOD_STREAM);
  await withRig({ script }, async ({ failed, good }) => {
    expect((await failed()).failure.reason).toBe('not_streaming');
    expect((await good()).connection).toBe('reused');
  });
});

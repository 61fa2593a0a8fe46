import { describe, expect } from 'vitest';
import { seconds } from '../../../src/units.ts';
import type { Step } from '../../support/scripted-server.ts';
import {
  chunk,
  D,
  EVENT_STREAM,
  F,
  GOOD_STREAM,
  openStream,
  respond,
  respondJson,
  stream,
  token,
  U,
} from '../../support/stream-text.ts';
import { expectSeconds, wireCases } from '../../support/wire-case.ts';

const DATE = 'Sun, 29 Nov 2026 20:00:00 GMT';
const imf = (afterSeconds: number): string => new Date(Date.parse(DATE) + afterSeconds * 1000).toUTCString();
const BUDGET = (code: string) => ({
  error: { type: 'budget_exceeded', message: 'synthetic: 2.0 of 1.0 used', code },
});
const text = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): readonly Step[] =>
  respond(status, { 'Content-Type': 'text/plain', ...headers }, body);
const html = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): readonly Step[] =>
  respond(status, { 'Content-Type': 'text/html', ...headers }, body);
const bytewise = (bytes: string, everyMs: number, fromMs = 0): Step[] =>
  [...bytes].map((byte, index) => ({ atMs: fromMs + everyMs * index, act: byte }));
const raw = (bytes: string | Uint8Array): readonly Step[] => [{ atMs: 0, act: bytes }];

const RATE_LIMIT = { error: { type: 'rate_limit_error', message: 'x' } };
const LOADING = { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } };

describe('kind C: HTTP and the transport below it', () => {
  wireCases([
    {
      id: 'G-056',
      title: "Retry-After as a date counts from the response's own date",
      steps: respondJson(429, RATE_LIMIT, { Date: DATE, 'Retry-After': imf(90) }),
      verdict: 'rate_limited',
      outcome: { retryAfterSeconds: seconds(90), httpStatus: 429 },
    },
    {
      id: 'G-056 past',
      title: 'a Retry-After in the past is 0',
      steps: respondJson(429, RATE_LIMIT, { Date: DATE, 'Retry-After': imf(-5) }),
      verdict: 'rate_limited',
      outcome: { retryAfterSeconds: seconds(0) },
    },
    ...(
      [
        ['a', 400],
        ['b', 429],
      ] as const
    ).map(([variant, status]) => ({
      id: `G-058 ${variant}`,
      title: `a spent budget is that, although the status is ${status}`,
      steps: respondJson(status, BUDGET(String(status))),
      verdict: 'quota_exhausted' as const,
    })),
    {
      id: 'G-059',
      title: 'a refused max_tokens makes one probe fail, and the next asks with max_completion_tokens',
      script: (_, index) =>
        index === 0
          ? respondJson(400, {
              error: {
                type: 'invalid_request_error',
                param: 'max_tokens',
                code: 'unsupported_parameter',
                message: 'synthetic: use max_completion_tokens',
              },
            })
          : GOOD_STREAM,
      verdict: 'bad_request',
      outcome: { refusedParameters: ['max_tokens'] },
      detail: { parameter: 'max_tokens' },
      also: async (_, { server, good }) => {
        expect(server.requests).toHaveLength(1);
        const next = await good();
        expect(next.refusedParameters).toEqual(['max_tokens']);
        expect(JSON.parse(server.requests[1]?.body ?? '')).toMatchObject({ max_completion_tokens: 16 });
        expect(server.requests[1]?.body).not.toContain('"max_tokens"');
        await good();
        expect(server.requests).toHaveLength(3);
      },
    },
    {
      id: 'G-061 a',
      title: 'a refused ignore_eos is left out from then on',
      profile: { ignoreEos: true },
      script: (_, index) =>
        index === 0 ? respondJson(400, { error: { message: 'unknown field ignore_eos' } }) : GOOD_STREAM,
      verdict: 'bad_request',
      outcome: { refusedParameters: ['ignore_eos'] },
      also: async (_, { server, good }) => {
        await good();
        expect(server.requests.map(({ body }) => body.includes('ignore_eos'))).toEqual([true, false]);
      },
    },
    {
      id: 'G-061 b',
      title: 'an answer shorter than asked for is good, with the true count',
      steps: stream([
        [0, token('A')],
        [20, token('B')],
        [40, token('C') + F('stop') + U(9, 3) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 3 },
      also: (_, { server }) => expect(server.requests[0]?.body).not.toContain('ignore_eos'),
    },
    {
      id: 'G-062',
      title: 'a value below the minimum names the parameter, and the parameter stays',
      target: { api: 'responses' },
      profile: { maxTokens: 8 },
      steps: respondJson(400, {
        error: { param: 'max_output_tokens', code: 'integer_below_min_value', message: 'synthetic: minimum is 16' },
      }),
      verdict: 'bad_request',
      outcome: { refusedParameters: [] },
      detail: { parameter: 'max_output_tokens' },
      also: (outcome) =>
        expect(outcome).toMatchObject({ failure: { message: expect.stringContaining('max_output_tokens') } }),
    },
    {
      id: 'G-064',
      title: 'a server that loads its model is starting, not overloaded',
      steps: respondJson(503, LOADING),
      verdict: 'starting',
    },
    {
      id: 'G-064 held',
      title: 'a request that is held while the model is loaded is good within the deadlines',
      steps: stream([[400, token('A') + F('stop') + D]], 390),
      verdict: 'good',
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 400),
    },
    { id: 'G-065 a', title: 'Envoy without engines', steps: text(503, 'no healthy upstream'), verdict: 'no_upstream' },
    {
      id: 'G-065 b',
      title: 'Envoy out of patience',
      steps: text(504, 'upstream request timeout'),
      verdict: 'gateway_timeout',
    },
    { id: 'G-065 c', title: 'Envoy with a policy', steps: text(403, 'RBAC: access denied'), verdict: 'forbidden' },
    {
      id: 'G-065 d',
      title: 'Envoy under overload',
      steps: text(503, 'no healthy upstream', { 'x-envoy-overloaded': 'true' }),
      verdict: 'overloaded',
    },
    {
      id: 'G-067',
      title: 'our own deadline ends a silent server to the millisecond, with its own reason',
      steps: [],
      profile: { deadlines: { headersSeconds: seconds(0.35), firstTokenSeconds: seconds(1) } },
      verdict: 'headers_timeout',
      detail: { limit_seconds: 0.35 },
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 350),
    },
    {
      id: 'G-067 first',
      title: 'a first-token deadline before that of the headers ends a silent server too',
      steps: [],
      profile: { deadlines: { headersSeconds: seconds(1), firstTokenSeconds: seconds(0.25) } },
      verdict: 'ttft_timeout',
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 250),
    },
    ...([302, 301, 307, 308] as const).map((status) => ({
      id: `G-070 ${status}`,
      title: `a redirect (${status}) is not followed`,
      steps: respond(status, { Location: 'https://login.example/?key=qk-7' }, ''),
      verdict: 'redirected' as const,
      detail: { status, location_host: 'login.example' },
    })),
    {
      id: 'G-073 h2',
      title: 'a server that speaks HTTP/2 only is a protocol error',
      steps: raw(Buffer.from('00000604000000000000030000006400000408000000000000ef0001', 'hex')),
      verdict: 'protocol_error',
    },
    {
      id: 'G-076 head',
      title: 'headers that drip in byte by byte meet the deadline',
      steps: bytewise(EVENT_STREAM.repeat(2), 15),
      profile: { deadlines: { headersSeconds: seconds(0.3), firstTokenSeconds: seconds(0.5) } },
      verdict: 'headers_timeout',
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 300),
    },
    {
      id: 'G-076 body',
      title: 'a body that drips comments meets the first-token deadline',
      steps: [
        { atMs: 0, act: EVENT_STREAM },
        ...bytewise(': '.repeat(20), 20).map(({ atMs, act }) => ({ atMs, act: chunk(act) })),
      ],
      profile: { deadlines: { firstTokenSeconds: seconds(0.3) } },
      verdict: 'ttft_timeout',
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 300),
    },
    {
      id: 'G-079 a',
      title: 'early hints come before the response and are none',
      steps: [{ atMs: 0, act: 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n' }, ...GOOD_STREAM],
      verdict: 'good',
      outcome: { httpStatus: 200 },
    },
    {
      id: 'G-079 b',
      title: 'an unsolicited 100 is a protocol error',
      steps: [{ atMs: 0, act: 'HTTP/1.1 100 Continue\r\n\r\n' }, ...GOOD_STREAM],
      verdict: 'protocol_error',
      detail: { code: 'UND_ERR_SOCKET' },
    },
    {
      id: 'G-079 c',
      title: 'an end without a byte is a lost connection',
      steps: [{ atMs: 0, act: 'FIN' }],
      verdict: 'connection_lost',
      detail: { code: 'UND_ERR_SOCKET' },
    },
    {
      id: 'G-079 c reset',
      title: 'a reset without a byte is a lost connection',
      steps: [{ atMs: 0, act: 'RST' }],
      verdict: 'connection_lost',
      detail: { code: 'ECONNRESET' },
    },
    {
      id: 'G-079 d',
      title: 'TLS in plain sight is a protocol error with a hint',
      steps: raw(Buffer.from('15030100020228', 'hex')),
      verdict: 'protocol_error',
      detail: { speaks_tls: true },
    },
    {
      id: 'G-079 e',
      title: 'another protocol is a protocol error',
      steps: raw('SSH-2.0-x\r\n'),
      verdict: 'protocol_error',
    },
    {
      id: 'G-079 half',
      title: 'half a head and an end is a lost connection',
      steps: [
        { atMs: 0, act: 'HTTP/1.1 200 OK\r\nContent-' },
        { atMs: 20, act: 'FIN' },
      ],
      verdict: 'connection_lost',
    },
    {
      id: 'headers',
      title: 'a head without an end is too large',
      steps: raw(`HTTP/1.1 200 OK\r\n${'x-filler: yyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(1000)}`),
      verdict: 'response_too_large',
    },
    {
      id: 'chunk size',
      title: 'a chunk size that is no number is a protocol error',
      steps: [
        { atMs: 0, act: EVENT_STREAM },
        { atMs: 5, act: chunk(token('A')) },
        { atMs: 20, act: 'zz\r\n' },
      ],
      verdict: 'protocol_error',
      outcome: { tokenChunks: 1 },
    },
    {
      id: 'cut chunk',
      title: 'a chunked body without its last chunk is a lost connection',
      steps: [...openStream([[0, token('A')]]), { atMs: 20, act: 'FIN' }],
      verdict: 'connection_lost',
      outcome: { tokenChunks: 1 },
    },
    {
      id: 'cut reset',
      title: 'a reset in the middle of the body is a lost connection, and keeps the TTFT',
      steps: [...openStream([[10, token('A')]]), { atMs: 60, act: 'RST' }],
      verdict: 'connection_lost',
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 10),
    },
    {
      id: 'short length',
      title: 'a body shorter than its Content-Length is a lost connection',
      steps: [
        {
          atMs: 0,
          act: `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n${token('A')}`,
        },
        { atMs: 20, act: 'FIN' },
      ],
      verdict: 'connection_lost',
    },
    {
      id: 'G-082 a',
      title: 'a prompt that is too long for the model is our fault',
      steps: respondJson(400, {
        error: { code: 400, type: 'exceed_context_size_error', n_prompt_tokens: 5000, n_ctx: 4096 },
      }),
      verdict: 'bad_request',
      detail: { refused_for: 'prompt_too_long' },
    },
    {
      id: 'G-082 b',
      title: 'the same inside a stream has the same reason',
      steps: stream([[0, `data: {"error":{"message":"synthetic: prompt too long","code":400}}\n\n${D}`]]),
      verdict: 'bad_request',
      detail: { refused_for: 'prompt_too_long', error_status: 400 },
    },
    {
      id: 'G-083 524',
      title: 'a large error page is judged by its status',
      steps: html(524, `<html>${'x'.repeat(180 * 1024)}</html>`),
      verdict: 'gateway_timeout',
      also: (outcome) => expect(JSON.stringify(outcome).length).toBeLessThan(3000),
    },
    { id: 'G-083 502', title: "nginx's 502", steps: html(502, '<html>', { Server: 'nginx' }), verdict: 'bad_gateway' },
    {
      id: 'G-083 530',
      title: "Cloudflare's 530 with its inner code",
      steps: text(530, 'error code: 1016'),
      verdict: 'bad_gateway',
      detail: { upstream_dns: true },
    },
    {
      id: 'G-083 599',
      title: 'an unknown 5xx',
      steps: text(599, ''),
      verdict: 'server_error',
      detail: { status: 599 },
    },
    {
      id: 'unauthorized',
      title: 'a 401 whose error is a string',
      steps: respondJson(401, { error: 'Unauthorized' }),
      verdict: 'unauthorized',
    },
    {
      id: 'not found',
      title: 'a 404 for the model',
      steps: respondJson(404, { message: 'Model not found', code: 404 }),
      verdict: 'not_found',
    },
    {
      id: 'web page',
      title: 'a web page with HTTP 200',
      steps: html(200, '<html>login</html>'),
      verdict: 'protocol_error',
    },
    {
      id: 'empty',
      title: 'HTTP 200 and nothing',
      steps: respond(200, { 'Content-Type': 'application/json' }, ''),
      verdict: 'empty_stream',
    },
    { id: 'no content', title: 'HTTP 204', steps: raw('HTTP/1.1 204 No Content\r\n\r\n'), verdict: 'empty_stream' },
    {
      id: 'HTTP/1.0',
      title: 'a stream of HTTP/1.0, which ends with its connection, is a stream',
      steps: [
        { atMs: 0, act: `HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n${token('A') + F('stop') + D}` },
        { atMs: 10, act: 'FIN' },
      ],
      verdict: 'good',
    },
    {
      id: 'early refusal',
      title: 'an answer before the request was read, and then a reset, is judged by its status',
      profile: { prompt: 'x'.repeat(3_000_000) },
      onConnection: (socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
          // In two steps: what was written can be read between them, however late the first is.
          setTimeout(() => setTimeout(() => socket.destroy(), 25), 25);
        });
        return true;
      },
      verdict: 'bad_request',
      detail: { status: 413 },
    },
    {
      id: 'no type',
      title: 'a stream without a content type is a stream',
      steps: respond(200, {}, token('A') + F('stop') + D),
      verdict: 'good',
    },
    {
      id: 'zstd',
      title: 'an encoding that we cannot read is a protocol error',
      steps: respond(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'zstd' }, 'xx'),
      verdict: 'protocol_error',
      detail: { encoding: 'zstd' },
    },
    {
      id: 'open error',
      title: 'an error body that never ends is judged by its status after a bounded time',
      steps: [{ atMs: 0, act: 'HTTP/1.1 500 X\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n' }],
      verdict: 'server_error',
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 2000),
    },
  ]);
});

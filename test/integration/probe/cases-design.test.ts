import { describe, expect } from 'vitest';
import { seconds } from '../../../src/units.ts';
import {
  C,
  D,
  F,
  GOOD_STREAM,
  openStream,
  type Part,
  respondJson,
  stream,
  token,
  U,
} from '../../support/stream-text.ts';
import { expectSeconds, expectTpot, wireCases } from '../../support/wire-case.ts';

const ROLE = C({ role: 'assistant', content: '' });
const ENGINE_DIED =
  'data: {"error":{"message":"engine died","type":"InternalServerError","param":null,"code":500}}\n\n';
const counted = (texts: number, total: number): string =>
  `data: ${JSON.stringify({
    choices: [{ index: 0, delta: { content: 'a '.repeat(texts) }, finish_reason: null }],
    usage: { prompt_tokens: 12, completion_tokens: total },
  })}\n\n`;
// --stream-interval 4: one token, then four in each chunk, the last with three.
const interval4: Part[] = [1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 40].map((total, index) => [
  20 + 30 * index,
  counted(index === 0 ? 1 : 4, total),
]);

describe('kind J: design of the probe', () => {
  wireCases([
    {
      id: 'G-184 a',
      title: 'headers and then nothing is a first-token timeout, whatever /health says',
      steps: openStream([]),
      profile: { deadlines: { firstTokenSeconds: seconds(0.25) } },
      verdict: 'ttft_timeout',
      outcome: { httpStatus: 200, ttfeSeconds: null },
    },
    {
      id: 'G-184 b',
      title: 'the verdict comes from the stream alone: nothing but the one POST is sent',
      steps: GOOD_STREAM,
      verdict: 'good',
      also: (_, { server }) =>
        expect(server.requests.map(({ line }) => line)).toEqual(['POST /v1/chat/completions HTTP/1.1']),
    },
    {
      id: 'G-185',
      title: 'reasoning without an answer proves generation and is good',
      steps: stream([
        [0, C({ reasoning_content: 'hm' })],
        [20, C({ reasoning_content: 'm' }) + F('length') + U(9, 4) + D],
      ]),
      verdict: 'good',
      outcome: { ttfcSeconds: null, tokenChunks: 2 },
    },
    {
      id: 'G-187',
      title: 'a probe always bounds what it asks for, and drops its connection when it gives up',
      steps: openStream([[0, token('A')]]),
      profile: { maxTokens: 16, deadlines: { betweenTokensSeconds: seconds(0.1) } },
      verdict: 'stalled',
      also: async (_, { server }) => {
        expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ max_tokens: 16, stream: true });
        await server.quiet();
      },
    },
    {
      id: 'G-188',
      title: 'a probe can be told from users by its headers',
      steps: GOOD_STREAM,
      verdict: 'good',
      also: (_, { server }) =>
        expect(server.requests[0]?.headers).toMatchObject({
          'x-inference-probe': '1',
          'user-agent': expect.stringMatching(/^inference-probe-exporter\/\S+$/),
          'content-type': 'application/json',
        }),
    },
  ]);
});

describe('kind K: seen on real engines', () => {
  wireCases([
    {
      id: 'R-001',
      title: 'an engine that dies in the middle has failed, whatever the end marker says, and its tokens are timed',
      steps: stream([
        [20, token('a')],
        [40, token('b')],
        [60, ENGINE_DIED + D],
      ]),
      verdict: 'stream_error',
      outcome: { tokenChunks: 2 },
      detail: { error_status: 500 },
      also: (outcome) => {
        expectSeconds(outcome, outcome.ttftSeconds, 20);
        expect(outcome).toMatchObject({ failure: { side: 'endpoint' } });
        expect(JSON.stringify(outcome)).not.toContain('engine died');
      },
    },
    {
      id: 'R-002',
      title: 'a token without text is counted by usage',
      steps: stream([
        [30, ROLE],
        [31, token('lwi')],
        [61, token(' kajx')],
        [91, token(' pi')],
        [121, C({ content: '' }).replace('"finish_reason":null', '"finish_reason":"length"')],
        [122, U(12, 4) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 4, tokenSource: 'usage' },
      also: (outcome) => {
        expectSeconds(outcome, outcome.ttftSeconds, 31);
        expectTpot(outcome, 30, 3);
      },
    },
    {
      id: 'R-003',
      title: 'several tokens a chunk: the span is divided by tokens, and the stream is not called buffered',
      steps: stream([...interval4, [330, F('length') + D]]),
      verdict: 'good',
      outcome: { outputTokens: 40, firstChunkTokens: 1, tokenChunks: 11, buffered: false },
      also: (outcome) => expectTpot(outcome, 300 / 39, 39),
    },
    {
      id: 'R-009',
      title: 'the model of the outcome is the one that was asked for, whatever the answer says',
      target: { model: 'prod-chat' },
      steps: GOOD_STREAM,
      verdict: 'good',
      outcome: { model: 'prod-chat' },
    },
    {
      id: 'R-010',
      title: 'an answer that is cut silently is good with its true count',
      steps: stream([
        [0, token('A')],
        [20, token('B') + F('length') + U(9, 1021) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 1021 },
    },
    {
      id: 'R-010 demanded',
      title: 'fewer tokens than the profile demands is not what was expected',
      profile: { expect: { minTokens: 16, pattern: null, answer: null, detectDegenerate: false } },
      steps: stream([
        [0, token('A')],
        [20, token('B') + F('length') + U(9, 2) + D],
      ]),
      verdict: 'expectation_failed',
      outcome: { outputTokens: 2, terminal: true },
      also: (outcome) => {
        expectSeconds(outcome, outcome.ttftSeconds, 0);
        expectSeconds(outcome, outcome.durationSeconds, 20);
      },
    },
    {
      id: 'R-012',
      title: 'an engine that stands still behind a live server is a first-token timeout',
      steps: openStream([[5, ROLE]]),
      profile: { deadlines: { firstTokenSeconds: seconds(0.25) } },
      verdict: 'ttft_timeout',
      also: (outcome) => expectSeconds(outcome, outcome.ttfeSeconds, 5),
    },
    {
      id: 'queue full in stream',
      title: 'SGLang with a full queue: 503 inside a stream is overloaded',
      steps: stream([
        [
          0,
          `data: {"error":{"object":"error","message":"The request queue is full.","type":"503","code":503}}\n\n${D}`,
        ],
      ]),
      verdict: 'overloaded',
    },
    {
      id: 'queue full',
      title: 'SGLang with a full queue: a real 503 is overloaded',
      steps: respondJson(503, {
        object: 'error',
        message: 'The request queue is full.',
        type: 'ServiceUnavailable',
        code: 503,
      }),
      verdict: 'overloaded',
    },
    {
      id: 'max_model_len',
      title: 'vLLM that finds max_tokens too large refuses the value, not the parameter',
      steps: respondJson(400, {
        error: {
          message: 'max_tokens=99999 cannot be greater than max_model_len=2048. (parameter=max_tokens, value=99999)',
          type: 'BadRequestError',
          param: 'max_tokens',
          code: 400,
        },
      }),
      verdict: 'bad_request',
      outcome: { refusedParameters: [] },
    },
    {
      id: 'unknown field',
      title: 'Dynamo that does not know a field has it left out afterwards',
      profile: { ignoreEos: true },
      steps: respondJson(400, {
        message: 'Validation: Unsupported parameter(s): `ignore_eos`',
        type: 'Bad Request',
        code: 400,
      }),
      verdict: 'bad_request',
      outcome: { refusedParameters: ['ignore_eos'] },
      detail: { parameter: 'ignore_eos' },
    },
  ]);
});

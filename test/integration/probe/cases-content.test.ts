import { describe, expect } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { C, chunk, D, F, LAST_CHUNK, openStream, type Part, stream, token, U } from '../../support/stream-text.ts';
import { expectSeconds, expectTpot, NEVER_DISTURBED, wireCases } from '../../support/wire-case.ts';

const ROLE = C({ role: 'assistant', content: '' });
const HIDDEN = { completion_tokens_details: { reasoning_tokens: 8 } };
const usageChunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
const counted = (text: string, total: number): string =>
  usageChunk({
    choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
    usage: { prompt_tokens: 9, completion_tokens: total },
  });
const every = (ms: number, from: number, texts: readonly string[]): Part[] =>
  texts.map((text, index) => [from + ms * index, text]);

describe('kind B: content of the stream', () => {
  wireCases([
    {
      id: 'G-022',
      title: 'an end marker alone is an empty stream',
      steps: stream([[5, D]]),
      verdict: 'empty_stream',
      outcome: { ttftSeconds: null },
    },
    {
      id: 'G-022 role',
      title: 'a role and the end marker are an empty stream',
      steps: stream([
        [0, ROLE],
        [5, D],
      ]),
      verdict: 'empty_stream',
      outcome: { ttftSeconds: null },
      also: ({ ttfeSeconds }) => expect(ttfeSeconds).not.toBeNull(),
    },
    ...(['abort', 'error'] as const).map((reason) => ({
      id: `G-023 ${reason}`,
      title: `a stream that the engine ends with ${reason} has failed`,
      steps: stream([
        [0, token('A') + token('B')],
        [5, F(reason) + D],
      ]),
      verdict: 'engine_abort' as const,
      outcome: { tokenChunks: 2, finishReason: reason },
    })),
    ...['content_filter', 'recitation'].map((reason) => ({
      id: `G-023 ${reason}`,
      title: `${reason} is a reason of its own, on our side`,
      steps: stream([
        [0, token('A')],
        [5, F(reason) + D],
      ]),
      verdict: 'content_filtered' as const,
    })),
    {
      id: 'G-023 unknown',
      title: 'an unknown finish reason ends the stream as "other"',
      steps: stream([
        [0, token('A')],
        [5, F('bananas') + D],
      ]),
      verdict: 'good',
      outcome: { finishReason: 'other' },
    },
    {
      id: 'G-025',
      title: 'an end marker after a token needs no finish reason',
      steps: stream([
        [0, token('A') + token('B') + token('')],
        [5, D],
      ]),
      verdict: 'good',
      outcome: { finishReason: null, terminal: true },
    },
    {
      id: 'G-026',
      title: 'the chunk with the finish reason may hold the only token',
      steps: stream([
        [100, usageChunk({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'length' }] }) + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 1 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 100),
    },
    {
      id: 'G-028',
      title: 'usage after the finish reason is read, and moves no time',
      steps: stream([
        [40, token('A')],
        [70, token('B')],
        [100, F('stop')],
        [300, U(9, 2)],
        [310, D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 2, tokenSource: 'usage', promptTokens: 9 },
      also: (outcome) => {
        expectTpot(outcome, 30, 1);
        expectSeconds(outcome, outcome.durationSeconds, 100);
      },
    },
    {
      id: 'G-029',
      title: 'usage in a chunk with choices is no token and un-finishes nothing',
      steps: stream([
        [0, token('A') + token('B') + F('stop')],
        [
          5,
          usageChunk({
            choices: [{ index: 0, delta: { content: null, role: 'assistant' }, finish_reason: null }],
            usage: { completion_tokens: 2, prompt_tokens: 9 },
          }) + D,
        ],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 2, tokenChunks: 2, tokenSource: 'usage', finishReason: 'stop' },
    },
    {
      id: 'G-029 inside',
      title: 'usage inside the choice is found',
      steps: stream([
        [0, token('A') + token('B')],
        [
          5,
          usageChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'length', usage: { completion_tokens: 2 } }] }),
        ],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 2, tokenSource: 'usage' },
    },
    {
      id: 'G-031',
      title: 'a usage of zeros is no usage: chunks are counted, and said to be',
      steps: stream([
        ...every(
          20,
          0,
          Array.from({ length: 8 }, () =>
            usageChunk({
              choices: [{ index: 0, delta: { content: 'A' }, finish_reason: null }],
              usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
            }),
          ),
        ),
        [160, F('stop') + D],
      ]),
      verdict: 'good',
      outcome: { tokenSource: 'chunks', outputTokens: 8, promptTokens: null },
    },
    {
      id: 'G-032',
      title: 'tokens of the first chunk are not divided by',
      steps: stream([
        [100, counted('AAAA', 4)],
        ...every(
          50,
          150,
          [5, 6, 7, 8, 9, 10].map((total) => counted('A', total)),
        ),
        [410, F('length') + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 10, firstChunkTokens: 4 },
      also: (outcome) => expectTpot(outcome, 50, 6),
    },
    {
      id: 'G-034',
      title: 'a role frame is the first event and not the first token',
      steps: stream([
        [30, ROLE],
        [330, token('A')],
        [350, token('B')],
        [370, F('stop') + U(5000, 2) + D],
      ]),
      verdict: 'good',
      outcome: { promptTokens: 5000 },
      also: (outcome) => {
        expectSeconds(outcome, outcome.ttfeSeconds, 30);
        expectSeconds(outcome, outcome.ttftSeconds, 330);
        expect(outcome.gapsSeconds).toHaveLength(1);
        expectTpot(outcome, 20, 1);
      },
    },
    {
      id: 'G-035',
      title: 'reasoning is the first token, and the first visible content has a time of its own',
      steps: stream([
        [120, C({ role: null, content: null, reasoning: 't' })],
        ...every(
          10,
          130,
          Array.from({ length: 19 }, () => C({ reasoning_content: 't', content: null })),
        ),
        [320, token('A')],
        [330, F('stop') + U(20, 21) + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 21 },
      also: (outcome) => {
        expectSeconds(outcome, outcome.ttftSeconds, 120);
        expectSeconds(outcome, outcome.ttfcSeconds, 320);
        expectTpot(outcome, 10, 20);
      },
    },
    {
      id: 'G-037',
      title: 'a newline and a space are tokens',
      steps: stream([
        [50, token('\n')],
        [80, token(' ')],
        [110, token('A') + F('stop') + U(9, 3) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 3, tokenChunks: 3 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 50),
    },
    {
      id: 'G-037 blank',
      title: 'an answer of nothing but blanks is available',
      steps: stream([
        [0, token(' ') + token('\n')],
        [5, F('stop') + D],
      ]),
      verdict: 'good',
    },
    {
      id: 'G-038',
      title: 'hidden reasoning that uses up max_tokens is our fault, and says so',
      steps: stream([
        [0, ROLE],
        [5, F('length') + U(9, 8, HIDDEN) + D],
      ]),
      verdict: 'no_visible_output',
      outcome: { ttftSeconds: null, outputTokens: 8 },
      also: (outcome) => {
        if (outcome.outcome === 'good') return;
        expect(outcome.failure.side).toBe('probe');
        expect(outcome.failure.message).toContain('raise max_tokens');
      },
    },
    {
      id: 'G-040',
      title: 'one token has a TTFT, and neither TPOT nor gap',
      steps: stream([
        [30, token('A')],
        [31, F('length') + U(9, 1) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 1, tpotSeconds: null, gapsSeconds: [], longestGapSeconds: null },
    },
    {
      id: 'G-041',
      title: 'an answer that a proxy releases in one lump is buffered: the TTFT stays, gaps and TPOT do not',
      steps: stream([[300, Array.from({ length: 49 }, () => token('A')).join('') + F('stop') + U(9, 49) + D]], 300),
      disturbedAfterSeconds: NEVER_DISTURBED,
      verdict: 'good',
      outcome: { buffered: true, tpotSeconds: null, outputTokens: 49 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 300),
    },
    {
      id: 'G-043',
      title: 'pings neither count as first token nor keep the first-token deadline off',
      target: { api: 'messages' },
      steps: openStream(
        every(
          60,
          60,
          Array.from({ length: 8 }, () => 'event: ping\ndata: {"type":"ping"}\n\n'),
        ),
      ),
      profile: { deadlines: { firstTokenSeconds: seconds(0.3) } },
      verdict: 'ttft_timeout',
      outcome: { ttftSeconds: null, tokenChunks: 0 },
      detail: { keepalive_only: true, limit_seconds: 0.3 },
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 300),
    },
    {
      id: 'G-044',
      title: "Anthropic's error event is judged by its type, and keeps the TTFT",
      target: { api: 'messages' },
      steps: stream([
        [
          0,
          'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
        ],
        [
          40,
          'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A"}}\n\n',
        ],
        [60, 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"x"}}\n\n'],
      ]),
      verdict: 'overloaded',
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 40),
    },
    {
      id: 'G-046',
      title: 'with several tokens a chunk TPOT goes by tokens and gaps by chunks',
      steps: stream([
        ...every(30, 0, [token('A'), ...Array.from({ length: 9 }, () => token('BBBB'))]),
        [280, F('length') + U(9, 37) + D],
      ]),
      verdict: 'good',
      outcome: { outputTokens: 37, tokenChunks: 10, buffered: false },
      also: (outcome) => {
        expect(outcome.gapsSeconds).toHaveLength(9);
        expectTpot(outcome, 270 / 36, 36);
      },
    },
    {
      id: 'G-047',
      title: 'silence after tokens is stalled at the deadline between tokens, and the socket goes',
      steps: openStream(every(30, 0, [token('A'), token('B'), token('C')])),
      profile: { deadlines: { betweenTokensSeconds: seconds(0.3) } },
      verdict: 'stalled',
      outcome: { tokenChunks: 3 },
      also: (outcome) => {
        expectSeconds(outcome, outcome.durationSeconds, 360);
        expect(outcome.ttftSeconds).not.toBeNull();
      },
    },
    {
      id: 'G-049',
      title: 'an orderly end without any marker is truncated',
      steps: stream([[0, token('A') + token('B')]]),
      verdict: 'truncated',
      outcome: { tokenChunks: 2, terminal: false },
    },
    ...(['FIN', 'RST'] as const).map((act) => ({
      id: `G-050 ${act}`,
      title: `a body that ends with the connection is truncated (${act})`,
      steps: [
        { atMs: 0, act: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n' },
        { atMs: 0, act: token('A') + token('B') },
        { atMs: 50, act },
      ],
      verdict: 'truncated' as const,
    })),
    {
      id: 'G-052',
      title: 'one broken event is counted and passed over',
      steps: stream([
        [0, token('A')],
        [20, 'data: {"choices":[{"index":0,"del\n\n'],
        [40, token('B')],
        [60, F('stop') + U(9, 3) + D],
      ]),
      verdict: 'good',
      outcome: { nonconformingEvents: 1, outputTokens: 3 },
    },
    {
      id: 'G-053',
      title: 'a fallback of the gateway is flagged',
      steps: [
        {
          atMs: 0,
          act: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nx-litellm-attempted-fallbacks: 1\r\nx-litellm-model-id: backup-7\r\nTransfer-Encoding: chunked\r\n\r\n',
        },
        { atMs: 0, act: chunk(token('A') + F('stop') + D) },
        { atMs: 0, act: LAST_CHUNK },
      ],
      verdict: 'good',
      outcome: { fallback: true, model: 'm' },
      also: (outcome) => expect(JSON.stringify(outcome)).not.toContain('backup-7'),
    },
    {
      id: 'G-055',
      title: 'chunks without choices and of other choices are counted and ignored',
      steps: stream([
        [0, 'data: {"object":"chat.completion.chunk"}\n\ndata: {"choices":null}\n\n'],
        [5, 'data: {"choices":[{"index":1,"delta":{"content":"X"}}]}\n\n'],
        [10, token('A') + F('stop') + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 1 },
      also: ({ nonconformingEvents }) => expect(nonconformingEvents).toBeGreaterThan(0),
    },
    {
      id: 'error after the end',
      title: 'an error object after the finish reason makes the probe fail',
      steps: stream([
        [0, token('A') + F('stop')],
        [10, 'data: {"error":{"message":"x","code":500}}\n\n'],
        [20, D],
      ]),
      verdict: 'stream_error',
    },
    {
      id: 'lost after the end',
      title: 'a connection that breaks after the finish reason does no harm',
      steps: [...openStream([[0, token('A') + F('stop')]]), { atMs: 30, act: 'RST' }],
      verdict: 'good',
    },
    {
      id: 'total',
      title: 'tokens that never end meet the deadline of the whole probe',
      steps: openStream(
        every(
          25,
          0,
          Array.from({ length: 40 }, () => token('A')),
        ),
      ),
      profile: { deadlines: { totalSeconds: seconds(0.4) } },
      verdict: 'total_timeout',
      detail: { limit_seconds: 0.4 },
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 400),
    },
    {
      id: 'foreign',
      title: 'a stream of other events than the API’s is a protocol error',
      steps: stream([[0, 'data: {"hello":1}\n\ndata: {"hello":2}\n\n']]),
      verdict: 'protocol_error',
    },
  ]);
});

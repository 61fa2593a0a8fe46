import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';
import { C, chunk, D, EVENT_STREAM, F, openStream, respond, stream, token, U } from '../../support/stream-text.ts';
import { expectSeconds, expectSpan, NEVER_DISTURBED, wireCases } from '../../support/wire-case.ts';

const SSE = { 'Content-Type': 'text/event-stream' };
const content = (text: string): string => `data: {"choices":[{"delta":{"content":"${text}"}}]}`;

/** What the endless servers of this file wrote. */
const poured: Socket[] = [];

/** Answers the first request with `piece` for ever, as fast as it is read. */
const endless = (piece: string) => (socket: Socket) => {
  const body = chunk(piece);
  const pour = (): void => {
    while (!socket.destroyed && socket.write(body));
  };
  poured.push(socket);
  socket.once('data', () => {
    socket.write(EVENT_STREAM);
    socket.on('drain', pour);
    pour();
  });
  return true;
};

const expectBounded = (outcome: ProbeOutcome): void => {
  // The limit of the stream is 16 MiB; the rest lies in the buffers of the two sockets.
  expect(poured.at(-1)?.bytesWritten).toBeLessThan(24 * 1024 * 1024);
  expect(outcome.timeline.length).toBeLessThanOrEqual(256);
  expect(JSON.stringify(outcome).length).toBeLessThan(100_000);
};

const twentyTokens = Array.from({ length: 20 }, (_, index) => token(`w${index} `)).join('') + F('stop') + U(9, 20) + D;
const zipped = gzipSync(twentyTokens);

const multibyte = Buffer.from(token('好🌍'));
const cutAt = multibyte.indexOf(Buffer.from('好')) + 1;

describe('kind A: framing of the stream', () => {
  wireCases([
    {
      id: 'G-001',
      title: 'a CR and its LF in two network chunks are one line end',
      steps: stream([
        [0, 'data: {"choices":[{"index":0,\r'],
        [10, '\ndata: "delta":{"content":"A"},"finish_reason":null}]}\r\n\r'],
        [20, `\n${F('stop')}${D}`],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 1, nonconformingEvents: 0 },
    },
    {
      id: 'G-002',
      title: 'mixed line ends lose no event',
      steps: stream([[0, `${content('A')}\r\n\n${content('B')}\n\r\ndata: [DONE]\r\r`]]),
      verdict: 'good',
      outcome: { tokenChunks: 2, terminal: true },
    },
    {
      id: 'G-004',
      title: 'a keep-alive comment makes no event and hides no gap',
      steps: stream([
        [0, `id: 7\n${token('A')}`],
        [150, ': ping\n\n'],
        [160, `id: 8\n${token('B')}${F('stop')}${D}`],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 2, nonconformingEvents: 0 },
      also: (outcome) => {
        expect(outcome.gapsSeconds).toHaveLength(1);
        expectSpan(outcome, outcome.longestGapSeconds, 160);
      },
    },
    {
      id: 'G-005',
      title: 'comments that a gateway wraps as data are no tokens, and are counted',
      steps: stream([
        [100, 'data: : STILL WORKING\n\n'],
        [200, 'data: : STILL WORKING\n\n'],
        [260, token('A') + F('stop')],
      ]),
      verdict: 'good',
      outcome: { nonconformingEvents: 2, tokenChunks: 1 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 260),
    },
    {
      id: 'G-007',
      title: 'a character that is cut by chunk borders stays whole, and its token has the stamp of its last part',
      steps: stream([
        [0, multibyte.subarray(0, cutAt)],
        [60, multibyte.subarray(cutAt, cutAt + 4)],
        [120, Buffer.concat([multibyte.subarray(cutAt + 4), Buffer.from(F('stop') + D)])],
      ]),
      profile: { expect: { minTokens: null, pattern: /^好🌍$/u, answer: null, detectDegenerate: true } },
      verdict: 'good',
      outcome: { tokenChunks: 1, nonconformingEvents: 0 },
      also: (outcome) => expectSeconds(outcome, outcome.ttftSeconds, 120),
    },
    {
      id: 'G-007 half',
      title: 'half a character at the end is truncated',
      steps: stream([
        [0, token('A')],
        [10, multibyte.subarray(0, cutAt)],
      ]),
      verdict: 'truncated',
      detail: { cut: true },
    },
    {
      id: 'G-008',
      title: 'a byte order mark does not hide the first token',
      steps: stream([
        [0, Buffer.from([0xef])],
        [5, Buffer.from([0xbb])],
        [10, Buffer.from([0xbf])],
        [15, token('A') + F('stop') + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 1, nonconformingEvents: 0 },
    },
    {
      id: 'G-010',
      title: 'a finish reason and an orderly end need no [DONE]',
      steps: stream([[0, C({ role: 'assistant', content: '' }) + token('A') + token('B') + F('length')]]),
      verdict: 'good',
      outcome: { finishReason: 'length', tokenChunks: 2 },
    },
    ...[
      { id: 'G-011 line', title: 'a line without an end', piece: 'x'.repeat(4096) },
      { id: 'G-011 data', title: 'data lines without a blank line', piece: `data: ${'x'.repeat(1024)}\n` },
      { id: 'G-011 comment', title: 'a comment without an end', piece: `: ${'x'.repeat(4000)}` },
    ].map(({ piece, title, id }) => ({
      id,
      title: `${title} ends at the byte limit`,
      onConnection: endless(piece),
      verdict: 'response_too_large' as const,
      also: expectBounded,
    })),
    {
      id: 'G-011 tokens',
      title: 'endless tokens end at the limit of the stream, and only so many entries of the timeline are kept',
      onConnection: endless(token('A'.repeat(30_000))),
      verdict: 'response_too_large',
      also: expectBounded,
    },
    {
      id: 'G-011 stream',
      title: 'endless good events end at the limit of the stream',
      onConnection: endless(`data: {"choices":[],"x":"${'x'.repeat(60_000)}"}\n\n`),
      verdict: 'response_too_large',
      also: expectBounded,
    },
    {
      id: 'G-013',
      title: 'a field that is called error is an error, [DONE] or not',
      steps: stream([
        [0, 'error: {"code":500,"message":"synthetic slot failure","type":"server_error"}\n\n'],
        [5, D],
      ]),
      verdict: 'stream_error',
      detail: { error_status: 500 },
    },
    {
      id: 'G-014',
      title: 'one object over several data lines is one token',
      steps: stream([
        [0, 'data: {"choices":[{"index":0,\ndata: "delta":{"content":"A"},\ndata: "finish_reason":null}]}\n\n'],
        [5, F('stop') + D],
      ]),
      verdict: 'good',
      outcome: { tokenChunks: 1, nonconformingEvents: 0 },
    },
    {
      id: 'G-016',
      title: 'identity is asked for; a body that is compressed all the same is read, marked and found buffered',
      steps: respond(200, { ...SSE, 'Content-Encoding': 'gzip' }, zipped, 100),
      disturbedAfterSeconds: NEVER_DISTURBED,
      verdict: 'good',
      outcome: { compressed: true, buffered: true, tpotSeconds: null, outputTokens: 20 },
      also: (_, { server }) => expect(server.requests[0]?.headers['accept-encoding']).toBe('identity'),
    },
    {
      id: 'G-016 trailer',
      title: 'a compressed body that lacks its trailer is good when its terminal marker was decoded',
      steps: respond(200, { ...SSE, 'Content-Encoding': 'gzip' }, zipped.subarray(0, -8)),
      verdict: 'good',
      outcome: { compressed: true },
    },
    {
      id: 'G-016 cut',
      title: 'a compressed body that is cut before its terminal marker is truncated',
      steps: respond(
        200,
        { ...SSE, 'Content-Encoding': 'gzip' },
        gzipSync(token('A'.repeat(30)) + token('B')).subarray(0, -8),
      ),
      verdict: 'truncated',
    },
    {
      id: 'G-016 lie',
      title: 'a body that only claims to be compressed is a protocol error',
      steps: respond(200, { ...SSE, 'Content-Encoding': 'gzip' }, twentyTokens),
      verdict: 'protocol_error',
      detail: { encoding: 'gzip' },
    },
    {
      id: 'G-017',
      title: 'one complete answer instead of a stream has a duration, but no latency of tokens',
      steps: respond(
        200,
        { 'Content-Type': 'application/json' },
        '{"object":"chat.completion","choices":[{"message":{"content":"A B"},"finish_reason":"stop"}],"usage":{"completion_tokens":2}}',
        200,
      ),
      verdict: 'not_streaming',
      outcome: { ttftSeconds: null, tpotSeconds: null, gapsSeconds: [], outputTokens: null },
      also: (outcome) => expectSeconds(outcome, outcome.durationSeconds, 200),
    },
    {
      id: 'G-017 error',
      title: 'an error as the whole body is judged by the error',
      steps: respond(
        200,
        { 'Content-Type': 'application/json' },
        '{"error":{"message":"x","type":"overloaded_error"}}',
      ),
      verdict: 'overloaded',
    },
    ...[
      ['a', 'data: [DONE] \n\n'],
      ['b', 'event: done\ndata: [DONE]\n\n'],
      ['c', D + D],
      ['d', 'data: "[DONE]"\n\n'],
    ].map(([variant, marker]) => ({
      id: `G-019 ${variant}`,
      title: `the end marker may be written as ${JSON.stringify(marker)}`,
      steps: stream([
        [0, token('A') + F('stop')],
        [5, `${marker}${token('late')}`],
      ]),
      verdict: 'good' as const,
      outcome: { tokenChunks: 1, terminal: true },
    })),
    {
      id: 'G-020',
      title: 'a chunk with NaN in it is counted, and the stream goes on',
      steps: stream([
        [0, token('A')],
        [5, 'data: {"choices":[{"index":0,"delta":{"content":"B"},"logprobs":{"content":[{"logprob":NaN}]}}]}\n\n'],
        [10, F('stop') + U(9, 2) + D],
      ]),
      verdict: 'good',
      outcome: { nonconformingEvents: 1, outputTokens: 2 },
      also: (_, { server }) => expect(server.requests[0]?.body).not.toContain('logprobs'),
    },
    {
      id: 'open end',
      title: 'the probe is over a bounded time after the end marker although the body never ends',
      steps: openStream([[0, token('A') + F('stop') + D]]),
      verdict: 'good',
      also: (outcome) => {
        expectSeconds(outcome, outcome.durationSeconds, 0);
        expectSeconds(outcome, outcome.endedAt - (outcome.requestAt ?? 0), 2000);
      },
    },
  ]);
});

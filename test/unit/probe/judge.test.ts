import { describe, expect, test } from 'vitest';
import { chat } from '../../../src/probe/apis/chat.ts';
import { DEADLINE_REASONS } from '../../../src/probe/deadlines.ts';
import { type Ending, type ExchangeFacts, noExchange } from '../../../src/probe/exchange.ts';
import { judge } from '../../../src/probe/judge.ts';
import type { ReadingResult } from '../../../src/probe/reading.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { DEADLINES } from '../../support/probe-rig.ts';
import { C, D, F, token, U } from '../../support/stream-text.ts';

const CASE = { place: 'http://engine.test/', deadlines: DEADLINES, dialect: chat, parameters: [] };
const LIMITS = { eventBytes: 4096, streamBytes: 8192, timelineEntries: 16 };
const AT = monotonicInstant(100);

function read(text: string, ended = true): ReadingResult {
  const reading = chat.createReading(LIMITS);
  reading.push(AT, Buffer.from(text));
  if (ended) reading.end(AT);
  return reading.result();
}

const ENDED: Ending = { kind: 'ended' };
const STOPPED: Ending = { kind: 'stopped' };
const deadline = (reason: (typeof DEADLINE_REASONS)[number]): Ending => ({ kind: 'deadline', reason });
const broken = (code: string): Ending => ({
  kind: 'broken',
  failure: {
    step: 'response',
    error: Object.assign(new Error('x'), { code }),
    setting: null,
    attempts: [],
    proxyStatus: null,
    responseBytes: 1,
    closedByPeer: false,
    certificateExpiresAt: null,
  },
});

const facts = (fields: Partial<ExchangeFacts>): ExchangeFacts => ({ ...noExchange(AT), ...fields });
const streamed = (text: string, ending: Ending = ENDED): ExchangeFacts =>
  facts({ status: 200, kind: 'stream', result: read(text, ending.kind === 'ended'), ending });
const answered = (status: number, text: string, ending: Ending = ENDED, type = 'application/json'): ExchangeFacts =>
  facts({ status, headers: { 'content-type': type }, kind: status < 300 ? 'answer' : 'error', text, ending });

const ERROR = 'data: {"error":{"message":"x","code":500}}\n\n';
const GOOD = token('A') + F('stop') + D;
const HUGE = `data: ${'x'.repeat(5000)}\n\n`;

describe('the verdict', () => {
  test.each<[string, ExchangeFacts, FailureReason | null]>([
    ['without headers is the deadline that passed', facts({ ending: deadline('headers_timeout') }), 'headers_timeout'],
    ['without headers is what broke', facts({ ending: broken('ECONNRESET') }), 'connection_lost'],
    ['on a status holds however the body ended', answered(429, '', broken('ECONNRESET')), 'rate_limited'],
    ['on a status holds when the body never ended', answered(503, 'Loading model', { kind: 'graced' }), 'starting'],
    [
      'on a status holds when the body cannot be decoded',
      answered(500, '', { kind: 'encoding', encoding: 'zstd' }),
      'server_error',
    ],
    ['on a complete answer', answered(200, '{"choices":[]}'), 'not_streaming'],
    ['on a stream of another API', answered(200, '{"a":1}\n{"a":2}', ENDED, 'application/x-ndjson'), 'protocol_error'],
    ['on a web page', answered(200, '<html>', ENDED, 'text/html; charset=utf-8'), 'protocol_error'],
    ['on an answer that is an error', answered(200, '{"error":{"message":"x","code":429}}'), 'rate_limited'],
    ['on an answer that did not end in time', answered(200, '{', deadline('ttft_timeout')), 'ttft_timeout'],
    ['on an answer that broke off', answered(200, '{', broken('ECONNRESET')), 'connection_lost'],
    ['on an answer larger than what is read of it', answered(200, '{"a":"', STOPPED), 'not_streaming'],
    ['on an error before a terminal marker', streamed(token('A') + ERROR + D), 'stream_error'],
    ['on an error after a terminal marker', streamed(token('A') + F('stop') + ERROR, STOPPED), 'stream_error'],
    ['on an error and then a reset', streamed(token('A') + ERROR, broken('ECONNRESET')), 'stream_error'],
    ['on a limit, with tokens before it', streamed(token('A') + HUGE, STOPPED), 'response_too_large'],
    ['on silence after tokens', streamed(token('A'), deadline('stalled')), 'stalled'],
    ['on a reset after tokens', streamed(token('A'), broken('ECONNRESET')), 'connection_lost'],
    ['on an unreadable encoding', streamed('', { kind: 'encoding', encoding: 'gzip' }), 'protocol_error'],
    ['on a reset after the terminal marker', streamed(GOOD, broken('ECONNRESET')), null],
    ['on a body that goes on after the terminal marker', streamed(GOOD, { kind: 'graced' }), null],
    ['on an abort of the engine, with tokens and end', streamed(token('A') + F('abort') + D), 'engine_abort'],
    ['on an abort of the engine before the first token', streamed(F('abort') + D), 'engine_abort'],
    ['on a content filter', streamed(token('A') + F('content_filter')), 'content_filtered'],
    ['on tokens that cannot be seen', streamed(F('length') + U(9, 8) + D), 'no_visible_output'],
    ['on a stop without a token', streamed(F('stop') + D), 'empty_stream'],
    ['on an end without a token', streamed(D), 'empty_stream'],
    ['on nothing', streamed(''), 'empty_stream'],
    ['on foreign events', streamed('data: {"a":1}\n\n'), 'protocol_error'],
    ['on an orderly end without marker', streamed(token('A')), 'truncated'],
    ['on tokens and [DONE]', streamed(token('A') + D), null],
    ['on tokens and a finish reason', streamed(token('A') + F('length')), null],
    ['on reasoning alone', streamed(C({ reasoning_content: 'hm' }) + F('length')), null],
  ])('%s', (_, exchange, reason) => {
    expect(judge(exchange, CASE).failure?.reason ?? null).toBe(reason);
  });

  test.each(DEADLINE_REASONS)('on %s names its limit', (reason) => {
    const { failure } = judge(facts({ ending: deadline(reason) }), CASE);
    expect(failure?.reason).toBe(reason);
    expect(failure?.message).toContain(`within ${failure?.detail.limit_seconds} s`);
  });

  test('on an encoding does not repeat what the server calls it', () => {
    const { failure } = judge(streamed('', { kind: 'encoding', encoding: 'sk-secret "x"' }), CASE);
    expect(failure?.detail).toEqual({ encoding: 'other' });
  });

  test('hands on the error object that it found, for the parameters it may name', () => {
    expect(judge(streamed(ERROR, STOPPED), CASE).error?.status).toBe(500);
    expect(judge(answered(400, '{"error":{"param":"x"}}'), CASE).error?.param).toBe('x');
    expect(judge(streamed(GOOD), CASE).error).toBeNull();
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import type { ApiName } from '../../../src/probe/outcome.ts';
import type { ReadingResult } from '../../../src/probe/reading.ts';
import { atMs, cut, LIMITS, openReading } from '../../support/streams.ts';

const FOLDER = new URL('../../fixtures/streams/', import.meta.url).pathname;

/** What a recording must read as, taken by hand from its request and its usage chunk. */
interface Expected {
  readonly tokens: number;
  /** Default: usage. */
  readonly source?: 'chunks';
  /** Chunks that stand for tokens, from the first with text on. Default: `tokens`. */
  readonly chunks?: number;
  /** Tokens in front of and in the first chunk with text. Default 1; null: not known. */
  readonly first?: number | null;
  /** Events are 10 ms apart, so a token a chunk is 10 ms. Default 10. */
  readonly tpotMs?: number | null;
  readonly prompt?: number | null;
  readonly cached?: number;
  readonly finish?: string | null;
  readonly nonconforming?: number;
}

const noUsage = { source: 'chunks', first: null, prompt: null } as const;

const RECORDINGS: Readonly<Record<string, readonly [ApiName, Expected]>> = {
  'dynamo-1.6.1-mocker/s-chat': ['chat', { tokens: 8, prompt: 12, cached: 0 }],
  'dynamo-1.6.1-mocker/s-completion-ignoreeos': ['completions', { tokens: 8, prompt: 14, cached: 0 }],
  'dynamo-1.6.1-mocker/s-responses': ['responses', { tokens: 8, prompt: 12, cached: 0 }],
  'dynamo-1.6.1-mocker/u-min': ['completions', { tokens: 8, ...noUsage }],
  'sglang-0.5.23/chat_stream': ['chat', { tokens: 12, prompt: 16, cached: 0 }],
  'sglang-0.5.23/chat_stream_nousage': ['chat', { tokens: 5, ...noUsage }],
  'sglang-0.5.23/completions_n2_stream': [
    'completions',
    // The tokens of the other choice lie between ours.
    { tokens: 4, source: 'chunks', first: null, prompt: 14, cached: 13, nonconforming: 4, tpotMs: 20 },
  ],
  'sglang-0.5.23/completions_stream': ['completions', { tokens: 12, prompt: 14, cached: 0 }],
  'sglang-0.5.23/completions_stream_continuous': ['completions', { tokens: 6, prompt: 14, cached: 13 }],
  'sglang-0.5.23/completions_stream_nousage': ['completions', { tokens: 6, ...noUsage }],
  'sglang-0.5.23/generate_stream': ['sglang', { tokens: 8, prompt: 6, cached: 5 }],
  'vllm-0.10.2-v1/s-chat': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.10.2-v1/s-chat-continuous': ['chat', { tokens: 20, prompt: 24 }],
  'vllm-0.10.2-v1/s-completion': ['completions', { tokens: 40, prompt: 14 }],
  'vllm-0.10.2-v1/s-completion-1tok': ['completions', { tokens: 1, prompt: 14, tpotMs: null }],
  'vllm-0.10.2-v1/s-completion-continuous': ['completions', { tokens: 20, prompt: 14 }],
  'vllm-0.10.2-v1/s-completion-n2': [
    'completions',
    { tokens: 10, source: 'chunks', first: null, prompt: 14, nonconforming: 10, tpotMs: 170 / 9 },
  ],
  'vllm-0.10.2-v1/s-completion-nousage': ['completions', { tokens: 20, ...noUsage }],
  'vllm-0.10.2-v1/s-completion-stop': ['completions', { tokens: 15, prompt: 14, finish: 'stop' }],
  'vllm-0.10.2-v1/u-unknownfield': ['completions', { tokens: 5, prompt: 14 }],
  // The first chunk has an empty text and stands for a token: 39 chunks from the first text on, the second token.
  'vllm-0.32.0-dp2/s-chat': ['chat', { tokens: 40, chunks: 39, first: 2, prompt: 24 }],
  'vllm-0.32.0-dp2/s-completion': ['completions', { tokens: 40, chunks: 39, first: 2, prompt: 14 }],
  'vllm-0.32.0-hang/s-during-stop': ['completions', { tokens: 20, prompt: 14 }],
  // The reader was slower than the engine at times: 1800 tokens in 1793 chunks, 68 of them without text.
  'vllm-0.32.0-hang/s-stop': ['completions', { tokens: 1800, chunks: 1793, prompt: 14, tpotMs: 17_920 / 1799 }],
  'vllm-0.32.0-interval4/s-chat': [
    'chat',
    // Up to 4 tokens a chunk, the first without text: true is (40 - 5) tokens in 90 ms, the estimate is near it.
    { tokens: 40, chunks: 10, first: null, prompt: 24, tpotMs: 90 / 35.1 },
  ],
  'vllm-0.32.0-interval4/s-chat-continuous': ['chat', { tokens: 40, chunks: 11, prompt: 24, tpotMs: 100 / 39 }],
  'vllm-0.32.0-interval4/s-completion': [
    'completions',
    { tokens: 40, chunks: 11, first: null, prompt: 14, tpotMs: 100 / 39 },
  ],
  'vllm-0.32.0-interval4/s-completion-7tok': [
    'completions',
    { tokens: 7, chunks: 3, first: null, prompt: 14, tpotMs: 20 / 6 },
  ],
  'vllm-0.32.0-interval4/s-completion-continuous': [
    'completions',
    { tokens: 40, chunks: 10, first: 5, prompt: 14, tpotMs: 90 / 35 },
  ],
  'vllm-0.32.0-interval4/s-completion-logprobs': [
    'completions',
    { tokens: 10, chunks: 4, first: null, prompt: 14, tpotMs: 30 / 9 },
  ],
  'vllm-0.32.0-interval4/s-completion-tokenids': [
    'completions',
    { tokens: 10, chunks: 4, first: null, prompt: 14, tpotMs: 30 / 9 },
  ],
  'vllm-0.32.0-noprefix/s-chat': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.32.0-noprefix/s-completion': ['completions', { tokens: 40, chunks: 39, first: 2, prompt: 14 }],
  'vllm-0.32.0-plain/s-abort': ['completions', { tokens: 154, ...noUsage, finish: null, tpotMs: 1570 / 153 }],
  'vllm-0.32.0-plain/s-chat': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.32.0-plain/s-chat-1tok': ['chat', { tokens: 1, prompt: 24, tpotMs: null }],
  'vllm-0.32.0-plain/s-chat-continuous': ['chat', { tokens: 20, prompt: 24 }],
  'vllm-0.32.0-plain/s-chat-ignore_eos': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.32.0-plain/s-chat-logprobs': ['chat', { tokens: 10, prompt: 24 }],
  'vllm-0.32.0-plain/s-chat-max_completion_tokens': ['chat', { tokens: 20, prompt: 24 }],
  'vllm-0.32.0-plain/s-chat-n2': [
    'chat',
    { tokens: 19, source: 'chunks', first: null, prompt: 24, nonconforming: 21, tpotMs: 370 / 18 },
  ],
  // The stop string ends the answer: its token has no text, and comes with the finish reason.
  'vllm-0.32.0-plain/s-chat-stop': ['chat', { tokens: 2, prompt: 24, finish: 'stop' }],
  'vllm-0.32.0-plain/s-completion': ['completions', { tokens: 40, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-1tok': ['completions', { tokens: 1, prompt: 14, tpotMs: null }],
  'vllm-0.32.0-plain/s-completion-2prompts': [
    'completions',
    { tokens: 10, source: 'chunks', first: null, prompt: 7, nonconforming: 10, tpotMs: 20 },
  ],
  'vllm-0.32.0-plain/s-completion-continuous': ['completions', { tokens: 20, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-echo': ['completions', { tokens: 10, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-ignore_eos': ['completions', { tokens: 40, chunks: 39, first: 2, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-logprobs': ['completions', { tokens: 10, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-min_tokens': ['completions', { tokens: 40, chunks: 39, first: 2, prompt: 14 }],
  'vllm-0.32.0-plain/s-completion-n2': [
    'completions',
    { tokens: 18, source: 'chunks', first: null, prompt: 14, nonconforming: 20, tpotMs: 370 / 17 },
  ],
  'vllm-0.32.0-plain/s-completion-nousage': ['completions', { tokens: 19, ...noUsage }],
  'vllm-0.32.0-plain/s-completion-stop': ['completions', { tokens: 2, prompt: 14, finish: 'stop' }],
  'vllm-0.32.0-plain/s-completion-tokenids': ['completions', { tokens: 10, prompt: 14 }],
  'vllm-0.32.0-plain/u-unknownfield': ['completions', { tokens: 5, prompt: 14 }],
  'vllm-0.32.0-plain/u-unknownfield-chat': ['chat', { tokens: 5, prompt: 24 }],
  'vllm-0.32.0-preempt/s-chat': ['chat', { tokens: 40, chunks: 39, first: 2, prompt: 24 }],
  'vllm-0.32.0-preempt/s-completion': ['completions', { tokens: 40, prompt: 14 }],
  'vllm-0.8.5-v0/s-abort': ['completions', { tokens: 10, ...noUsage, finish: null }],
  'vllm-0.8.5-v0/s-chat': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.8.5-v0/s-chat-continuous': ['chat', { tokens: 20, prompt: 24 }],
  'vllm-0.8.5-v0/s-completion': ['completions', { tokens: 40, prompt: 14 }],
  // One token, and it has no text: generated, but nothing to time.
  'vllm-0.8.5-v0/s-completion-1tok': ['completions', { tokens: 1, chunks: 0, first: null, prompt: 14, tpotMs: null }],
  'vllm-0.8.5-v0/s-completion-continuous': ['completions', { tokens: 20, chunks: 17, first: 4, prompt: 14 }],
  'vllm-0.8.5-v0/s-completion-n2': [
    'completions',
    { tokens: 8, source: 'chunks', first: null, prompt: 14, nonconforming: 10, tpotMs: 160 / 7 },
  ],
  'vllm-0.8.5-v0/s-completion-nousage': ['completions', { tokens: 19, ...noUsage, tpotMs: 190 / 18 }],
  'vllm-0.8.5-v0/s-completion-stop': ['completions', { tokens: 10, prompt: 14, finish: 'stop' }],
  'vllm-0.8.5-v0/u-unknownfield': ['completions', { tokens: 5, prompt: 14 }],
  'vllm-0.8.5-v0-hidden/s-abort': ['completions', { tokens: 290, ...noUsage, finish: null, tpotMs: 2980 / 289 }],
  'vllm-0.8.5-v0-hidden/s-chat': ['chat', { tokens: 40, prompt: 24 }],
  'vllm-0.8.5-v0-hidden/s-chat-continuous': ['chat', { tokens: 20, prompt: 24 }],
  'vllm-0.8.5-v0-hidden/s-completion': ['completions', { tokens: 40, prompt: 14 }],
  'vllm-0.8.5-v0-hidden/s-completion-1tok': ['completions', { tokens: 1, prompt: 14, tpotMs: null }],
  'vllm-0.8.5-v0-hidden/s-completion-continuous': ['completions', { tokens: 20, prompt: 14 }],
  'vllm-0.8.5-v0-hidden/s-completion-n2': [
    'completions',
    { tokens: 9, source: 'chunks', first: null, prompt: 14, nonconforming: 10, tpotMs: 20 },
  ],
  'vllm-0.8.5-v0-hidden/s-completion-nousage': ['completions', { tokens: 20, ...noUsage }],
  'vllm-0.8.5-v0-hidden/s-completion-stop': ['completions', { tokens: 2, prompt: 14, finish: 'stop' }],
  'vllm-0.8.5-v0-hidden/u-unknownfield': ['completions', { tokens: 5, chunks: 4, first: 2, prompt: 14 }],
};

const NAMES = Object.keys(RECORDINGS);
const bytesOf = (name: string): Uint8Array => readFileSync(join(FOLDER, `${name}.body`));

/** Where one write of the server ends and the next begins. */
function writes(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  for (let index = 1; index < bytes.length; index += 1) {
    if (bytes[index] === 10 && bytes[index - 1] === 10) ends.push(index + 1);
  }
  return ends;
}

/** Replays with 10 ms between writes and any further cuts inside them. */
function replay(api: ApiName, bytes: Uint8Array, furtherCuts: readonly number[]): ReadingResult {
  const reading = openReading(api);
  const ends = writes(bytes);
  let offset = 0;
  let write = 0;
  for (const piece of cut(bytes, [...ends, ...furtherCuts])) {
    while (offset >= (ends[write] ?? Number.POSITIVE_INFINITY)) write += 1;
    reading.push(atMs(100 + 10 * write), piece);
    offset += piece.length;
  }
  reading.end(atMs(100 + 10 * write));
  return reading.result();
}

/** The same cuts in every run. */
function someCuts(length: number, seed: number): number[] {
  let state = seed * 2_654_435_761 + 1;
  return Array.from({ length: 60 }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % length;
  });
}

describe('recorded streams', () => {
  it('every streamed recording has its entry in the table', () => {
    const bodies = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.body'));
    const streams = bodies.filter((file) => /^(data|event):/.test(readFileSync(join(FOLDER, file), 'utf8')));
    expect(streams.map((file) => file.replace(/\.body$/, '')).sort()).toEqual([...NAMES].sort());
  });

  it.each(NAMES)('%s reads as its request and its usage say', (name) => {
    const [api, expected] = RECORDINGS[name] ?? ['chat', { tokens: -1 }];
    const result = replay(api, bytesOf(name), []);
    const finish = expected.finish === undefined ? 'length' : expected.finish;
    expect({
      tokens: result.outputTokens,
      source: result.tokenSource,
      chunks: result.tokenChunks,
      first: result.firstChunkTokens,
      prompt: result.promptTokens,
      cached: result.cachedPromptTokens,
      finish: result.finishReason,
      terminal: result.terminal,
      error: result.error,
      fault: result.fault,
      nonconforming: result.nonconformingEvents,
      buffered: result.buffered,
    }).toEqual({
      tokens: expected.tokens,
      source: expected.source ?? 'usage',
      chunks: expected.chunks ?? expected.tokens,
      first: expected.first === undefined ? 1 : expected.first,
      prompt: expected.prompt ?? null,
      cached: expected.cached ?? null,
      finish,
      terminal: finish !== null,
      error: null,
      fault: null,
      nonconforming: expected.nonconforming ?? 0,
      buffered: false,
    });
    const tpotMs = result.tpotSeconds === null ? null : result.tpotSeconds * 1000;
    if (expected.tpotMs === null) expect(tpotMs).toBeNull();
    else expect(tpotMs).toBeCloseTo(expected.tpotMs ?? 10, 6);
    expect(result.gapsSeconds).toHaveLength(Math.max(0, result.tokenChunks - 1));
  });

  it.each(NAMES)('%s reads the same however its writes are cut', (name) => {
    const [api] = RECORDINGS[name] ?? ['chat'];
    const bytes = bytesOf(name);
    const whole = replay(api, bytes, []);
    for (const seed of [1, 2, 3]) expect(replay(api, bytes, someCuts(bytes.length, seed))).toEqual(whole);
    // Half a megabyte in single bytes proves nothing that the shorter ones do not.
    if (bytes.length < 100_000) expect(replay(api, bytes, Array.from(bytes.keys()))).toEqual(whole);
  });

  it.each(NAMES)('%s says the same in one piece, but for the times', (name) => {
    const [api] = RECORDINGS[name] ?? ['chat'];
    const bytes = bytesOf(name);
    const reading = openReading(api);
    reading.push(atMs(100), bytes);
    reading.end(atMs(100));
    const { outputTokens, tokenChunks, textHash, finishReason, tpotSeconds } = reading.result();
    const whole = replay(api, bytes, []);
    expect({ outputTokens, tokenChunks, textHash, finishReason }).toEqual({
      outputTokens: whole.outputTokens,
      tokenChunks: whole.tokenChunks,
      textHash: whole.textHash,
      finishReason: whole.finishReason,
    });
    expect(tpotSeconds).toBeNull();
  });
});

describe('recorded refusals', () => {
  const refusals = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.body') && readFileSync(join(FOLDER, file), 'utf8').startsWith('{'),
  );

  it('are there', () => {
    expect(refusals.length).toBeGreaterThan(40);
  });

  it.each(refusals)('%s carries an error whose status, where it has one, is a client error or 500', (file) => {
    const error = apiDialect('completions').readErrorBody(readFileSync(join(FOLDER, file), 'utf8'));
    expect(error?.text).not.toBe('');
    const withoutStatus = /generate_empty|prompt_too_long_generate|err_method/.test(file);
    if (withoutStatus) expect(error?.status).toBeNull();
    else expect(error?.status).toSatisfy((status: number) => status === 400 || status === 404 || status === 500);
  });

  it.each(refusals)('%s read as a stream is no token and never good', (file) => {
    const reading = apiDialect('chat').createReading(LIMITS);
    reading.push(atMs(1), readFileSync(join(FOLDER, file)));
    reading.end(atMs(2));
    expect(reading.result()).toMatchObject({ terminal: false, tokenChunks: 0, outputTokens: null });
  });
});

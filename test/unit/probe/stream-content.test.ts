import { describe, expect, it } from 'vitest';
import {
  content,
  DONE,
  delta,
  event,
  finish,
  read,
  readAll,
  type Step,
  toMs,
  usage,
  usageOf,
} from '../../support/streams.ts';

const ROLE = delta({ role: 'assistant', content: '' });
const good = { terminal: true, error: null, fault: null };
const ms = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 1e6) / 1000);

describe('what is a token', () => {
  it.each([
    ['[DONE] alone', DONE],
    ['a role frame and [DONE]', ROLE + DONE],
  ])('G-022: %s is an end without a token', (_, body) => {
    const { result } = read([[5, body]]);
    expect(result).toMatchObject({
      terminal: true,
      tokenChunks: 0,
      outputTokens: null,
      tokenSource: null,
      finishReason: null,
      firstTokenAt: null,
      tpotSeconds: null,
      textHash: null,
    });
    expect(toMs(result.firstEventAt)).toBe(5);
  });

  it('G-034: the frame that announces the role is an event, but no token and no gap', () => {
    const { result, progress } = read([
      [90, ROLE],
      [1300, content('A')],
      [1320, content('B')],
      [1340, finish('stop') + usage(5000, 2) + DONE],
    ]);
    expect(toMs(result.firstEventAt)).toBe(90);
    expect(toMs(result.firstTokenAt)).toBe(1300);
    expect(ms(result.gapsSeconds)).toEqual([20]);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(toMs(result.lastTokenAt)).toBe(1320);
    expect(progress.map(({ tokenChunks }) => tokenChunks)).toEqual([0, 1, 1, 0, 0]);
    expect(result).toMatchObject({ ...good, outputTokens: 2, promptTokens: 5000, firstChunkTokens: 1 });
  });

  it('G-035: reasoning counts for the first token, but not for the first visible content', () => {
    const thinking: Step[] = Array.from({ length: 49 }, (_, index) => [
      1220 + 20 * index,
      delta({ reasoning_content: 't', content: null }),
    ]);
    const { result } = read([
      [1200, delta({ role: null, content: null, reasoning: 't' })],
      ...thinking,
      [2200, content('A')],
      [2220, finish('stop') + usage(20, 51) + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(1200);
    expect(toMs(result.firstContentAt)).toBe(2200);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(result).toMatchObject({ ...good, outputTokens: 51, tokenChunks: 51, text: 'A' });
  });

  it('a chunk with the same reasoning under both names is one token', () => {
    const result = readAll(delta({ reasoning: 'hm', reasoning_content: 'hm' }) + finish('stop') + DONE);
    expect(result).toMatchObject({ tokenChunks: 1, text: 'hm', firstContentAt: null });
  });

  it('a tool call is a token, but no visible content; its announcement is neither', () => {
    const call = (part: object): string => delta({ tool_calls: [{ index: 0, function: part }] });
    const { result } = read([
      [10, delta({ role: 'assistant', content: null, tool_calls: [{ index: 0, id: 'x', type: 'function' }] })],
      [20, call({ name: 'look', arguments: '' })],
      [40, call({ arguments: '{"a"' })],
      [60, call({ arguments: ':1}' })],
      [80, finish('tool_calls') + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(20);
    expect(result).toMatchObject({
      ...good,
      tokenChunks: 3,
      firstContentAt: null,
      finishReason: 'tool_calls',
      text: '',
    });
  });

  it('content in parts is read part by part', () => {
    const thinking = delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] });
    const { result } = read([
      [10, thinking],
      [20, delta({ content: [{ type: 'text', text: 'A' }, null, 7] })],
      [30, finish('stop') + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(10);
    expect(toMs(result.firstContentAt)).toBe(20);
    expect(result).toMatchObject({ ...good, text: 'A', tokenChunks: 2 });
  });

  it('G-037: a newline and a space are tokens', () => {
    const { result } = read([
      [210, content('\n')],
      [240, content(' ')],
      [270, content('A')],
      [280, finish('stop') + usage(9, 3) + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(210);
    expect(result).toMatchObject({ ...good, outputTokens: 3, tokenChunks: 3 });
  });

  it('G-038: tokens without any visible output have a count, but no first token', () => {
    const details = { ...usageOf(9, 8), completion_tokens_details: { reasoning_tokens: 8 } };
    const result = readAll(ROLE + finish('length') + event({ choices: [], usage: details }) + DONE);
    expect(result).toMatchObject({
      ...good,
      finishReason: 'length',
      outputTokens: 8,
      reasoningTokens: 8,
      tokenChunks: 0,
      firstTokenAt: null,
      tpotSeconds: null,
    });
  });

  it('hidden reasoning lies before the first chunk, so it is not divided into the time after it', () => {
    const details = { ...usageOf(9, 53), completion_tokens_details: { reasoning_tokens: 50 } };
    const { result } = read([
      [3000, content('A')],
      [3030, content('B')],
      [3060, content('C')],
      [3070, finish('stop') + event({ choices: [], usage: details }) + DONE],
    ]);
    expect(result.tpotSeconds).toBeCloseTo(0.03, 9);
    expect(result).toMatchObject({ outputTokens: 53, firstChunkTokens: 51, buffered: false });
  });
});

describe('how an answer ends', () => {
  it.each([
    ['abort', 'abort'],
    ['error', 'error'],
    ['content_filter', 'content_filter'],
    ['recitation', 'content_filter'],
    ['a_word_from_the_future', 'other'],
  ])('G-023: finish reason %s is read as %s', (word, reason) => {
    const result = readAll(content('A') + content('B') + finish(word) + DONE);
    expect(result).toMatchObject({ terminal: true, finishReason: reason, tokenChunks: 2, nonconformingEvents: 0 });
  });

  it('G-025: [DONE] after a token ends an answer without a finish reason', () => {
    const result = readAll(content('A') + content('B') + content('') + DONE);
    expect(result).toMatchObject({ ...good, finishReason: null, tokenChunks: 2, outputTokens: 2 });
  });

  it('G-026: the chunk with the finish reason may carry the only token', () => {
    const { result, progress } = read([
      [200, event({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'length' }] })],
      [201, DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(200);
    expect(result).toMatchObject({ ...good, tokenChunks: 1, finishReason: 'length' });
    expect(progress[0]).toEqual({ tokenChunks: 1, terminal: true, complete: false, failed: false });
    expect(progress[1]).toEqual({ tokenChunks: 0, terminal: true, complete: true, failed: false });
  });

  it('G-028: usage after the finish reason is read and moves no time', () => {
    const { result, progress } = read([
      [100, content('A')],
      [130, content('B')],
      [160, finish('stop')],
      [161, usage(9, 2)],
      [162, DONE],
    ]);
    expect(toMs(result.lastTokenAt)).toBe(130);
    expect(toMs(result.terminalAt)).toBe(160);
    expect(result).toMatchObject({ ...good, outputTokens: 2, promptTokens: 9 });
    expect(progress.map(({ complete }) => complete)).toEqual([false, false, false, false, true, true]);
  });

  it('G-029: usage beside a choice is found, and a later null does not take the finish reason back', () => {
    const late = {
      choices: [{ index: 0, delta: { content: null, role: 'assistant' }, finish_reason: null }],
      usage: { completion_tokens: 2, prompt_tokens: 9 },
    };
    const { result } = read([
      [100, content('A')],
      [130, content('B')],
      [160, finish('stop')],
      [170, event(late) + DONE],
    ]);
    expect(result).toMatchObject({ ...good, finishReason: 'stop', outputTokens: 2, promptTokens: 9, tokenChunks: 2 });
    expect(toMs(result.lastTokenAt)).toBe(130);
  });

  it('G-029: usage inside the choice is found, and its frame is no token', () => {
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'length', usage: { completion_tokens: 2 } }] };
    const { result } = read([
      [100, content('A')],
      [130, content('B')],
      [160, event(last)],
    ]);
    expect(result).toMatchObject({ ...good, finishReason: 'length', outputTokens: 2, tokenSource: 'usage' });
    expect(toMs(result.lastTokenAt)).toBe(130);
    expect(result.tpotSeconds).toBeCloseTo(0.03, 9);
  });

  it('G-049: an orderly end without a marker is no terminal', () => {
    const { result } = read([[10, content('A') + content('B')]]);
    expect(result).toMatchObject({ terminal: false, error: null, fault: null, tokenChunks: 2, terminalAt: null });
  });

  it('G-050: a stream whose end was never announced keeps its tokens and has no marker', () => {
    const { result, progress } = read([
      [10, content('A')],
      [20, content('B')],
    ]);
    expect(result).toMatchObject({ terminal: false, tokenChunks: 2 });
    expect(progress.at(-1)).toMatchObject({ terminal: false, failed: false });
  });
});

describe('counting', () => {
  it('G-031: usage of all zeros is no usage; chunks are counted and named so', () => {
    const zero = { usage: usageOf(0, 0) };
    const steps: Step[] = Array.from({ length: 8 }, (_, index) => [100 + 50 * index, content('x', zero)]);
    const { result } = read([...steps, [500, finish('stop') + DONE]]);
    expect(result).toMatchObject({ ...good, tokenSource: 'chunks', outputTokens: 8, promptTokens: null });
    expect(result.tpotSeconds).toBeCloseTo(0.05, 9);
    expect(result.firstChunkTokens).toBeNull();
  });

  it('G-031: null usage in every chunk is no usage', () => {
    const result = readAll(content('A', { usage: null }) + finish('stop') + DONE);
    expect(result).toMatchObject({ tokenSource: 'chunks', outputTokens: 1, promptTokens: null });
  });

  it('G-032: the running total tells how many tokens the first chunk has', () => {
    const steps: Step[] = Array.from({ length: 6 }, (_, index) => [
      550 + 50 * index,
      content('b', { usage: usageOf(9, 5 + index) }),
    ]);
    const { result, progress } = read([
      [500, content('AAAA', { usage: usageOf(9, 4) })],
      ...steps,
      [810, finish('length') + DONE],
    ]);
    expect(result.tpotSeconds).toBeCloseTo(0.05, 9);
    expect(result).toMatchObject({ outputTokens: 10, firstChunkTokens: 4, tokenChunks: 7, tokenSource: 'usage' });
    expect(result.timeline.map(({ tokens }) => tokens)).toEqual([4, 1, 1, 1, 1, 1, 1, 0, 0]);
    expect(progress[0]?.tokenChunks).toBe(1);
  });

  it('a running total in a stream that breaks off is its count', () => {
    const { result } = read([
      [10, content('A', { usage: usageOf(9, 1) })],
      [20, content('BC', { usage: usageOf(9, 3) })],
    ]);
    expect(result).toMatchObject({ outputTokens: 3, tokenSource: 'usage', terminal: false });
  });

  it('G-040: one token has no time per token', () => {
    const { result } = read([
      [300, content('A')],
      [301, finish('length') + usage(9, 1) + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(300);
    expect(result).toMatchObject({ ...good, tpotSeconds: null, gapsSeconds: [], outputTokens: 1 });
  });

  it('G-046: speculative decoding has several tokens a chunk; gaps are of chunks, TPOT of tokens', () => {
    const steps: Step[] = Array.from({ length: 10 }, (_, index) => [
      100 + 60 * index,
      content(index === 0 ? 'a' : 'bbbb'),
    ]);
    const { result } = read([...steps, [700, finish('length') + usage(9, 37) + DONE]]);
    expect(result.tpotSeconds).toBeCloseTo(0.015, 9);
    expect(ms(result.gapsSeconds)).toEqual(Array.from({ length: 9 }, () => 60));
    expect(result).toMatchObject({ outputTokens: 37, tokenChunks: 10, buffered: false });
    expect(37 / result.tokenChunks).toBeCloseTo(3.7, 9);
  });

  it('a finish frame that comes one token later than all chunks explain stands for the end of sequence', () => {
    const { result } = read([
      [100, content('A')],
      [130, content('B')],
      [160, finish('stop') + usage(9, 3) + DONE],
    ]);
    expect(toMs(result.lastTokenAt)).toBe(160);
    expect(result.tpotSeconds).toBeCloseTo(0.03, 9);
    expect(ms(result.gapsSeconds)).toEqual([30, 30]);
  });
});

describe('buffers and silence', () => {
  it('G-041: an answer that comes in one lump is buffered: TTFT stays, TPOT goes', () => {
    const steps: Step[] = Array.from({ length: 49 }, (_, index) => [1740 + (3 * index) / 49, content('x')]);
    const { result } = read([...steps, [1743, finish('stop') + usage(9, 49) + DONE]]);
    expect(result).toMatchObject({ ...good, buffered: true, tpotSeconds: null, outputTokens: 49 });
    expect(toMs(result.firstTokenAt)).toBe(1740);
  });

  it('G-043: pings are events and keep-alives, never tokens', () => {
    const pings: Step[] = [15_000, 30_000, 45_000].map((at) => [at, event({ type: 'ping' }, 'ping')]);
    const { result, progress } = read(pings, 'messages');
    expect(result).toMatchObject({ keepAlives: 3, tokenChunks: 0, firstTokenAt: null, nonconformingEvents: 0 });
    expect(toMs(result.firstEventAt)).toBe(15_000);
    expect(progress.every(({ tokenChunks, terminal }) => tokenChunks === 0 && !terminal)).toBe(true);
  });

  it('G-047: tokens before a silence are timed', () => {
    const { result } = read([
      [30, content('A')],
      [60, content('B')],
      [90, content('C')],
    ]);
    expect(result).toMatchObject({ terminal: false, tokenChunks: 3, outputTokens: 3 });
    expect(ms(result.gapsSeconds)).toEqual([30, 30]);
  });
});

describe('faults inside a stream', () => {
  it('G-044: an Anthropic error event after a token is an error, and the first token stays', () => {
    const { result, progress } = read(
      [
        [
          10,
          event({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } }, 'message_start'),
        ],
        [50, event({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'A' } }, 'content_block_delta')],
        [80, event({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 'error')],
      ],
      'messages',
    );
    expect(result.error).toEqual({ status: null, type: 'overloaded_error', code: null, param: null, text: 'x' });
    expect(result).toMatchObject({
      terminal: false,
      tokenChunks: 1,
      promptTokens: 9,
      outputTokens: 1,
      tokenSource: 'chunks',
    });
    expect(toMs(result.firstTokenAt)).toBe(50);
    expect(progress[2]?.failed).toBe(true);
  });

  it('G-052: one broken event is counted, and usage has the true number of tokens', () => {
    const { result } = read([
      [10, content('A')],
      [20, 'data: {"choices":[{"index":0,"del\n\n'],
      [30, content('B')],
      [40, finish('stop') + usage(9, 3) + DONE],
    ]);
    expect(result).toMatchObject({ ...good, nonconformingEvents: 1, outputTokens: 3 });
    // The missing token is the broken event, so the finish frame is not taken for it.
    expect(toMs(result.lastTokenAt)).toBe(30);
    expect(result.tpotSeconds).toBeCloseTo(0.01, 9);
  });

  it('G-055: chunks without choices and other choices than the first are passed over and counted', () => {
    const result = readAll(
      event({ object: 'chat.completion.chunk' }) +
        event({ choices: null }) +
        event({ choices: [{ index: 1, delta: { content: 'X' } }] }) +
        content('A') +
        finish('stop') +
        DONE,
    );
    expect(result).toMatchObject({ ...good, nonconformingEvents: 3, text: 'A', tokenChunks: 1 });
  });

  it('usage of several choices is not the usage of the one that is read', () => {
    const other = event({ choices: [{ index: 1, delta: { content: 'X' }, finish_reason: 'stop' }] });
    const result = readAll(content('A') + other + finish('stop') + usage(9, 2) + DONE);
    expect(result).toMatchObject({ outputTokens: 1, tokenSource: 'chunks', promptTokens: 9 });
  });

  it.each([
    ['nested', { error: { message: 'm', type: 'T', param: 'p', code: 503 } }, 503, 'T'],
    ['flat', { object: 'error', message: 'm', type: 'T', param: 'p', code: 503 }, 503, 'T'],
    ['a string', { error: 'm' }, null, null],
    ['TGI', { error: 'm', error_type: 'overloaded', http_status_code: 429 }, 429, 'overloaded'],
    ['bare', { message: 'm', type: 'T', code: 503 }, 503, 'T'],
  ])('an error object in the stream: %s', (_, object, status, type) => {
    const { result, progress } = read([
      [10, content('A')],
      [20, event(object) + content('B') + DONE],
    ]);
    expect(result.error).toMatchObject({ status, type, text: 'm' });
    expect(result).toMatchObject({ terminal: false, tokenChunks: 1, text: 'A' });
    expect(progress[1]).toMatchObject({ failed: true, terminal: false, tokenChunks: 0 });
  });

  it.each([
    ['plain text', 'upstream timed out', { status: null, text: 'upstream timed out' }],
    ['an object without the word', '{"detail":"x","status":504}', { status: 504, text: 'x' }],
  ])('an event named error is an error: %s', (_, data, error) => {
    const result = readAll(`${content('A')}event: error\ndata: ${data}\n\n${DONE}`);
    expect(result).toMatchObject({ error, terminal: false, tokenChunks: 1, nonconformingEvents: 0 });
  });

  it('an empty error beside choices is none', () => {
    expect(readAll(content('A', { error: {} }) + content('B', { error: null }) + finish('stop'))).toMatchObject({
      error: null,
      tokenChunks: 2,
    });
  });
});

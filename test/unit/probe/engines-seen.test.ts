import { describe, expect, it } from 'vitest';
import { content, DONE, delta, event, finish, read, type Step, toMs, usage, usageOf } from '../../support/streams.ts';

const ms = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 1e6) / 1000);
const ROLE = delta({ role: 'assistant', content: '' });

/** A chat chunk with an empty text and a finish reason, as vLLM ends an answer. */
const emptyFinish = (reason: string, more: object = {}): string =>
  event({ choices: [{ index: 0, delta: { content: '' }, finish_reason: reason }], ...more });
const text = (value: string, more: object = {}, reason: string | null = null): string =>
  event({ choices: [{ index: 0, text: value, finish_reason: reason }], ...more });

describe('R-001: an engine killed in the middle', () => {
  it('is an error, whatever [DONE] says, and the tokens before it are timed', () => {
    const error = { message: 'engine died', type: 'InternalServerError', param: null, code: 500 };
    const { result, progress } = read([
      [20, content('a')],
      [40, content('b')],
      [50, event({ error }) + DONE],
    ]);
    expect(result.error).toMatchObject({ status: 500, type: 'InternalServerError' });
    expect(result).toMatchObject({ terminal: false, finishReason: null, tokenChunks: 2 });
    expect(toMs(result.firstTokenAt)).toBe(20);
    expect(ms(result.gapsSeconds)).toEqual([20]);
    expect(progress[2]?.failed).toBe(true);
  });
});

describe('R-002: a token without text', () => {
  it('an empty final chunk that completes the count ends the span', () => {
    const { result } = read([
      [30, ROLE],
      [31, content('lwi')],
      [46, content(' kajx')],
      [61, content(' pi')],
      [76, emptyFinish('length')],
      [77, usage(12, 4) + DONE],
    ]);
    expect(toMs(result.firstTokenAt)).toBe(31);
    expect(toMs(result.lastTokenAt)).toBe(76);
    expect(result.tpotSeconds).toBeCloseTo(0.015, 9);
    expect(ms(result.gapsSeconds)).toEqual([15, 15, 15]);
    expect(result).toMatchObject({ terminal: true, outputTokens: 4, tokenChunks: 4, firstChunkTokens: 1 });
  });

  it('an empty final chunk that the count does not need is none', () => {
    const { result } = read([
      [31, content('lwi')],
      [46, content(' kajx')],
      [90, emptyFinish('length') + usage(12, 2) + DONE],
    ]);
    expect(toMs(result.lastTokenAt)).toBe(46);
    expect(result.tpotSeconds).toBeCloseTo(0.015, 9);
  });

  it('without usage an empty final chunk is none', () => {
    const { result } = read([
      [31, content('a')],
      [46, content('b')],
      [90, emptyFinish('length') + DONE],
    ]);
    expect(result).toMatchObject({ outputTokens: 2, tokenChunks: 2, tokenSource: 'chunks' });
    expect(toMs(result.lastTokenAt)).toBe(46);
  });

  it('with running totals an empty final chunk is a token if the total rises, and none if it stands', () => {
    const counted = (count: number): object => ({ usage: usageOf(12, count) });
    const steps: Step[] = [
      [31, content('a', counted(1))],
      [46, content('b', counted(2))],
    ];
    const rises = read([...steps, [61, emptyFinish('length', counted(3)) + usage(12, 3) + DONE]]).result;
    expect(toMs(rises.lastTokenAt)).toBe(61);
    expect(rises.tpotSeconds).toBeCloseTo(0.015, 9);
    const stands = read([...steps, [61, emptyFinish('length', counted(2)) + usage(12, 2) + DONE]]).result;
    expect(toMs(stands.lastTokenAt)).toBe(46);
    expect(stands.tpotSeconds).toBeCloseTo(0.015, 9);
  });

  it('an empty first chunk is a token before the first text: TTFT waits for the text, TPOT does not count it', () => {
    const rest: Step[] = Array.from({ length: 8 }, (_, index) => [30 + 10 * index, text('x')]);
    const { result, progress } = read(
      [[20, text('')], ...rest, [110, text('y', {}, 'length') + usage(14, 10) + DONE]],
      'completions',
    );
    expect(toMs(result.firstTokenAt)).toBe(30);
    expect(progress[0]?.tokenChunks).toBe(0);
    expect(result.tpotSeconds).toBeCloseTo(0.01, 9);
    expect(result).toMatchObject({ outputTokens: 10, firstChunkTokens: 2, tokenChunks: 9 });
  });

  it('an empty first chunk that the count does not need is none', () => {
    const { result } = read(
      [
        [20, text('')],
        [30, text('a')],
        [40, text('b', {}, 'stop') + usage(14, 2) + DONE],
      ],
      'completions',
    );
    expect(result.tpotSeconds).toBeCloseTo(0.01, 9);
    expect(result.firstChunkTokens).toBe(1);
  });

  it('empty chunks in the middle change no TPOT, but split the gap when they are tokens', () => {
    const steps: Step[] = [
      [10, content('a')],
      [20, content('')],
      [30, content('b')],
    ];
    const tokens = read([...steps, [40, emptyFinish('stop') + usage(12, 4) + DONE]]).result;
    expect(ms(tokens.gapsSeconds)).toEqual([10, 10, 10]);
    expect(tokens.tpotSeconds).toBeCloseTo(0.01, 9);
    const nothing = read([...steps, [40, emptyFinish('stop') + usage(12, 2) + DONE]]).result;
    expect(ms(nothing.gapsSeconds)).toEqual([20]);
    expect(nothing.tpotSeconds).toBeCloseTo(0.02, 9);
  });

  it('too few tokens for all empty chunks: the last one is the likeliest, the first one the least', () => {
    const { result } = read([
      [10, content('')],
      [20, content('a')],
      [30, content('b')],
      [40, emptyFinish('stop') + usage(12, 3) + DONE],
    ]);
    expect(toMs(result.lastTokenAt)).toBe(40);
    expect(result.tpotSeconds).toBeCloseTo(0.01, 9);
    expect(result.firstChunkTokens).toBe(1);
  });

  it('an answer of one token without text is generated, but never seen', () => {
    const { result } = read([[20, text('', {}, 'length') + usage(14, 1) + DONE]], 'completions');
    expect(result).toMatchObject({ terminal: true, outputTokens: 1, tokenChunks: 0, firstTokenAt: null, text: '' });
  });
});

describe('R-003: several tokens a chunk', () => {
  const chunks = (more: (index: number) => object): Step[] =>
    Array.from({ length: 11 }, (_, index) => [
      100 + 60 * index,
      text(index === 0 ? 'a' : 'bbbb', more(index), index === 10 ? 'length' : null),
    ]);

  it('TPOT divides by tokens, gaps are of chunks, and nothing is called buffered', () => {
    const { result } = read([...chunks(() => ({})), [701, usage(14, 40) + DONE]], 'completions');
    expect(result.tpotSeconds).toBeCloseTo(0.6 / 39, 9);
    expect(ms(result.gapsSeconds)).toEqual(Array.from({ length: 10 }, () => 60));
    expect(result).toMatchObject({ outputTokens: 40, tokenChunks: 11, firstChunkTokens: null, buffered: false });
  });

  it('with running totals the first chunk is known', () => {
    const counted = (index: number): object => ({ usage: usageOf(14, Math.min(1 + 4 * index, 40)) });
    const { result } = read([...chunks(counted), [701, usage(14, 40) + DONE]], 'completions');
    expect(result.tpotSeconds).toBeCloseTo(0.6 / 39, 9);
    expect(result.firstChunkTokens).toBe(1);
  });
});

describe('R-010: fewer tokens than asked', () => {
  it('the count is the true one, whatever was asked for', () => {
    const { result } = read([
      [10, content('A')],
      [20, finish('length') + usage(9, 1021) + DONE],
    ]);
    expect(result).toMatchObject({ terminal: true, outputTokens: 1021, finishReason: 'length' });
  });
});

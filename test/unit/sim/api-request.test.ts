import { describe, expect, it } from 'vitest';
import { ApiFailure, readCall } from '../../../src/sim/api-request.ts';

const SERVED = { model: 'sim', maxModelLen: 100 };
const USER = [{ role: 'user', content: 'hello world' }];
const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ');

const failureOf = (api: 'completions' | 'chat', body: unknown): ApiFailure => {
  try {
    readCall(api, body, SERVED);
  } catch (error) {
    if (error instanceof ApiFailure) return error;
    throw error;
  }
  throw new Error('the body was accepted');
};

describe('a request to the simulated API', () => {
  it('has defaults: 16 tokens for a completion, the rest of the context for a chat', () => {
    expect(readCall('completions', { prompt: 'hello world' }, SERVED)).toMatchObject({
      maxTokens: 16,
      stream: false,
      includeUsage: false,
      ignoreEos: false,
      minTokens: 0,
    });
    expect(readCall('chat', { messages: USER }, SERVED)).toMatchObject({ maxTokens: 90 });
  });

  it('prefers max_completion_tokens for a chat', () => {
    const body = { messages: USER, max_tokens: 5, max_completion_tokens: 7 };
    expect(readCall('chat', body, SERVED).maxTokens).toBe(7);
  });

  it.each([
    ['a text', 'hello world', 2],
    ['token ids', [11, 12, 13], 3],
    ['a list of one text', ['hello world'], 2],
    ['a list of one list of ids', [[11, 12, 13]], 3],
  ])('takes %s for a prompt', (_, prompt, tokens) => {
    expect(readCall('completions', { prompt }, SERVED).promptTokenIds).toHaveLength(tokens);
  });

  it('reads text parts of a message, and passes over others', () => {
    const content = [{ type: 'text', text: 'hello' }, { type: 'image_url' }, { type: 'text', text: ' world' }];
    const parts = readCall('chat', { messages: [{ role: 'user', content }] }, SERVED);
    expect(parts.promptTokenIds).toEqual(readCall('chat', { messages: USER }, SERVED).promptTokenIds);
  });

  it('passes over fields it does not know, and gives continuous usage only with usage', () => {
    const options = { prompt: 'x', frobnicate: 7, stream: true };
    expect(
      readCall('completions', { ...options, stream_options: { continuous_usage_stats: true } }, SERVED),
    ).toMatchObject({
      includeUsage: false,
      continuousUsage: false,
    });
    const both = { include_usage: true, continuous_usage_stats: true };
    expect(readCall('completions', { ...options, stream_options: both }, SERVED)).toMatchObject({
      includeUsage: true,
      continuousUsage: true,
    });
  });

  it.each([
    ['a wrong model', 'chat', { model: 'nope', messages: USER }, 404, 'model'],
    ['no prompt', 'completions', {}, 400, 'prompt'],
    ['an empty prompt', 'completions', { prompt: '' }, 400, 'prompt'],
    ['two prompts', 'completions', { prompt: ['a', 'b'] }, 400, 'prompt'],
    ['no messages', 'chat', { prompt: 'x' }, 400, 'body.messages'],
    ['a message without a role', 'chat', { messages: [{ content: 'x' }] }, 400, 'body.messages'],
    ['no tokens at all', 'completions', { prompt: 'x', max_tokens: 0 }, 400, 'max_tokens'],
    ['more tokens than the model has', 'completions', { prompt: 'x', max_tokens: 101 }, 400, 'max_tokens'],
    ['a prompt too long for the answer', 'completions', { prompt: words(95), max_tokens: 6 }, 400, 'input_tokens'],
    [
      'a prompt too long for any answer',
      'chat',
      { messages: [{ role: 'user', content: words(99) }] },
      400,
      'input_tokens',
    ],
    ['tokens that are a text', 'completions', { prompt: 'x', max_tokens: 'lots' }, 400, 'body.max_tokens'],
    ['a stream that is a text', 'completions', { prompt: 'x', stream: 'yes' }, 400, 'body.stream'],
    ['stream options without a stream', 'completions', { prompt: 'x', stream_options: {} }, 400, 'stream_options'],
    ['a negative temperature', 'completions', { prompt: 'x', temperature: -1 }, 400, 'temperature'],
    ['two answers', 'completions', { prompt: 'x', n: 2 }, 400, 'n'],
    ['more tokens at least than at most', 'completions', { prompt: 'x', min_tokens: 17 }, 400, 'min_tokens'],
    ['a list for a body', 'completions', [], 400, 'body.'],
  ] as const)('refuses %s', (_, api, body, status, param) => {
    expect(failureOf(api, body)).toMatchObject({ status, param });
  });

  it('takes a prompt that fills the context to the last token', () => {
    expect(readCall('completions', { prompt: words(94), max_tokens: 6 }, SERVED).maxTokens).toBe(6);
  });
});

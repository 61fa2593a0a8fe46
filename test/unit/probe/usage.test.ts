import { describe, expect, it } from 'vitest';
import { createUsageTotals, readUsage } from '../../../src/probe/usage.ts';

const none = { promptTokens: null, completionTokens: null, cachedPromptTokens: null, reasoningTokens: null };

describe('readUsage', () => {
  it.each([
    ['chat', { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }, { promptTokens: 9, completionTokens: 2 }],
    ['a prompt and nothing yet', { prompt_tokens: 9, completion_tokens: 0 }, { promptTokens: 9, completionTokens: 0 }],
    ['responses', { input_tokens: 9, output_tokens: 2 }, { promptTokens: 9, completionTokens: 2 }],
    ['only the output', { output_tokens: 2 }, { completionTokens: 2 }],
    [
      'details of chat',
      {
        prompt_tokens: 9,
        completion_tokens: 2,
        prompt_tokens_details: { cached_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
      { promptTokens: 9, completionTokens: 2, cachedPromptTokens: 8, reasoningTokens: 1 },
    ],
    [
      'details of responses',
      {
        input_tokens: 9,
        output_tokens: 2,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
      { promptTokens: 9, completionTokens: 2, cachedPromptTokens: 0, reasoningTokens: 1 },
    ],
    [
      'SGLang',
      { prompt_tokens: 9, completion_tokens: 2, cached_tokens: 7, reasoning_tokens: 0, prompt_tokens_details: null },
      { promptTokens: 9, completionTokens: 2, cachedPromptTokens: 7, reasoningTokens: 0 },
    ],
    [
      'Anthropic, whose input leaves the cache out',
      { input_tokens: 2, cache_read_input_tokens: 100, cache_creation_input_tokens: 10, output_tokens: 5 },
      { promptTokens: 112, completionTokens: 5, cachedPromptTokens: 100 },
    ],
    [
      'DeepSeek',
      { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 4 },
      { promptTokens: 9, completionTokens: 2, cachedPromptTokens: 4 },
    ],
  ])('%s', (_, usage, expected) => {
    expect(readUsage(usage)).toEqual({ ...none, ...expected });
  });

  it.each([
    ['null', null],
    ['all zero', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['empty', {}],
    ['text', 'usage'],
    ['a list', [1]],
    ['counts that are none', { prompt_tokens: '9', completion_tokens: -1 }],
    ['counts that are no numbers', { prompt_tokens: Number.NaN, completion_tokens: Number.POSITIVE_INFINITY }],
  ])('%s is no usage', (_, usage) => {
    expect(readUsage(usage)).toBeNull();
  });
});

describe('createUsageTotals', () => {
  it('takes running totals as they are and never adds them up', () => {
    const totals = createUsageTotals();
    for (const completionTokens of [0, 1, 5, 9]) totals.add({ ...none, promptTokens: 9, completionTokens });
    totals.add({ ...none, completionTokens: 9, cachedPromptTokens: 4 });
    expect(totals.totals()).toEqual({
      promptTokens: 9,
      completionTokens: 9,
      cachedPromptTokens: 4,
      reasoningTokens: null,
    });
  });

  it('a later object that knows less takes nothing back', () => {
    const totals = createUsageTotals();
    totals.add({ promptTokens: 9, completionTokens: 5, cachedPromptTokens: 4, reasoningTokens: 1 });
    totals.add({ ...none, completionTokens: 0 });
    expect(totals.totals()).toEqual({
      promptTokens: 9,
      completionTokens: 5,
      cachedPromptTokens: 4,
      reasoningTokens: 1,
    });
  });

  it('knows nothing of nothing', () => {
    expect(createUsageTotals().totals()).toEqual(none);
  });
});

import { describe, expect, it } from 'vitest';
import type { ProbeProfile } from '../../../src/probe/profile.ts';
import { createPromptSource, type PromptSource } from '../../../src/probe/prompt.ts';
import { seconds } from '../../../src/units.ts';

const profile = (more: Partial<ProbeProfile> = {}): ProbeProfile => ({
  name: 'default',
  prefix: 'unique',
  connection: 'reuse',
  promptTokens: 256,
  prompt: null,
  maxTokens: 16,
  ignoreEos: 'auto',
  temperature: 0,
  deadlines: {
    connectSeconds: seconds(1),
    headersSeconds: seconds(1),
    firstTokenSeconds: seconds(1),
    betweenTokensSeconds: seconds(1),
    totalSeconds: seconds(1),
  },
  expect: { minTokens: null, pattern: null, answer: null, detectDegenerate: false },
  extraBody: {},
  ...more,
});
const source = (more: Partial<ProbeProfile> = {}, seed?: string): PromptSource =>
  createPromptSource({ target: 't', profile: profile(more), ...(seed === undefined ? {} : { seed }) });

/** Tokens of a prompt for a model; a template adds a constant. */
type Tokenizer = (prompt: string) => number;
const words = (prompt: string): string[] => prompt.split(' ');
const TOKENIZERS: Readonly<Record<string, Tokenizer>> = {
  'one token a word, no template': (prompt) => words(prompt).length,
  'one token a word and a template of 30': (prompt) => 30 + words(prompt).length,
  'a template of 90': (prompt) => 90 + words(prompt).length,
  'a small vocabulary: two letters a token': (prompt) =>
    5 + words(prompt).reduce((sum, word) => sum + Math.ceil(word.length / 2), 0),
  bytes: (prompt) => Buffer.byteLength(prompt),
  'bytes and a template of 20': (prompt) => 20 + Buffer.byteLength(prompt),
};

/** Sends `count` prompts and returns how many tokens each had. */
function send(prompts: PromptSource, tokenizer: Tokenizer, count: number): number[] {
  return Array.from({ length: count }, () => {
    const tokens = tokenizer(prompts.next());
    prompts.observe(tokens);
    return tokens;
  });
}

describe('the size of prompts', () => {
  for (const [name, tokenizer] of Object.entries(TOKENIZERS)) {
    for (const promptTokens of [256, 1000, 8000]) {
      it.each(['unique', 'shared'] as const)(
        `reaches ${promptTokens} tokens within 9 %s prompts (${name})`,
        (prefix) => {
          const prompts = source({ promptTokens, prefix });
          send(prompts, tokenizer, 9);
          const settled = send(prompts, tokenizer, 5);
          for (const tokens of settled) expect(Math.abs(tokens - promptTokens)).toBeLessThanOrEqual(8);
          expect(new Set(settled).size).toBe(1);
        },
      );
    }
  }

  it('is exact from the second prompt on where a word is a token', () => {
    const prompts = source({ promptTokens: 512 });
    const sizes = send(prompts, (prompt) => 37 + words(prompt).length, 6);
    expect(sizes.slice(1)).toEqual([512, 512, 512, 512, 512]);
  });

  it('stays where it is when the engine never says a size, or says nonsense', () => {
    const prompts = source({ promptTokens: 100 });
    const before = words(prompts.next()).length;
    for (const nonsense of [0, -5, Number.NaN, Number.POSITIVE_INFINITY]) prompts.observe(nonsense);
    expect(words(prompts.next())).toHaveLength(before);
    expect(before).toBeGreaterThan(60);
    expect(before).toBeLessThan(110);
  });

  it('learns again when the model behind the target changes', () => {
    const prompts = source({ promptTokens: 400 });
    send(prompts, (prompt) => 10 + words(prompt).length, 5);
    send(prompts, (prompt) => Buffer.byteLength(prompt), 10);
    expect(Math.abs(Buffer.byteLength(prompts.next()) - 400)).toBeLessThanOrEqual(8);
  });

  it('a template larger than the wanted size leaves the shortest prompt, not an empty one', () => {
    const prompts = source({ promptTokens: 16 });
    send(prompts, (prompt) => 100 + words(prompt).length, 10);
    expect(words(prompts.next())).toHaveLength(8);
  });

  it('small sizes are reached without the task at the end', () => {
    const prompts = source({ promptTokens: 32 });
    const sizes = send(prompts, (prompt) => 10 + words(prompt).length, 4);
    expect(sizes.at(-1)).toBe(32);
    expect(prompts.next()).not.toContain('story');
    expect(source({ promptTokens: 256 }).next()).toContain('Write a long story');
  });
});

describe('prefixes', () => {
  const beginning = (prompt: string): string => words(prompt).slice(0, 8).join(' ');

  it('unique prompts begin differently every time, and in every process', () => {
    const prompts = [source(), source()].flatMap((one) => Array.from({ length: 500 }, () => one.next()));
    expect(new Set(prompts.map(beginning)).size).toBe(1000);
  });

  it('what differs comes first, and no two share more than a few words by chance', () => {
    const prompts = source();
    const shared = Array.from({ length: 200 }, () => {
      const [a, b] = [words(prompts.next()), words(prompts.next())];
      return a.findIndex((word, index) => word !== b[index]);
    });
    expect(Math.max(...shared)).toBeLessThan(5);
  });

  it('unique prompts have the same words in another order, so the same size for any tokenizer', () => {
    const prompts = source();
    const filler = (prompt: string): string => words(prompt).slice(8).sort().join(' ');
    const [first, second] = [prompts.next(), prompts.next()];
    expect(filler(first)).toBe(filler(second));
    expect(first.slice(20)).not.toBe(second.slice(20));
  });

  it('a shared prompt is identical once its size is found, also after a restart', () => {
    const tokenizer: Tokenizer = (prompt) => 21 + words(prompt).length;
    const [before, after] = [source({ prefix: 'shared' }), source({ prefix: 'shared' })];
    send(before, tokenizer, 3);
    send(after, tokenizer, 3);
    const prompts = [before.next(), before.next(), after.next(), after.next()];
    expect(new Set(prompts).size).toBe(1);
  });

  it('a shared prompt never begins like a unique one or that of another profile', () => {
    const shared = beginning(source({ prefix: 'shared' }).next());
    expect(beginning(source({ prefix: 'shared', name: 'other' }).next())).not.toBe(shared);
    expect(beginning(source({}, 'seed').next())).not.toBe(shared);
  });

  it('a seed makes unique prompts reproducible', () => {
    const [one, two] = [source({}, 's'), source({}, 's')];
    expect([one.next(), one.next()]).toEqual([two.next(), two.next()]);
    expect(source({}, 'r').next()).not.toBe(source({}, 's').next());
  });

  it('a prompt of the profile is sent as it is', () => {
    const prompts = source({ prompt: 'What is 2 + 2?' });
    expect(prompts.next()).toBe('What is 2 + 2?');
    prompts.observe(12);
    expect(prompts.next()).toBe('What is 2 + 2?');
  });

  it('prompts are plain words', () => {
    expect(source({ promptTokens: 2000 }).next()).toMatch(
      /^[a-z]( [a-z]){7}( [a-z]+)+ Write a long story with these words\.$/,
    );
  });
});

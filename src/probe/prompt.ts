import { hash, randomBytes } from 'node:crypto';
import type { ProbeProfile } from './profile.ts';
import { createPromptSize, type PromptSize } from './prompt-size.ts';

/** Makes the prompts of one target and profile, and learns from the engine how long they are in tokens. */
export interface PromptSource {
  /** The prompt of the next probe. */
  next(): string;
  /** The engine counted this many tokens for the last prompt. */
  observe(promptTokens: number): void;
}

export interface PromptOptions {
  readonly target: string;
  readonly profile: ProbeProfile;
  /** For reproducible prompts; without it, unique prompts are unique across processes and restarts. */
  readonly seed?: string;
}

/**
 * Short common words, each one token in the usual vocabularies. A tokenizer that cuts them up still counts the same
 * for the same words in another order, because it splits at blanks first.
 */
const WORDS =
  'the of and to in is that for it on with as at by from this have or one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after word call just where most know';
const FILLER = WORDS.split(' ');

/** A letter is one token, or the same number of tokens as any other letter. 26^8 beginnings are enough to be unique. */
const NONCE_LETTERS = 8;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
/** Makes chat models go on to the token limit where the engine cannot be told to ignore the end of the answer. */
const TASK = 'Write a long story with these words.';
const TASK_TOKENS = 9;
/** Below this size the task would leave no room for anything else. */
const LEAST_TOKENS_WITH_TASK = 48;
/** A first guess of what a chat template adds. */
const TEMPLATE_TOKENS = 8;

/** A small generator (xorshift) for the order of words; nothing here is secret. */
function createRandom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** The same words for the same count, whatever their order: so the count of tokens is the same too. */
function shuffledFiller(count: number, random: (below: number) => number): string[] {
  const words: string[] = [];
  for (let index = 0; index < count; index += 1) words.push(FILLER[index % FILLER.length] ?? 'the');
  for (let index = words.length - 1; index > 0; index -= 1) {
    const other = random(index + 1);
    const word = words[index] ?? 'the';
    words[index] = words[other] ?? 'the';
    words[other] = word;
  }
  return words;
}

/** The nonce comes first: a prefix cache matches from the beginning, so it finds nothing of a prompt with a new one. */
function compose(identity: string, count: number, withTask: boolean): string {
  const digest = hash('sha256', identity, 'buffer');
  const nonce: string[] = [];
  for (let index = 0; index < NONCE_LETTERS; index += 1) {
    nonce.push(LETTERS.charAt(digest.readUInt8(index) % LETTERS.length));
  }
  const words = shuffledFiller(count, createRandom(digest.readUInt32LE(NONCE_LETTERS)));
  if (withTask) words.push(TASK);
  return [...nonce, ...words].join(' ');
}

/** Prompts whose size is found first and then stays: for load runs, where every prompt is decided by its identity. */
export interface PromptMaker {
  readonly size: PromptSize;
  /** The prompt of this identity, with so many filler words. Always the same for the same arguments. */
  compose(identity: string, words: number): string;
}

export function createPromptMaker(promptTokens: number): PromptMaker {
  const withTask = promptTokens >= LEAST_TOKENS_WITH_TASK;
  const fixedTokens = NONCE_LETTERS + TEMPLATE_TOKENS + (withTask ? TASK_TOKENS : 0);
  return {
    size: createPromptSize(promptTokens, fixedTokens),
    compose: (identity, words) => compose(identity, words, withTask),
  };
}

/**
 * Prompts of `profile.promptTokens` tokens by the engine's own count, reached within a few probes.
 *
 * - `unique`: every prompt begins differently, so each pays the whole prefill but for the chat template.
 * - `shared`: the same prompt every time once its size is found, also after a restart and from other exporters.
 *
 * A profile with a prompt of its own gets just that.
 */
export function createPromptSource(options: PromptOptions): PromptSource {
  const { profile } = options;
  const fixed = profile.prompt;
  if (fixed !== null) return { next: () => fixed, observe: () => {} };

  const { size, compose: composed } = createPromptMaker(profile.promptTokens);
  const unique = profile.prefix === 'unique';
  const seed = options.seed ?? (unique ? randomBytes(16).toString('hex') : '');
  let made = 0;
  let lastWords = size.words;

  return {
    next() {
      lastWords = size.words;
      made += 1;
      const identity = [options.target, profile.name, seed, unique ? made : 0].join('\n');
      return composed(identity, lastWords);
    },
    observe: (promptTokens) => size.observe(lastWords, promptTokens),
  };
}

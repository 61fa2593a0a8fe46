import type { MonotonicInstant } from '../units.ts';
import { blockKey, NO_PARENT } from './prefix.ts';
import { answerId } from './tokenizer.ts';

export interface SequenceOptions {
  /** Place in the order of arrival. */
  readonly order: number;
  readonly promptTokenIds: readonly number[];
  readonly answerSeed: number;
  /** The answer has this many tokens, the end mark included. */
  readonly answerTokens: number;
  readonly finishReason: 'stop' | 'length';
  readonly arrivedAt: MonotonicInstant;
  readonly blockSize: number;
}

/** One request inside the engine. The scheduler moves it; the engine stamps it. */
export interface Sequence extends SequenceOptions {
  readonly promptTokens: number;
  /** Output tokens so far. */
  generated: number;
  /** Tokens whose keys and values are in the cache (at the end of the step in flight). */
  computed: number;
  /** Tokens given to it in the step in flight. */
  scheduled: number;
  blocks: number[];
  /** How many of `blocks` are full and named. */
  named: number;
  running: boolean;
  /** Ended or given up; whoever meets it in a list passes it over. */
  gone: boolean;
  preemptions: number;
  /** Prompt tokens found in the prefix cache when it was first admitted; null before. */
  cachedTokens: number | null;
  admittedAt: MonotonicInstant | null;
  firstTokenAt: MonotonicInstant | null;
  lastTokenAt: MonotonicInstant | null;
  /** Key of its block `index`, which must lie wholly in tokens that exist. */
  keyOf(index: number): number;
}

export function createSequence(options: SequenceOptions): Sequence {
  const { promptTokenIds, blockSize } = options;
  const keys: number[] = [];
  const promptTokens = promptTokenIds.length;
  const tokenAt = (position: number): number =>
    position < promptTokens ? (promptTokenIds[position] ?? 0) : answerId(options.answerSeed, position - promptTokens);
  return {
    ...options,
    promptTokens,
    generated: 0,
    computed: 0,
    scheduled: 0,
    blocks: [],
    named: 0,
    running: false,
    gone: false,
    preemptions: 0,
    cachedTokens: null,
    admittedAt: null,
    firstTokenAt: null,
    lastTokenAt: null,
    keyOf(index) {
      for (let at = keys.length; at <= index; at += 1) {
        keys.push(blockKey(keys[at - 1] ?? NO_PARENT, tokenAt, at * blockSize, (at + 1) * blockSize));
      }
      return keys[index] ?? NO_PARENT;
    },
  };
}

/** Tokens that exist: the prompt and the output so far. */
export const knownTokens = (sequence: Sequence): number => sequence.promptTokens + sequence.generated;

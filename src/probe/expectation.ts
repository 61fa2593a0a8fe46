import { findDegeneration } from './degenerate.ts';
import type { Expectation } from './profile.ts';
import type { ReadingResult } from './reading.ts';

/** Why a complete answer is not what the profile wants. Never holds any of the answer: it may be logged. */
export interface UnmetExpectation {
  readonly reason: 'expectation_failed' | 'degenerate_output' | 'no_visible_output';
  readonly message: string;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

const failed = (message: string, detail: UnmetExpectation['detail']): UnmetExpectation => ({
  reason: 'expectation_failed',
  message,
  detail,
});

function checkDegeneration(result: ReadingResult): UnmetExpectation | null {
  const kind = findDegeneration(result.text);
  if (kind === null) return null;
  const message =
    kind === 'repeated_unit'
      ? 'the answer is one short piece of text over and over'
      : 'most of the answer is replacement characters';
  return { reason: 'degenerate_output', message, detail: { kind, characters: result.text.length } };
}

function checkTokens(minTokens: number, result: ReadingResult): UnmetExpectation | null {
  const outputTokens = result.outputTokens ?? 0;
  if (outputTokens >= minTokens) return null;
  const source = result.tokenSource ?? 'chunks';
  const counted = source === 'chunks' ? ' (counted by chunks, as the server sends no usage)' : '';
  return failed(`the answer has ${outputTokens} tokens instead of at least ${minTokens}${counted}`, {
    check: 'min_tokens',
    min_tokens: minTokens,
    output_tokens: outputTokens,
    token_source: source,
  });
}

/** Fewer tokens without text say nothing: a model may have nothing to say, and ends in one. */
const LEAST_EMPTY_TOKENS = 8;

/**
 * Garbage without a trace: tokens that the server counts and sends one by one, none of which makes text (padding,
 * unknown tokens). Hidden reasoning looks different: it is not sent at all, or counted apart.
 */
export function checkEmptiness(expect: Expectation, result: ReadingResult): UnmetExpectation | null {
  const { emptyChunks, reasoningTokens, text, tokenSource, outputTokens } = result;
  const fits = expect.detectDegenerate && text === '' && tokenSource === 'usage' && !reasoningTokens;
  const empty = Math.min(emptyChunks, outputTokens ?? 0);
  if (!fits || empty < LEAST_EMPTY_TOKENS) return null;
  const message = `the answer is ${empty} tokens without any text`;
  return { reason: 'degenerate_output', message, detail: { kind: 'empty', characters: 0 } };
}

/** What a reader sees; reasoning is no answer, so a profile that expects one is not content with it. */
const visible = ({ firstContentAt, text }: ReadingResult): string => (firstContentAt === null ? '' : text);

/** An answer is expected, and reasoning has used up the tokens before there was one: not the endpoint's fault. */
function checkVisible(result: ReadingResult): UnmetExpectation | null {
  if (result.firstContentAt !== null || result.text === '' || result.finishReason !== 'length') return null;
  return {
    reason: 'no_visible_output',
    message: 'an answer is expected, and only reasoning came',
    detail: { tokens: result.outputTokens ?? 0, finish_reason: 'length' },
  };
}

/** `search` neither reads nor moves the position of a global expression, so a profile may be checked for ever. */
function checkPattern(pattern: RegExp, result: ReadingResult): UnmetExpectation | null {
  const text = visible(result);
  if (text.search(pattern) !== -1) return null;
  const detail = { check: 'pattern', pattern: pattern.source, characters: text.length };
  return failed('the answer does not match the expected pattern', detail);
}

function checkAnswer(answer: string, result: ReadingResult): UnmetExpectation | null {
  const text = visible(result);
  if (text.trim() === answer.trim()) return null;
  const detail = { check: 'answer', characters: text.length, answer_hash: text === '' ? '' : (result.textHash ?? '') };
  return failed('the answer is not the expected one', detail);
}

/**
 * Holds a complete answer against what the profile wants of it. Null: all is well. Garbage is looked for first, as it
 * explains why the rest fails too.
 */
export function checkExpectation(expect: Expectation, result: ReadingResult): UnmetExpectation | null {
  return (
    (expect.detectDegenerate ? checkDegeneration(result) : null) ??
    (expect.minTokens === null ? null : checkTokens(expect.minTokens, result)) ??
    (expect.pattern === null && expect.answer === null ? null : checkVisible(result)) ??
    (expect.pattern === null ? null : checkPattern(expect.pattern, result)) ??
    (expect.answer === null ? null : checkAnswer(expect.answer, result))
  );
}

import { findDegeneration } from './degenerate.ts';
import type { Expectation } from './profile.ts';
import type { ReadingResult } from './reading.ts';

/** Why a complete answer is not what the profile wants. Never holds any of the answer: it may be logged. */
export interface UnmetExpectation {
  readonly reason: 'expectation_failed' | 'degenerate_output';
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

/** `search` neither reads nor moves the position of a global expression, so a profile may be checked for ever. */
function checkPattern(pattern: RegExp, result: ReadingResult): UnmetExpectation | null {
  if (result.text.search(pattern) !== -1) return null;
  const detail = { check: 'pattern', pattern: pattern.source, characters: result.text.length };
  return failed('the answer does not match the expected pattern', detail);
}

function checkAnswer(answer: string, result: ReadingResult): UnmetExpectation | null {
  if (result.text.trim() === answer.trim()) return null;
  const detail = { check: 'answer', characters: result.text.length, answer_hash: result.textHash ?? '' };
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
    (expect.pattern === null ? null : checkPattern(expect.pattern, result)) ??
    (expect.answer === null ? null : checkAnswer(expect.answer, result))
  );
}

import type { MonotonicInstant } from '../units.ts';
import { isBuffered } from './buffered.ts';
import type { ReadingResult } from './reading.ts';
import type { TextDigest } from './text-digest.ts';
import type { TokenTiming } from './token-timing.ts';
import type { Usage } from './usage.ts';

/** The parts of a result that need no more work. */
type PlainFacts = Pick<
  ReadingResult,
  | 'firstEventAt'
  | 'firstContentAt'
  | 'terminalAt'
  | 'events'
  | 'nonconformingEvents'
  | 'keepAlives'
  | 'emptyChunks'
  | 'finishReason'
  | 'terminal'
  | 'endDoubtful'
  | 'error'
  | 'fault'
  | 'foreignForm'
  | 'timeline'
>;

export interface ReadingAccount {
  readonly requestAt: MonotonicInstant | null;
  readonly timing: TokenTiming;
  readonly totals: Usage;
  /** Other choices than the first were sent, so the totals are not about what was read. */
  readonly foreignChoices: boolean;
  readonly lostEvents: number;
  readonly content: TextDigest;
  readonly reasoning: TextDigest;
  readonly hashText: boolean;
  readonly facts: PlainFacts;
}

/** Output tokens according to the server; null when it says nothing, or counts something else than what was read. */
function tokensFromUsage({ totals, timing, foreignChoices }: ReadingAccount): number | null {
  if (foreignChoices) return null;
  if (timing.countRefuted && (totals.completionTokens ?? 0) <= timing.countedTokens) return null;
  return Math.max(totals.completionTokens ?? 0, timing.countedTokens) || null;
}

/** Reasoning that was counted but never sent. A count that is not part of the total does not qualify. */
function hiddenTokens({ totals, reasoning }: ReadingAccount, usageTokens: number | null): number {
  const counted = totals.reasoningTokens ?? 0;
  return reasoning.empty && usageTokens !== null && counted < usageTokens ? counted : 0;
}

/** Puts the account of one stream together. */
export function createReadingSummary(account: ReadingAccount): ReadingResult {
  const { content, reasoning, totals, requestAt } = account;
  const usageTokens = tokensFromUsage(account);
  const hidden = hiddenTokens(account, usageTokens);
  const times = account.timing.times({
    totalTokens: usageTokens,
    hiddenTokens: hidden,
    lostEvents: account.lostEvents,
  });
  const outputTokens = usageTokens ?? (times.tokenChunks || null);
  const { firstAt, lastAt, gapsSeconds } = times;
  const buffered = isBuffered({ requestAt, firstAt, lastAt, gapsSeconds, tokens: (outputTokens ?? 0) - hidden });
  const answer = content.empty ? reasoning : content;
  const { facts } = account;
  // Field by field: a spread of this many makes an object of no fixed shape, at many times the cost.
  return {
    firstEventAt: facts.firstEventAt,
    firstContentAt: facts.firstContentAt,
    terminalAt: facts.terminalAt,
    events: facts.events,
    nonconformingEvents: facts.nonconformingEvents,
    keepAlives: facts.keepAlives,
    emptyChunks: facts.emptyChunks,
    finishReason: facts.finishReason,
    terminal: facts.terminal,
    endDoubtful: facts.endDoubtful,
    error: facts.error,
    fault: facts.fault,
    foreignForm: facts.foreignForm,
    timeline: facts.timeline,
    firstTokenAt: firstAt,
    lastTokenAt: lastAt,
    gapsSeconds,
    // In a buffered stream the quotient describes the buffer; a number that must not be used is not given.
    tpotSeconds: buffered ? null : times.tpotSeconds,
    outputTokens,
    firstChunkTokens: times.firstChunkTokens,
    tokenSource: usageTokens === null ? (outputTokens === null ? null : 'chunks') : 'usage',
    promptTokens: totals.promptTokens,
    cachedPromptTokens: totals.cachedPromptTokens,
    reasoningTokens: totals.reasoningTokens,
    tokenChunks: times.tokenChunks,
    buffered,
    text: answer.text(),
    textHash: account.hashText ? answer.hash() : null,
  };
}

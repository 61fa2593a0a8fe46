import type { ProbeOutcome } from '../probe/outcome.ts';
import { elapsed, type MonotonicInstant } from '../units.ts';
import type { RequestRecord, RunPhase } from './types.ts';

/** What a record says besides the outcome. */
export interface RequestFrame {
  readonly index: number;
  readonly phase: RunPhase;
  readonly worker: number;
  readonly scheduledAt: MonotonicInstant | null;
  /** The zero of the run. */
  readonly origin: MonotonicInstant;
}

/** To the microsecond: the stamps are no better, and files stay small. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
const roundedOrNull = (value: number | null): number | null => (value === null ? null : rounded(value));

/** Rounded by their sum, so that the last chunk is where it was however many there are. */
function gapsInMicroseconds(gapsSeconds: readonly number[]): number[] {
  let sum = 0;
  let told = 0;
  return gapsSeconds.map((gap) => {
    sum += gap * 1e6;
    const micros = Math.round(sum) - told;
    told += micros;
    return micros;
  });
}

export function toRequestRecord(outcome: ProbeOutcome, frame: RequestFrame): RequestRecord {
  const at = (instant: MonotonicInstant): number => rounded(elapsed(frame.origin, instant));
  const failure = outcome.outcome === 'failed' ? outcome.failure : null;
  return {
    index: frame.index,
    id: outcome.id,
    phase: frame.phase,
    worker: frame.worker,
    scheduledAtSeconds: frame.scheduledAt === null ? null : at(frame.scheduledAt),
    beganAtSeconds: at(outcome.beganAt),
    sentAtSeconds: outcome.requestAt === null ? null : at(outcome.requestAt),
    endedAtSeconds: at(outcome.endedAt),
    outcome: outcome.outcome,
    reason: failure?.reason ?? null,
    side: failure?.side ?? null,
    httpStatus: outcome.httpStatus,
    ttftSeconds: roundedOrNull(outcome.ttftSeconds),
    // Divided by tokens: a microsecond would be 0.1 % of a fast engine's.
    tpotSeconds: outcome.tpotSeconds === null ? null : Math.round(outcome.tpotSeconds * 1e9) / 1e9,
    durationSeconds: roundedOrNull(outcome.durationSeconds),
    longestGapSeconds: roundedOrNull(outcome.longestGapSeconds),
    outputTokens: outcome.outputTokens,
    tokenSource: outcome.tokenSource,
    firstChunkTokens: outcome.firstChunkTokens,
    promptTokens: outcome.promptTokens,
    cachedPromptTokens: outcome.cachedPromptTokens,
    finishReason: outcome.finishReason,
    buffered: outcome.buffered,
    disturbed: outcome.disturbed,
    ...(outcome.retriedStaleConnection && { sentTwice: true as const }),
    gapsMicroseconds: gapsInMicroseconds(outcome.gapsSeconds),
  };
}

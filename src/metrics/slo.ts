import type { SloName, SloSettings } from '../config/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import type { FailureReason } from '../probe/reasons.ts';
import type { FinishedProbe } from '../record.ts';

/** What a probe says for each objective: a good event, a bad one, or none. */
export type SloVerdict = Readonly<Record<SloName, 'good' | 'bad' | 'none'>>;

const NONE: SloVerdict = { availability: 'none', ttft: 'none', tpot: 'none' };

/** Failures that are only a timer of ours running out: when our own loop was late, they prove nothing. */
const DEADLINE_REASONS: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'connect_timeout',
  'headers_timeout',
  'ttft_timeout',
  'stalled',
  'total_timeout',
]);

const within = (value: number | null, threshold: number): 'good' | 'bad' =>
  value !== null && value <= threshold ? 'good' : 'bad';

function tpotVerdict(outcome: ProbeOutcome, thresholdSeconds: number): 'good' | 'bad' | 'none' {
  // Broken off in the middle of decoding: the reader did not get the rest at any pace.
  if (outcome.outcome === 'failed') return outcome.ttftSeconds === null ? 'none' : 'bad';
  if (outcome.buffered || outcome.tpotSeconds === null) return 'none';
  return within(outcome.tpotSeconds, thresholdSeconds);
}

/**
 * The verdicts of one probe.
 *
 * - availability: every probe but faults on the side of the probe; good when the probe was good.
 * - ttft: the same events; good when the probe was good and its first token came within the threshold.
 * - tpot: probes that have a TPOT (good when it is within the threshold) and probes that failed after their first token
 *   (bad). One-token answers and buffered streams are no events.
 *
 * Warm-up probes are no events. A disturbed probe is none for ttft and tpot, and a deadline that ran out on a disturbed
 * probe is none at all.
 */
export function sloVerdict(finished: FinishedProbe, slo: SloSettings): SloVerdict {
  const { outcome } = finished;
  if (finished.warmup) return NONE;
  const failure = outcome.outcome === 'failed' ? outcome.failure : null;
  if (failure?.side === 'probe') return NONE;
  if (failure !== null && outcome.disturbed && DEADLINE_REASONS.has(failure.reason)) return NONE;
  const availability = failure === null ? 'good' : 'bad';
  if (outcome.disturbed) return { ...NONE, availability };
  return {
    availability,
    ttft: failure === null ? within(outcome.ttftSeconds, slo.ttft.thresholdSeconds) : 'bad',
    tpot: tpotVerdict(outcome, slo.tpot.thresholdSeconds),
  };
}

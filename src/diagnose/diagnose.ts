import type { EngineSample, EngineZone } from '../engine/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import { elapsed, type Seconds, seconds } from '../units.ts';
import { gatherEvidence } from './evidence.ts';
import { FAILURE_KINDS, type FailureKind } from './kinds.ts';
import type { Cause, Diagnosis, Evidence } from './types.ts';

/** Beyond these a good probe is slow. */
export interface SlowThresholds {
  readonly ttftSeconds: Seconds;
  readonly tpotSeconds: Seconds;
}

/** A KV cache this full makes the scheduler hold requests back; paged caches seldom show the last percents. */
export const KV_PRESSURE_RATIO = 0.9;
/** A gap this many times as long as the usual one is a burst: another request's prefill took a step of ours. */
export const BURST_FACTOR = 3;
/** A late event loop of ours explains a deadline that passed when it was late for at least this share of the time. */
export const CLIENT_SHARE = 0.1;
/** Connect and header phases dominate when they make up at least this share of the time. */
const DOMINANT_SHARE = 0.5;
/** Counters that stand still for a shorter time prove nothing: engines refresh them only now and then. */
export const FROZEN_SECONDS = seconds(3);

/** The case in hand, as all rules see it. */
interface Case {
  readonly outcome: ProbeOutcome;
  readonly samples: readonly EngineSample[];
  readonly evidence: Evidence;
  /** `slow` for a good probe. */
  readonly kind: FailureKind | 'slow';
  readonly thresholds: SlowThresholds;
}

const above = (value: number | null, bound: number): boolean => value !== null && value > bound;

/** Whether a good probe passed a threshold. The TPOT of a buffered stream describes the buffer. */
function isSlow(
  outcome: Pick<ProbeOutcome, 'ttftSeconds' | 'tpotSeconds' | 'buffered'>,
  thresholds: SlowThresholds,
): boolean {
  return (
    above(outcome.ttftSeconds, thresholds.ttftSeconds) ||
    (!outcome.buffered && above(outcome.tpotSeconds, thresholds.tpotSeconds))
  );
}

/** Kinds that the load of an engine can explain. A wrong answer is no slower for a queue. */
const LOAD_EXPLAINS: ReadonlySet<Case['kind']> = new Set(['slow', 'silence', 'refusal', 'break']);

/** The good probe as it would have been, had our own event loop not been late. */
function undisturbed(
  outcome: ProbeOutcome,
  delay: number,
): Pick<ProbeOutcome, 'ttftSeconds' | 'tpotSeconds' | 'buffered'> {
  const less = (value: Seconds | null, by: number): Seconds | null => (value === null ? null : seconds(value - by));
  const { ttftSeconds, tpotSeconds, buffered, gapsSeconds } = outcome;
  // The same lateness spread over all gaps is the least that it can have added to each.
  const perToken = delay / Math.max(1, gapsSeconds.length);
  return { buffered, ttftSeconds: less(ttftSeconds, delay), tpotSeconds: less(tpotSeconds, perToken) };
}

/**
 * Our own event loop was late, and that is enough to explain what was seen: without it the probe would not have been
 * slow, or it was a considerable part of the time that ran out. A late loop breaks no stream and refuses nobody.
 */
function client({ outcome, kind, thresholds }: Case): boolean {
  if (kind === 'ours') return true;
  if (!outcome.disturbed) return false;
  const delay = outcome.eventLoopDelaySeconds ?? Number.POSITIVE_INFINITY;
  if (kind === 'slow') return !isSlow(undisturbed(outcome, delay), thresholds);
  if (kind !== 'silence' && kind !== 'path') return false;
  return delay >= CLIENT_SHARE * elapsed(outcome.beganAt, outcome.endedAt);
}

/** The engine's process is another one, says that it loads, or is gone: its port and its page both. */
function engineRestart({ evidence, kind, samples }: Case): boolean {
  if (evidence.restarted || kind === 'loading') return true;
  const pageLost = samples.length > 0 && !evidence.engineUp;
  return pageLost && (kind === 'gone' || kind === 'break');
}

/** What shows that an engine works. Many count tokens only when a request ends. */
const workOf = ({ progress, generationTokens }: EngineSample): number | null => progress ?? generationTokens;

/** Whether nothing that moves with the engine's work did so, for long enough and to the end of the samples. */
function isFrozen(samples: readonly EngineSample[]): boolean {
  const known = samples.filter((sample) => sample.up && workOf(sample) !== null);
  const last = known.at(-1);
  if (last === undefined || last.asleep) return false;
  const moved = known.findLastIndex((sample) => workOf(sample) !== workOf(last));
  const standing = last.at - (known[moved + 1]?.at ?? last.at);
  return standing >= Math.max(FROZEN_SECONDS, last.progressEverySeconds ?? 0);
}

/** The sampler says so; or we got silence while no request at all got a token. */
function engineHang({ outcome, samples, evidence, kind }: Case): boolean {
  if (evidence.hung) return true;
  if (kind !== 'silence' || !isFrozen(samples)) return false;
  const busy = (evidence.runningMax ?? 0) > 0 || (evidence.waitingMax ?? 0) > 0;
  // Without headers an idle engine may never have seen the request: that is the network's silence.
  return busy || outcome.phases.headers !== null;
}

const rateLimit = ({ kind }: Case): boolean => kind === 'limit';

const preemption = ({ evidence, kind }: Case): boolean =>
  LOAD_EXPLAINS.has(kind) && (evidence.preemptionsIncrease ?? 0) > 0;

const queueing = ({ evidence, kind }: Case): boolean => LOAD_EXPLAINS.has(kind) && (evidence.waitingMax ?? 0) > 0;

const kvPressure = ({ evidence, kind }: Case): boolean =>
  LOAD_EXPLAINS.has(kind) && (evidence.kvUsageRatioMax ?? 0) >= KV_PRESSURE_RATIO;

/** Our own probe is one of the running requests at the most. */
function othersRunning({ outcome, samples, evidence }: Case): boolean {
  if ((evidence.runningMax ?? 0) > 1) return true;
  return samples.some((sample) => sample.at < outcome.beganAt && (sample.running ?? 0) > 0);
}

function gapsBurst({ outcome }: Case): boolean {
  const gaps = [...outcome.gapsSeconds].sort((a, b) => a - b);
  const usual = gaps[Math.floor((gaps.length - 1) / 2)];
  if (outcome.buffered || usual === undefined || gaps.length < 3) return false;
  return (gaps.at(-1) ?? 0) >= BURST_FACTOR * usual;
}

function prefillContention(subject: Case): boolean {
  const { outcome, kind, thresholds } = subject;
  if (!othersRunning(subject)) return false;
  if (kind === 'silence') return true;
  return kind === 'slow' && (above(outcome.ttftSeconds, thresholds.ttftSeconds) || gapsBurst(subject));
}

/** The engine had nothing to do but our probe, or is not known to have had; and mostly not even that. */
function idle({ outcome, samples, evidence }: Case): boolean {
  if ((evidence.waitingMax ?? 0) > 0 || (evidence.runningMax ?? 0) > 1) return false;
  const during = samples.filter(
    (sample) => sample.up && sample.running !== null && sample.at >= outcome.beganAt && sample.at < outcome.endedAt,
  );
  const atWork = during.filter((sample) => (sample.running ?? 0) > 0);
  return atWork.length <= during.length / 2;
}

/** Whether connecting and waiting for headers took most of the time to the first token, or to the failure. */
function wayDominates({ outcome, evidence }: Case): boolean {
  const connecting = evidence.connectSeconds ?? 0;
  const answered = outcome.ttftSeconds ?? outcome.durationSeconds;
  if (answered === null) return true;
  return connecting + (evidence.headersSeconds ?? answered) >= DOMINANT_SHARE * (connecting + answered);
}

function network(subject: Case): boolean {
  const { kind, evidence, outcome, thresholds } = subject;
  if (kind === 'path') return true;
  // The engine answers on its own page, and yet we cannot reach it.
  if (kind === 'gone') return evidence.engineUp;
  const engineSeen = evidence.runningMax !== null || evidence.waitingMax !== null;
  if (!engineSeen || !idle(subject) || !wayDominates(subject)) return false;
  if (kind === 'slow') return above(outcome.ttftSeconds, thresholds.ttftSeconds);
  return kind === 'silence' || (kind === 'break' && outcome.phases.headers === null);
}

/** In the order of elimination; the first that holds is the cause. */
const RULES: readonly (readonly [Exclude<Cause, 'unknown'>, (subject: Case) => boolean])[] = [
  ['client', client],
  ['engine_restart', engineRestart],
  ['engine_hang', engineHang],
  ['rate_limit', rateLimit],
  ['preemption', preemption],
  ['queueing', queueing],
  ['kv_pressure', kvPressure],
  ['prefill_contention', prefillContention],
  ['network', network],
];

function eliminate(subject: Case): Cause {
  const found = RULES.find(([, holds]) => holds(subject));
  if (found !== undefined) return found[0];
  // Refused without any sign of load: some admission limit in front of the engine.
  return subject.kind === 'refusal' ? 'rate_limit' : 'unknown';
}

/**
 * Why a probe was slow or failed: exactly one cause, by elimination (docs/causes.md). Null for a good probe within its
 * thresholds.
 *
 * @param samples the engine's, oldest first, from the last one before the probe to one after it; empty without a page
 * @param zone load zone of the engine at the end of the probe
 */
export function diagnose(
  outcome: ProbeOutcome,
  samples: readonly EngineSample[],
  thresholds: SlowThresholds,
  zone: EngineZone | null,
): Diagnosis | null {
  if (outcome.outcome === 'good' && !isSlow(outcome, thresholds)) return null;
  const evidence = gatherEvidence(outcome, samples, zone);
  const kind = outcome.outcome === 'good' ? 'slow' : FAILURE_KINDS[outcome.failure.reason];
  return { cause: eliminate({ outcome, samples, evidence, kind, thresholds }), evidence };
}

import type { Seconds } from '../units.ts';
import { elapsed } from '../units.ts';
import type { EngineSample, EngineZone } from './types.ts';

/*
 * The load zone of an engine, from the samples of a rolling window (docs/zones.md has the same rule for people).
 *
 * overload  - a request was preempted inside the window, or
 *           - requests wait in at least HELD of the samples and in most of these the KV cache is near full, or
 *           - requests wait in at least HELD of the samples and the queue is on average at least as long as the running
 *             batch: a newcomer waits for a whole generation, whatever the cache says (limit of sequences, compute).
 * knee      - no overload, but requests wait now and then: in at least SEEN of the samples, and at least twice.
 * underload - neither.
 *
 * Hysteresis: overload is left only when no preemption is left in the window and requests wait in fewer than RELEASED of
 * the samples; knee is left only when no sample of the window has a request waiting. So a zone that was entered lasts
 * for as long as its traces are inside the window, and values around a limit do not make it flap.
 */
const HELD = 0.8;
const RELEASED = 0.5;
const SEEN = 0.05;
const SEEN_AT_LEAST = 2;
export const KV_NEAR_FULL_RATIO = 0.9;
const SAMPLES_NEEDED = 3;

interface WindowFacts {
  readonly samples: number;
  readonly preempted: boolean;
  readonly waitingSamples: number;
  readonly waitingShare: number;
  readonly nearFullShareWhileWaiting: number;
  /** Mean queue by mean batch, over the samples with a queue. */
  readonly queueByBatch: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function factsOf(window: readonly EngineSample[]): WindowFacts {
  const known = window.filter((sample) => sample.waiting !== null);
  const waiting = known.filter((sample) => (sample.waiting ?? 0) > 0);
  // Our own counter starts at 0; SGLang's is born with the first event, and then an earlier sample does not have it.
  const preemptions = window.map((sample) => sample.preemptions ?? 0);
  const nearFull = waiting.filter((sample) => (sample.kvUsageRatio ?? 0) >= KV_NEAR_FULL_RATIO);
  const queue = waiting.length === 0 ? 0 : mean(waiting.map((sample) => sample.waiting ?? 0));
  const batch = waiting.length === 0 ? 0 : mean(waiting.map((sample) => sample.running ?? 0));
  return {
    samples: window.length,
    preempted: (preemptions.at(-1) ?? 0) > (preemptions[0] ?? 0),
    waitingSamples: waiting.length,
    waitingShare: known.length === 0 ? 0 : waiting.length / known.length,
    nearFullShareWhileWaiting: waiting.length === 0 ? 0 : nearFull.length / waiting.length,
    queueByBatch: batch > 0 ? queue / batch : queue,
  };
}

function isOverload(facts: WindowFacts, previous: EngineZone | null): boolean {
  if (facts.preempted) return true;
  if (previous === 'overload' && facts.waitingShare >= RELEASED) return true;
  return facts.waitingShare >= HELD && (facts.nearFullShareWhileWaiting >= 0.5 || facts.queueByBatch >= 1);
}

function isKnee(facts: WindowFacts, previous: EngineZone | null): boolean {
  const { waitingSamples, waitingShare } = facts;
  if (previous !== null && previous !== 'underload' && waitingSamples > 0) return true;
  return waitingSamples >= SEEN_AT_LEAST && waitingShare >= SEEN;
}

/**
 * The zone after the newest sample of `window` (oldest first, failed polls left out). Null while it cannot be told: too
 * few samples, or an engine that shows neither a queue nor preemptions.
 */
export function decideZone(window: readonly EngineSample[], previous: EngineZone | null): EngineZone | null {
  const tells = window.some((sample) => sample.waiting !== null || sample.preemptions !== null);
  if (window.length < SAMPLES_NEEDED || !tells) return null;
  const facts = factsOf(window);
  if (isOverload(facts, previous)) return 'overload';
  return isKnee(facts, previous) ? 'knee' : 'underload';
}

/** The good samples of the last `windowSeconds` before the newest one. */
export function zoneWindow(samples: readonly EngineSample[], windowSeconds: Seconds): readonly EngineSample[] {
  const newest = samples.at(-1);
  if (newest === undefined) return [];
  return samples.filter((sample) => sample.up && elapsed(sample.at, newest.at) <= windowSeconds);
}

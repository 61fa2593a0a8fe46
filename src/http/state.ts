import type { SloSettings } from '../config/types.ts';
import type { ProbeSummary } from './recent.ts';

/** How a probe, a profile or a target is doing, in the order from good to bad. */
export const STATES = ['good', 'slow', 'failing'] as const;
export type State = (typeof STATES)[number];

/** What a person would say of one probe: within its thresholds, too slow, or failed. */
export function stateOf(probe: ProbeSummary, slo: SloSettings): State {
  if (probe.outcome === 'failed') return 'failing';
  const slow =
    (probe.ttftSeconds ?? 0) > slo.ttft.thresholdSeconds || (probe.tpotSeconds ?? 0) > slo.tpot.thresholdSeconds;
  return slow ? 'slow' : 'good';
}

/** A state with the start of the first probe of the unbroken run that ends now. */
export interface StateSince {
  readonly state: State;
  readonly since: number;
  /** Probes in that run. */
  readonly probes: number;
}

/** How a profile is doing and since when; null before its first probe that counts (warm-up and disturbed ones do not). */
export function profileState(probes: readonly ProbeSummary[], slo: SloSettings): StateSince | null {
  const counting = probes.filter((probe) => !probe.warmup && !probe.disturbed);
  const last = counting.at(-1);
  if (last === undefined) return null;
  const state = stateOf(last, slo);
  let since = last;
  let run = 0;
  for (let index = counting.length - 1; index >= 0; index -= 1) {
    const probe = counting[index];
    if (probe === undefined || stateOf(probe, slo) !== state) break;
    since = probe;
    run += 1;
  }
  return { state, since: since.startedAt, probes: run };
}

/** The worst of the profiles; of equally bad ones the one that lasts longest. */
export function worstState(states: readonly (StateSince | null)[]): StateSince | null {
  const known = states.filter((state) => state !== null);
  const [worst] = [...known].sort((a, b) => STATES.indexOf(b.state) - STATES.indexOf(a.state) || a.since - b.since);
  return worst ?? null;
}

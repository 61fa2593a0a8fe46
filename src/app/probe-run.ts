import type { ScheduledProfile, TargetConfig } from '../config/types.ts';
import type { Diagnosis } from '../diagnose/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import type { EngineIdentity, FinishedProbe } from '../record.ts';
import type { Backoff } from '../schedule/backoff.ts';
import { type Reservation, type TokenBudget, worstCaseTokens } from '../schedule/budget.ts';
import { nominalInterval } from '../schedule/timetable.ts';
import type { Warmup } from '../schedule/warmup.ts';
import { type MonotonicInstant, seconds, type UnixTime } from '../units.ts';
import { abandonedOutcome } from './abandoned.ts';
import { endOf, spentTokens } from './accounting.ts';
import type { Exchange, ResolvedFacts } from './exchange.ts';
import type { Base, Reports } from './factories.ts';
import type { Sampling } from './sampling.ts';
import type { ProbeLog } from './state-log.ts';

/** One probe of a target, from the budget to the record. */
export interface ProbeRun {
  /** A probe has been good. */
  proven(): boolean;
  /** The work of one probe; null when the token budget does not allow it, or nothing is known of the endpoint. */
  begin(profile: ScheduledProfile): ((signal: AbortSignal) => Promise<void>) | null;
  /** Reports the probe begun last, which threw or never came back, as a fault of ours. */
  failedOurselves(message: string): void;
}

export interface ProbeRunDependencies extends Base {
  readonly target: () => TargetConfig;
  readonly exchange: Exchange;
  readonly sampling: Sampling;
  readonly warmup: Warmup;
  readonly backoff: Backoff;
  readonly budget: TokenBudget;
  readonly sink: Reports;
  readonly probeLog: ProbeLog;
  /** Where finished probes are kept for people. */
  readonly remember: (finished: FinishedProbe) => void;
  /** What is known of the endpoint should be looked at again: a first answer, or a model that is gone. */
  readonly onDoubt: () => void;
}

/** A probe that was begun. */
interface Flight {
  readonly scheduled: ScheduledProfile;
  readonly facts: ResolvedFacts;
  readonly reservation: Reservation;
  readonly worstTokens: number;
  readonly startedAt: UnixTime;
  readonly beganAt: MonotonicInstant;
}

// A process that stood still for so long was stopped or suspended: a deadline that passed meanwhile is not the
// endpoint's doing.
const SUSPENDED_SECONDS = seconds(5);

function wasSuspended(outcome: ProbeOutcome): boolean {
  return outcome.outcome === 'failed' && outcome.disturbed && (outcome.eventLoopDelaySeconds ?? 0) > SUSPENDED_SECONDS;
}

/** What is not known of the engine from asking the endpoint, its page may tell. */
function engineIdentity(facts: ResolvedFacts, sampling: Sampling): EngineIdentity | null {
  const seen = sampling.view()?.engine ?? 'unknown';
  const name = facts.engine ?? seen;
  return name === 'unknown' ? null : { name, version: facts.version };
}

export function createProbeRun(deps: ProbeRunDependencies): ProbeRun {
  const { clock, target, sink, sampling, warmup, backoff, budget, exchange } = deps;
  const name = target().name;
  const lastPromptTokens = new Map<string, number>();
  let proven = false;
  let last: Flight | null = null;

  const learn = (outcome: ProbeOutcome, { scheduled, facts }: Flight): void => {
    const { timetable, profile } = scheduled;
    if (outcome.promptTokens !== null) lastPromptTokens.set(profile.name, outcome.promptTokens);
    backoff.probeEnded(endOf(outcome), nominalInterval(timetable), outcome.retryAfterSeconds);
    if (outcome.outcome === 'failed') {
      if (outcome.failure.reason === 'not_found') deps.onDoubt();
      return;
    }
    warmup.markReady();
    if (!proven && (facts.engine === null || !facts.listed)) deps.onDoubt();
    proven = true;
  };

  const conclude = (outcome: ProbeOutcome, diagnosis: Diagnosis | null, facts: ResolvedFacts): void => {
    const engine = engineIdentity(facts, sampling);
    const finished = { outcome, diagnosis, engine, warmup: warmup.admit(outcome.profile) };
    sink.probeFinished(finished);
    deps.remember(finished);
    deps.probeLog.finished(finished);
  };

  const settle = (flight: Flight, tokens: number): void => {
    flight.reservation.settle(tokens);
    sink.budget(name, budget.remaining());
  };

  const perform = async (flight: Flight, signal: AbortSignal): Promise<void> => {
    try {
      const outcome = await exchange.probe(flight.scheduled, flight.facts, signal);
      if (outcome === null) return;
      settle(flight, spentTokens(outcome, flight.worstTokens));
      if (wasSuspended(outcome)) {
        sink.probeSkipped(name, outcome.profile, 'missed', false);
        return;
      }
      learn(outcome, flight);
      const diagnosis = await sampling.explain(outcome, signal);
      // Shutting down, or given up meanwhile: all of a record or nothing.
      if (!signal.aborted) conclude(outcome, diagnosis, flight.facts);
    } finally {
      // Of a probe that was aborted nobody knows how far the engine got.
      settle(flight, flight.worstTokens);
    }
  };

  return {
    proven: () => proven,
    begin(scheduled) {
      const { profile } = scheduled;
      const facts = exchange.facts();
      const worstTokens = worstCaseTokens({ ...profile, lastPromptTokens: lastPromptTokens.get(profile.name) ?? null });
      const reservation = facts === null ? null : budget.reserve(worstTokens);
      if (facts === null || reservation === null) return null;
      const [startedAt, beganAt] = [clock.unix(), clock.monotonic()];
      const flight: Flight = { scheduled, facts, reservation, worstTokens, startedAt, beganAt };
      last = flight;
      return (signal) => perform(flight, signal);
    },
    failedOurselves(message) {
      if (last === null) return;
      const { scheduled, facts, worstTokens, startedAt, beganAt } = last;
      settle(last, worstTokens);
      const known = { target: name, model: facts.model, profile: scheduled.profile.name, api: exchange.api() };
      const outcome = abandonedOutcome({ ...known, startedAt, beganAt, endedAt: clock.monotonic(), message });
      void sampling.explain(outcome, AbortSignal.abort()).then((diagnosis) => conclude(outcome, diagnosis, facts));
    },
  };
}

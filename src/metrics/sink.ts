import type { EngineView } from '../engine/types.ts';
import type { SkipReason } from '../probe/outcome.ts';
import type { FinishedProbe } from '../record.ts';
import type { Seconds, UnixTime } from '../units.ts';

/** Tokens that may still be spent, by window. */
export interface BudgetState {
  readonly hour: number;
  readonly day: number;
}

/** Where the rest of the program reports to. Knows nothing of Prometheus; `metrics/` implements it with prom-client. */
export interface MetricsSink {
  /** A finished probe, warm-up or not. NaN and negative values are dropped and counted, never observed. */
  probeFinished(finished: FinishedProbe): void;
  /** A tick that sent nothing. `countsAgainstSlo`: the endpoint was what made us skip (overlap with a slow probe). */
  probeSkipped(target: string, profile: string, reason: SkipReason, countsAgainstSlo: boolean): void;
  /** The actual start of a probe minus its due time. */
  scheduleLag(target: string, profile: string, lag: Seconds): void;
  paused(target: string, paused: boolean): void;
  budget(target: string, remaining: BudgetState): void;
  /** Asked for at each scrape. */
  engineViews(source: () => readonly EngineView[]): void;
  configReloaded(successful: boolean, at: UnixTime): void;
}

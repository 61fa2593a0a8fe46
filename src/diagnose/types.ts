import type { EngineZone } from '../engine/types.ts';

/** The closed set of causes, in the order of elimination (docs/causes.md). */
export const CAUSES = [
  'client',
  'engine_restart',
  'engine_hang',
  'rate_limit',
  'preemption',
  'queueing',
  'kv_pressure',
  'prefill_contention',
  'network',
  'unknown',
] as const;
export type Cause = (typeof CAUSES)[number];

/** The values the verdict was taken from, for the record, the page and the log line. Null: not known. */
export interface Evidence {
  readonly samples: number;
  readonly kvUsageRatioMax: number | null;
  readonly runningMax: number | null;
  readonly waitingMax: number | null;
  readonly preemptionsIncrease: number | null;
  readonly generationTokensIncrease: number | null;
  readonly restarted: boolean;
  readonly hung: boolean;
  readonly engineUp: boolean;
  readonly zone: EngineZone | null;
  readonly connectSeconds: number | null;
  readonly headersSeconds: number | null;
  readonly ttftSeconds: number | null;
  readonly longestGapSeconds: number | null;
  readonly eventLoopDelaySeconds: number | null;
}

export interface Diagnosis {
  readonly cause: Cause;
  readonly evidence: Evidence;
}

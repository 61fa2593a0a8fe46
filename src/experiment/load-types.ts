import type { Clock } from '../clock.ts';
import type { TargetConfig } from '../config/types.ts';
import type { Discovery } from '../engine/types.ts';
import type { Logger } from '../log.ts';
import type { Deadlines } from '../probe/profile.ts';
import type { Summary } from './summary-types.ts';
import type { Arrival, LoadPlan, RunMetadata, RunPhase } from './types.ts';

/** What somebody wants measured. Nothing in it has been checked against the endpoint yet. */
export interface LoadRequest {
  /** Model, API and engine may be `auto`: found by asking. */
  readonly target: TargetConfig;
  readonly deadlines: Deadlines;
  /** Read the engine's metrics page beside the load. */
  readonly metrics: boolean;
  readonly arrival: Arrival;
  readonly windowSeconds: number;
  /** Left out of the figures at each end of the window. */
  readonly trimSeconds: number;
  /** Longest warm-up; 0: none. */
  readonly warmupMaxSeconds: number;
  /** Longest wait for an idle engine before the window. */
  readonly drainMaxSeconds: number;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
  readonly prefix: 'unique' | 'shared';
  readonly respectEos: boolean;
  /** One prompt a line: plain text, or JSON (a string, or an object with `prompt`). */
  readonly promptsFile: string | null;
  /** Decides prompts and arrivals. */
  readonly seed: string;
  readonly workers: number;
  readonly slo: LoadPlan['slo'];
}

/** A request that was checked against the endpoint, and can be run. */
export interface PreparedLoad {
  readonly request: LoadRequest;
  /** Resolved; `promptSetHash` is empty until the prompts are calibrated. */
  readonly plan: LoadPlan;
  readonly discovery: Discovery | null;
  /** Most tokens that the run can cost, warm-up included, as far as it can be told before; null for a closed loop. */
  readonly cost: {
    readonly maxRequests: number | null;
    readonly promptTokensPerRequest: number;
    readonly outputTokensPerRequest: number;
    /** From asking, roughly: null where nothing is known of the engine's speed. */
    readonly estimatedTokens: number | null;
  };
  readonly warnings: readonly string[];
}

export interface LoadProgress {
  readonly phase: RunPhase;
  /** Seconds until the end of the window; an estimate before it begins. */
  readonly leftSeconds: number;
  readonly inFlight: number;
  readonly ended: number;
  readonly failed: number;
  readonly outputTokensPerSecond: number;
}

export interface LoadDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the run in good order with a partial result. */
  readonly signal: AbortSignal;
  /** Called about once a second. */
  readonly onProgress?: (progress: LoadProgress) => void;
  /** How to start this program anew for further workers; null: one worker only. */
  readonly workerScript?: string | null;
}

export interface LoadResult {
  readonly folder: string;
  readonly metadata: RunMetadata;
  readonly summary: Summary;
}

/**
 * Checks what can be known before anything is generated: whether the target answers, lists the model, has room for the
 * prompt; whether the objectives can be measured in the window.
 *
 * @throws ProbeExporterError USAGE, with what to do
 */
export type PrepareLoad = (
  request: LoadRequest,
  deps: Pick<LoadDependencies, 'clock' | 'log' | 'signal'>,
) => Promise<PreparedLoad>;

/**
 * Calibrates the prompts, warms up, drains, loads, and writes the run folder as it goes. An abort or a failing endpoint
 * gives a partial result.
 *
 * @param folder created; must not exist, or be empty
 * @throws ProbeExporterError USAGE when the run could not begin: folder not writable, prompts that cannot be calibrated,
 *   a parameter that the endpoint refuses
 */
export type RunLoad = (prepared: PreparedLoad, folder: string, deps: LoadDependencies) => Promise<LoadResult>;

import type { EndpointFacts } from '../app/endpoint-facts.ts';
import type { Clock } from '../clock.ts';
import type { TargetConfig } from '../config/types.ts';
import type { Discovery } from '../engine/types.ts';
import type { Logger } from '../log.ts';
import type { ApiName, ProbeOutcome } from '../probe/outcome.ts';
import type { Deadlines } from '../probe/profile.ts';
import type { PromptPlan } from './prompts.ts';
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

/** What a run may cost at most; null where it cannot be known yet. */
export interface LoadCost {
  readonly promptTokensPerRequest: number;
  readonly outputTokensPerRequest: number;
  /** Warm-up included. In a closed loop at the pace of a lone request, which load only slows down. */
  readonly mostRequests: number | null;
  readonly mostTokens: number | null;
}

/** A request that was checked against the endpoint, and can be run. */
export interface PreparedLoad {
  readonly request: LoadRequest;
  /** Resolved; `promptSetHash` is empty until the prompts are calibrated. */
  readonly plan: LoadPlan;
  readonly facts: EndpointFacts & { readonly model: string };
  readonly discovery: Discovery | null;
  /** Prompts of the file; empty for made ones. */
  readonly filePrompts: readonly string[];
  /** Null until `calibrateLoad`; a run without one makes its own. The same for all levels of one prompt size. */
  readonly calibration: Calibration | null;
  readonly cost: LoadCost;
  readonly warnings: readonly string[];
}

/** What a few requests to an endpoint without other load have shown. */
export interface Calibration {
  readonly api: ApiName;
  readonly prompts: PromptPlan;
  readonly promptSetHash: string;
  readonly measuredPromptTokens: RunMetadata['measuredPromptTokens'];
  readonly refusedParameters: readonly string[];
  /** Duration of one request of full length that was alone. */
  readonly aloneSeconds: number;
  readonly outcomes: readonly ProbeOutcome[];
  readonly notes: readonly string[];
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
  /** Of everything that was measured, also of what the disk did not take. */
  readonly summary: Summary;
  /** Why the disk took no more, in words; null where it took everything at once. */
  readonly diskFault: string | null;
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
 * Finds how the endpoint is asked, by a few requests: the API, parameters that it refuses, the words that make a prompt
 * of the wanted size by the engine's own count; and how fast a lone request is. Gives the request with its cost known.
 *
 * @throws ProbeExporterError USAGE when the endpoint cannot be reached or refuses, or `signal` aborted
 */
export type CalibrateLoad = (
  prepared: PreparedLoad,
  deps: Pick<LoadDependencies, 'clock' | 'log' | 'signal'>,
) => Promise<PreparedLoad>;

/**
 * Calibrates the prompts, warms up, drains, loads, and writes the run folder as it goes. An abort or a failing endpoint
 * gives a partial result.
 *
 * @param folder created; must not exist, or be empty
 * @throws ProbeExporterError USAGE when the run could not begin: folder not writable, prompts that cannot be calibrated,
 *   a parameter that the endpoint refuses; DISK_FAILED when the disk is nearly full
 */
export type RunLoad = (prepared: PreparedLoad, folder: string, deps: LoadDependencies) => Promise<LoadResult>;

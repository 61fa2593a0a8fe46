import type { HistogramRole } from '../engine/types.ts';
import type { ApiName, TokenSource } from '../probe/outcome.ts';
import type { FailureReason, FailureSide } from '../probe/reasons.ts';

/**
 * The records of a run. Every figure of every report is computed from these alone, so that `report DIR` can rebuild
 * what a crashed run left, and so that somebody else can compute other figures.
 *
 * All `...AtSeconds` count from the origin of the run (`metadata.origin`), on the monotonic clock.
 */
export const PHASES_OF_RUN = ['calibration', 'warmup', 'drain', 'window', 'cooldown'] as const;
export type RunPhase = (typeof PHASES_OF_RUN)[number];

/** One line of `requests.jsonl`: one request, written when it has ended. */
export interface RequestRecord {
  readonly index: number;
  readonly id: string;
  readonly phase: RunPhase;
  readonly worker: number;
  /** When the open loop wanted it sent; null in a closed loop. */
  readonly scheduledAtSeconds: number | null;
  /** When the client began it; setting up a connection lies between this and `sentAtSeconds`. */
  readonly beganAtSeconds: number;
  /** When it was handed to the socket; null when it never was. */
  readonly sentAtSeconds: number | null;
  readonly endedAtSeconds: number;
  readonly outcome: 'good' | 'failed';
  readonly reason: FailureReason | null;
  readonly side: FailureSide | null;
  readonly httpStatus: number | null;
  readonly ttftSeconds: number | null;
  readonly tpotSeconds: number | null;
  readonly durationSeconds: number | null;
  readonly longestGapSeconds: number | null;
  readonly outputTokens: number | null;
  readonly tokenSource: TokenSource | null;
  readonly firstChunkTokens: number | null;
  readonly promptTokens: number | null;
  readonly cachedPromptTokens: number | null;
  readonly finishReason: string | null;
  readonly buffered: boolean;
  readonly disturbed: boolean;
  /**
   * Sent twice: the kept connection was lost before a byte of the answer, and all times are those of the second sending.
   * Missing where it was not.
   */
  readonly sentTwice?: true;
  /** Gaps between token chunks in microseconds: with TTFT they give the arrival of every chunk. */
  readonly gapsMicroseconds: readonly number[];
}

/** One line of `engine.jsonl`: one poll of the engine. Counters are the exporter's own, from 0. */
export interface EngineRecord {
  readonly atSeconds: number;
  readonly up: boolean;
  readonly kvUsageRatio: number | null;
  readonly running: number | null;
  readonly waiting: number | null;
  readonly preemptions: number | null;
  readonly promptTokens: number | null;
  readonly generationTokens: number | null;
  readonly prefixQueries: number | null;
  readonly prefixHits: number | null;
  /** Restarts of the engine seen so far. */
  readonly restarts: number;
  /** The engine's own latency histograms since its start, all its series together; missing where it has none. */
  readonly latencySums?: Readonly<Partial<Record<HistogramRole, LatencySum>>>;
}

/** How often something was timed, and how long it took in all. */
export interface LatencySum {
  readonly count: number;
  readonly sumSeconds: number;
}

/** One line of `client.jsonl`: how the measuring client itself fared, each second. */
export interface ClientRecord {
  readonly atSeconds: number;
  readonly worker: number;
  readonly loopDelayP99Seconds: number;
  readonly cpuRatio: number;
  /** Requests started after their scheduled instant by this much at worst in this second. */
  readonly sendLagMaxSeconds: number;
  readonly inFlight: number;
  /** Open loop: requests that were due in this second and were not started, because too many were in flight. */
  readonly notStarted: number;
}

export type Arrival =
  | { readonly kind: 'closed'; readonly concurrency: number }
  | {
      readonly kind: 'open';
      readonly ratePerSecond: number;
      readonly process: 'poisson' | 'constant';
      readonly maxInFlight: number;
    };

/** What a load run was asked to do; part of `metadata.json`. */
export interface LoadPlan {
  readonly url: string;
  readonly model: string;
  readonly api: ApiName;
  readonly engine: string | null;
  readonly arrival: Arrival;
  readonly windowSeconds: number;
  readonly trimSeconds: number;
  readonly warmupMaxSeconds: number;
  readonly promptTokens: number;
  readonly maxOutputTokens: number;
  readonly prefix: 'unique' | 'shared';
  readonly respectEos: boolean;
  readonly promptsFile: string | null;
  readonly promptSetHash: string;
  readonly seed: string;
  readonly workers: number;
  readonly slo: {
    readonly ttftSeconds: number | null;
    readonly tpotSeconds: number | null;
    readonly e2eSeconds: number | null;
  };
  readonly metrics: boolean;
}

export interface RunMetadata {
  readonly format: 1;
  readonly tool: {
    readonly version: string;
    readonly revision: string;
    readonly node: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  readonly plan: LoadPlan;
  /** RFC 3339; the origin of all relative instants. */
  readonly origin: string;
  readonly host: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryBytes: number;
    readonly platform: string;
  };
  readonly engine: {
    readonly name: string;
    readonly version: string | null;
    readonly cacheConfig: Readonly<Record<string, string>>;
    readonly kvCapacityTokens: number | null;
    readonly maxModelLength: number | null;
    readonly models: readonly string[];
  } | null;
  readonly git: { readonly commit: string | null; readonly dirty: boolean } | null;
  readonly measuredPromptTokens: { readonly min: number; readonly median: number; readonly max: number } | null;
  /** Boundaries of the phases, in seconds from the origin; null where a phase never began or ended. */
  readonly phases: Readonly<Record<RunPhase, { readonly from: number | null; readonly to: number | null }>>;
  /** Processor time of this program over the window, all workers together; null before its end. */
  readonly clientCpuSeconds: number | null;
  readonly ended: 'complete' | 'partial' | 'running';
  /** For people: what cut the run short, or what to know of it. */
  readonly notes: readonly string[];
}

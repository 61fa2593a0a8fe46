import type { EngineZone, HistogramRole } from '../engine/types.ts';
import type { FailureReason, FailureSide } from '../probe/reasons.ts';
import type { Interval } from './statistics.ts';
import type { Arrival } from './types.ts';

/** A quantile in a form that JSON can hold: no Infinity, no NaN. */
export interface QuantileFigure {
  readonly quantile: number;
  /** Null with too few samples (`enough` is false), or when it falls among the failures (`unbounded` is true). */
  readonly seconds: number | null;
  /** 95 % interval. Null where the sample cannot bound it. */
  readonly lowSeconds: number | null;
  readonly highSeconds: number | null;
  /** Values it is taken from, failures included where they are counted. */
  readonly samples: number;
  readonly enough: boolean;
  readonly unbounded: boolean;
}

export interface Quantiles {
  readonly samples: number;
  /** Mean of the values that exist: without failures, whatever the quantiles do with them. */
  readonly meanSeconds: number | null;
  readonly p50: QuantileFigure;
  readonly p95: QuantileFigure;
  readonly p99: QuantileFigure;
}

/** One latency over the requests of the window, read in both ways. */
export interface LatencyFigures {
  /** Only requests that got the value. */
  readonly withoutFailures: Quantiles;
  /** Failures on the other side count as slower than everything that was seen (censored). */
  readonly withFailures: Quantiles;
}

export interface FailureCount {
  readonly reason: FailureReason;
  readonly side: FailureSide;
  readonly requests: number;
}

/** Ten seconds of the window; the last one may be shorter. Seconds from the origin of the run. */
export interface TimelineSlot {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** False for the part that is trimmed from the figures. */
  readonly inFigures: boolean;
  readonly outputTokens: number;
  readonly outputTokensPerSecond: number;
  /** Good requests that ended in it, a second. */
  readonly requestsPerSecond: number;
  /** Requests that ended in it with a failure. */
  readonly failures: number;
  /** Of the requests sent in it. */
  readonly ttftP50Seconds: number | null;
  readonly ttftMaxSeconds: number | null;
  readonly kvUsagePeak: number | null;
  readonly runningPeak: number | null;
  readonly waitingPeak: number | null;
  readonly preemptions: number | null;
  /** Output below 70 % of the mean of the trimmed window. Kept in all figures. */
  readonly flagged: boolean;
}

export interface GaugeFigures {
  readonly peak: number | null;
  readonly mean: number | null;
}

/** What the engine itself timed over the trimmed window, and what arrived here in the same time. */
export interface OwnLatency {
  readonly role: HistogramRole;
  readonly observations: number;
  readonly meanSeconds: number;
  /** Differs by what was on its way at the two polls, at most what was in flight. Null: cannot be seen from outside. */
  readonly clientObservations: number | null;
  readonly clientMeanSeconds: number | null;
}

/** What the engine said over the trimmed window. Null: it does not say. */
export interface EngineFigures {
  readonly polls: number;
  readonly failedPolls: number;
  readonly kvUsageRatio: GaugeFigures;
  readonly running: GaugeFigures;
  readonly waiting: GaugeFigures;
  /** Share of the polls in which requests were waiting. */
  readonly waitingShare: number | null;
  /** Increases between the polls nearest to the ends of the trimmed window. */
  readonly preemptions: number | null;
  readonly promptTokens: number | null;
  readonly generationTokens: number | null;
  readonly prefixHitRatio: number | null;
  /** Output tokens that arrived here by the engine's own count of generated ones; well below 1: others use it, too. */
  readonly ownTokensRatio: number | null;
  /** By the engine's own clock; empty where its page has no latency histograms. */
  readonly ownLatencies: readonly OwnLatency[];
  /** By the rule of `docs/zones.md`, the trimmed window taken as one. */
  readonly zone: EngineZone | null;
}

export const ELIMINATION_CAUSES = [
  'client',
  'failures',
  'other_load',
  'engine_restart',
  'preemption',
  'kv_pressure',
  'queueing',
  'prefill_contention',
  'buffering',
  'output_length',
] as const;
export type EliminationCause = (typeof ELIMINATION_CAUSES)[number];

/** A row of the table of elimination. */
export interface Elimination {
  readonly cause: EliminationCause;
  /** `remains`: it was there, and explains what was seen at least in part. `unknown`: nothing says whether it was. */
  readonly verdict: 'cleared' | 'remains' | 'unknown';
  /** The values that it was decided by, in words. */
  readonly evidence: string;
}

/** How the measuring client fared over the trimmed window. */
export interface ClientFigures {
  /** The client was the limit, so this run is not a result of the engine. */
  readonly limited: boolean;
  readonly reasons: readonly string[];
  /** Now and then it was late: the upper quantiles may be too high by that, but it was not the limit. */
  readonly disturbances: readonly string[];
  readonly workers: number;
  readonly loopDelayP99Seconds: number | null;
  readonly cpuMean: number | null;
  readonly cpuPeak: number | null;
  readonly sendLagMaxSeconds: number | null;
  /** Share of the requests whose times our own event loop spoiled. */
  readonly disturbedRatio: number | null;
}

export interface GoodputFigures {
  readonly ttftSeconds: number | null;
  readonly tpotSeconds: number | null;
  readonly e2eSeconds: number | null;
  /** Requests within every objective by all requests of the window, failed ones included; with its 95 % interval. */
  readonly ratio: Interval | null;
  readonly goodRequests: number;
  readonly requests: number;
  readonly goodRequestsPerSecond: number;
}

export interface OutputFigures {
  readonly samples: number;
  readonly meanTokens: number | null;
  readonly varianceTokens: number | null;
  /** Requests whose tokens were counted as chunks, because the engine sent no usage. */
  readonly countedAsChunks: number;
}

export interface PromptFigures {
  readonly minTokens: number | null;
  readonly meanTokens: number | null;
  readonly maxTokens: number | null;
  /** Cached prompt tokens by prompt tokens, by the engine's usage; null where it does not say. */
  readonly cachedRatio: number | null;
}

/** The figures of one run, computed from its records alone. */
export interface Summary {
  readonly format: 1;
  /**
   * `result`: valid. `partial`: cut short, what is there is valid. `client_limited`: measures our own client.
   * `empty`: no request was sent inside the trimmed window.
   */
  readonly verdict: 'result' | 'partial' | 'client_limited' | 'empty';
  readonly arrival: Arrival;
  /** The window without its trimmed ends: what every figure below is about. Seconds from the origin of the run. */
  readonly window: {
    readonly fromSeconds: number;
    readonly toSeconds: number;
    readonly lengthSeconds: number;
    /** As it was planned, trim included. */
    readonly plannedSeconds: number;
    readonly trimSeconds: number;
  };
  /** Requests sent inside the trimmed window. */
  readonly requests: {
    readonly sent: number;
    readonly good: number;
    readonly failed: number;
    /** Failures by all requests, with the 95 % interval. */
    readonly failedRatio: Interval | null;
    /** Most frequent first. */
    readonly failures: readonly FailureCount[];
    /** Open loop: wanted by the timetable, not started because too many were in flight. */
    readonly notStarted: number;
  };
  readonly throughput: {
    /** Good requests that ended inside the trimmed window, a second. */
    readonly requestsPerSecond: number;
    /** Tokens that arrived inside the trimmed window, of whatever request, a second. */
    readonly outputTokensPerSecond: number;
    readonly outputTokens: number;
  };
  readonly ttft: LatencyFigures;
  readonly tpot: LatencyFigures;
  readonly e2e: LatencyFigures;
  /** Open loop only: from the instant at which the request was due, so that a late client cannot hide it. */
  readonly fromScheduled: { readonly ttft: LatencyFigures; readonly e2e: LatencyFigures } | null;
  readonly output: OutputFigures;
  readonly prompt: PromptFigures;
  readonly goodput: GoodputFigures | null;
  readonly timeline: readonly TimelineSlot[];
  readonly engine: EngineFigures | null;
  readonly elimination: readonly Elimination[];
  readonly client: ClientFigures;
  /** For people: what to know of this run, the notes of the metadata included. */
  readonly notes: readonly string[];
}

import type { EngineName } from '../engine/types.ts';
import type { LogFormat, LogLevel } from '../log.ts';
import type { ApiName } from '../probe/outcome.ts';
import type { ConnectionSettings, ProbeProfile } from '../probe/profile.ts';
import type { Seconds } from '../units.ts';

/** A secret: a value read from a file (again whenever it changes) or from the environment. Cannot be printed. */
export interface Secret {
  /**
   * The current value. A file that becomes unreadable or unusable later (in the middle of a rotation) leaves the last
   * good value in force; throws SECRET_UNREADABLE while there has never been one.
   */
  reveal(): string;
  /** Reads the file again at once (after a 401). True when the value changed. */
  refresh(): boolean;
  toString(): '<redacted>';
  toJSON(): '<redacted>';
}

/** When a profile's probes are due. Exactly one of `everySeconds` and `cron` is given. */
export interface Timetable {
  readonly everySeconds: Seconds | null;
  /** Cron expression with seconds, UTC. */
  readonly cron: string | null;
  readonly jitterSeconds: Seconds;
}

export interface ScheduledProfile {
  readonly profile: ProbeProfile;
  readonly timetable: Timetable;
}

export const SLO_NAMES = ['availability', 'ttft', 'tpot'] as const;
export type SloName = (typeof SLO_NAMES)[number];

/** Objectives of a target. Thresholds are always histogram edges. */
export interface SloSettings {
  readonly availability: { readonly objectiveRatio: number };
  readonly ttft: { readonly thresholdSeconds: Seconds; readonly objectiveRatio: number };
  readonly tpot: { readonly thresholdSeconds: Seconds; readonly objectiveRatio: number };
}

export interface BudgetSettings {
  /** Prompt and output tokens together; a probe that might pass the limit is skipped. */
  readonly tokensPerHour: number;
  readonly tokensPerDay: number;
}

export interface EngineSettings {
  readonly enabled: boolean;
  /** Null: found by asking. */
  readonly metricsUrl: URL | null;
  /** Null: the engine's own default (1 s; slower where a scrape has side effects). */
  readonly everySeconds: Seconds | null;
  readonly staleAfterSeconds: Seconds;
  readonly peakWindowSeconds: Seconds;
  readonly maxBytes: number;
  readonly exportHistograms: boolean;
  /** Counters frozen for this long while requests run or wait: the engine hangs. */
  readonly hangAfterSeconds: Seconds;
}

/**
 * What is known of the engine's KV cache when the engine itself does not say: either its capacity in tokens, or its
 * memory together with the model's shape (one token takes 2 x layers x KV heads x head size x bytes of an element).
 */
export interface KvCacheSettings {
  readonly capacityTokens: number | null;
  readonly memoryBytes: number | null;
  readonly layers: number | null;
  readonly kvHeads: number | null;
  readonly headDim: number | null;
  readonly dtypeBytes: number | null;
}

export interface TargetConfig {
  readonly name: string;
  readonly url: URL;
  readonly model: string | 'auto';
  readonly api: ApiName | 'auto';
  readonly engine: EngineName | 'auto';
  /** From where the endpoint is seen, for people: "sidecar", "gateway", "eu-west"... */
  readonly vantage: string;
  readonly apiKey: Secret | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly secretHeaders: Readonly<Record<string, Secret>>;
  readonly connection: ConnectionSettings;
  readonly paused: boolean;
  readonly metrics: EngineSettings;
  readonly profiles: readonly ScheduledProfile[];
  readonly slo: SloSettings;
  readonly budget: BudgetSettings;
  /** The first probes of a process that are counted but not observed. */
  readonly warmupProbes: number;
  /** For the KV arithmetic of `check` and the page, where the engine's own metrics do not tell. */
  readonly kvCache: KvCacheSettings | null;
}

export interface BucketSettings {
  readonly ttftSeconds: readonly number[];
  readonly tpotSeconds: readonly number[];
  readonly gapSeconds: readonly number[];
  readonly durationSeconds: readonly number[];
}

export interface WebSettings {
  /** "host:port", ":port" or "[v6]:port". */
  readonly listenAddress: string;
  readonly telemetryPath: string;
  readonly webConfigFile: string | null;
  readonly enablePause: boolean;
  readonly enableReload: boolean;
}

/** The whole configuration, complete and checked: nothing in it is optional or unresolved but `auto`. */
export interface Config {
  /** Where it came from: a path, or "environment". */
  readonly source: string;
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  readonly web: WebSettings;
  readonly paused: boolean;
  readonly buckets: BucketSettings;
  readonly targets: readonly TargetConfig[];
  /** Loop delay above max(this, 5 % of TTFT) marks a sample as disturbed. */
  readonly disturbedAfterSeconds: Seconds;
  readonly traceparent: boolean;
  /** Probes in flight at the same time, over all targets; null: as many as there are targets. */
  readonly mostParallelProbes: number | null;
}

/** One thing wrong or weak in a configuration, with its place. */
export interface ConfigIssue {
  readonly severity: 'error' | 'warning';
  /** file:line:column where known, else the file or the environment variable. */
  readonly place: string;
  /** Dotted path of the key, e.g. targets[0].profiles[1].every. */
  readonly key: string;
  /** What is wrong and what to do. Never contains a secret. */
  readonly message: string;
}

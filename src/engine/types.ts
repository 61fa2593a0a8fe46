import type { MonotonicInstant, Seconds, UnixTime } from '../units.ts';

export const ENGINE_NAMES = [
  'vllm',
  'sglang',
  'tensorrt-llm',
  'triton',
  'tgi',
  'llamacpp',
  'lmdeploy',
  'nim',
  'dynamo',
  'ray-serve',
  'kserve',
  'llm-d-inference-sim',
  'ollama',
  'unknown',
] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** What an engine may say of itself, under one name whatever the engine calls it. */
export const GAUGE_ROLES = ['kv_cache_usage_ratio', 'requests_running', 'requests_waiting'] as const;
export type GaugeRole = (typeof GAUGE_ROLES)[number];
export const COUNTER_ROLES = [
  'preemptions',
  'prefix_cache_queries',
  'prefix_cache_hits',
  'prompt_tokens',
  'generation_tokens',
] as const;
export type CounterRole = (typeof COUNTER_ROLES)[number];
/** Latency histograms of the engine itself, re-exported only when configured. */
export const HISTOGRAM_ROLES = ['ttft', 'inter_token_latency', 'e2e', 'queue_time'] as const;
export type HistogramRole = (typeof HISTOGRAM_ROLES)[number];
export type EngineRole = GaugeRole | CounterRole | HistogramRole | 'kv_cache_capacity_tokens';

/** A cumulative histogram as the engine publishes it. `bounds` ascending, without +Inf; `counts[i]` is cumulative. */
export interface EngineHistogram {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** One label set of the engine: a model on a data-parallel rank ("" where the engine has no ranks). */
export interface EngineSeries {
  readonly model: string;
  readonly dpRank: string;
  /** Last values. A role that the page does not carry is missing, never 0. */
  readonly gauges: Partial<Readonly<Record<GaugeRole, number>>>;
  /** Highest value of each gauge over the peak window. */
  readonly peaks: Partial<Readonly<Record<GaugeRole, number>>>;
  /** Mean of each gauge over the same window, every good poll weighing the same. */
  readonly means: Partial<Readonly<Record<GaugeRole, number>>>;
  /** The exporter's own counters: start at 0 at the first good poll, survive restarts of the engine. */
  readonly counters: Partial<Readonly<Record<CounterRole, number>>>;
  readonly waitingByReason: Readonly<Record<string, number>>;
  readonly histograms: Partial<Readonly<Record<HistogramRole, EngineHistogram>>>;
  readonly kvCapacityTokens: number | null;
}

/** The whole target at one poll: usage is the highest of the ranks, running and waiting and the counters are sums. */
export interface EngineSample {
  readonly at: MonotonicInstant;
  readonly up: boolean;
  readonly kvUsageRatio: number | null;
  readonly running: number | null;
  readonly waiting: number | null;
  /** Own counters, monotone since the first good poll. Null when the engine does not offer the role. */
  readonly preemptions: number | null;
  readonly generationTokens: number | null;
  readonly promptTokens: number | null;
  /** Restarts of the engine seen so far. */
  readonly restarts: number;
  readonly hung: boolean;
  readonly asleep: boolean;
  /** What moves while the engine works, of all ranks; null or missing where the page has nothing of the kind. */
  readonly progress?: number | null;
  /** An engine at work may leave that unmoved for this long. */
  readonly progressEverySeconds?: number;
}

export const ENGINE_ZONES = ['underload', 'knee', 'overload'] as const;
export type EngineZone = (typeof ENGINE_ZONES)[number];

/** Why a poll of the engine's page failed; bounded label values. */
export const POLL_FAILURE_REASONS = [
  'connect',
  'timeout',
  'http_status',
  'not_prometheus',
  'empty_page',
  'truncated',
  'too_large',
  'bad_encoding',
  'tls',
  'unauthorized',
] as const;
export type PollFailureReason = (typeof POLL_FAILURE_REASONS)[number];

/** Everything that the exporter shows of one engine, taken at one moment. Immutable. */
export interface EngineView {
  readonly target: string;
  readonly engine: EngineName;
  readonly version: string | null;
  /** False before the first good poll, after a failed one, and when polling is off. */
  readonly up: boolean;
  /** Null: never polled with success. */
  readonly lastPollAt: UnixTime | null;
  readonly pollFailures: Readonly<Record<PollFailureReason, number>>;
  readonly lastPollError: string | null;
  readonly pollDurationSeconds: Seconds | null;
  readonly restarts: number;
  readonly hung: boolean;
  readonly asleep: boolean;
  readonly zone: EngineZone | null;
  /** Whether the engine offers a role; a role not decided yet (no page, or lazily created series) is missing. */
  readonly supported: Partial<Readonly<Record<EngineRole, boolean>>>;
  /** Name of the family each role is read from. */
  readonly sources: Partial<Readonly<Record<EngineRole, string>>>;
  /** Empty when the data is stale. */
  readonly series: readonly EngineSeries[];
  /** Lines of the last page that are no sample and were passed over. */
  readonly malformedLines: number;
  /**
   * Counters fall and come back above their old value again and again: several processes answer behind one address in
   * turn, so no increase can be trusted and none is counted while this holds. Poll each Pod by itself instead.
   */
  readonly inconsistentSource: boolean;
  /** Highest minus lowest KV usage of the data-parallel ranks; null with fewer than two. */
  readonly kvUsageSkewRatio: number | null;
  /** How often the page is read, and why that often. Null when it is not read. */
  readonly pollEverySeconds: Seconds | null;
  readonly pollEveryReason: string;
  /** Time since anything on the page last changed; null before the first good poll. */
  readonly unchangedSeconds: Seconds | null;
  /** What the engine's configuration metric says that is worth showing (block_size, num_gpu_blocks, cache_dtype...). */
  readonly cacheConfig: Readonly<Record<string, string>>;
}

/** What is found out about an endpoint by asking it, without ever making it generate, load or wake anything. */
export interface Discovery {
  readonly engine: EngineName;
  readonly version: string | null;
  /** Where the engine's metrics are; null when it offers none. */
  readonly metricsUrl: URL | null;
  /** Ids from the model list; empty when it could not be read. */
  readonly models: readonly string[];
  /** APIs worth trying, most informative first; names of `probe/outcome.ts` API_NAMES. */
  readonly apis: readonly string[];
  readonly maxModelLength: number | null;
  readonly chatTemplate: boolean | null;
  /** For people: what was asked and what came back, one line each. */
  readonly findings: readonly string[];
}

/** The sampler of one engine. Polls on its own clock and remembers the last minutes. */
export interface EnginePoller {
  start(): void;
  close(): Promise<void>;
  view(): EngineView;
  /** Samples from just before `from` (the last one earlier than it) to `to`, oldest first. */
  samplesBetween(from: MonotonicInstant, to: MonotonicInstant): readonly EngineSample[];
  /** Polls at once and waits for it; used at the end of a probe so that the evidence includes its end. */
  pollNow(): Promise<EngineSample>;
}

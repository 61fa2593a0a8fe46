import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { elapsed, type MonotonicInstant, type Seconds, seconds, type UnixTime } from '../units.ts';
import { createOwnCounters } from './counters.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { FetchedPage, FetchFailure } from './fetch.ts';
import { createHangWatch, type HangWatch } from './hang.ts';
import { identifyPage, isReadable, type PageReader } from './identify.ts';
import { keyText } from './join.ts';
import { NOTHING_READ, type NormalizedPage, normalizePage } from './normalize.ts';
import { createStateLog } from './state-log.ts';
import {
  type EngineName,
  type EngineRole,
  type EngineSample,
  type EngineSeries,
  type EngineView,
  type EngineZone,
  POLL_FAILURE_REASONS,
  type PollFailureReason,
} from './types.ts';
import { createGaugeWindow, createSampleRing } from './window.ts';
import { decideZone, zoneWindow } from './zone.ts';

export interface EngineStateOptions {
  readonly target: string;
  /** Null: found from the page. */
  readonly expected: EngineName | null;
  readonly expectedDialect: Dialect | null;
  readonly polled: boolean;
  readonly everySeconds: Seconds | null;
  readonly staleAfterSeconds: Seconds;
  readonly peakWindowSeconds: Seconds;
  readonly hangAfterSeconds: Seconds;
  readonly histograms: boolean;
  readonly version?: string | null;
}

/** Everything remembered of one engine, fed with what the polls bring. */
export interface EngineState {
  take(result: FetchedPage | FetchFailure, duration: Seconds): EngineSample;
  view(): EngineView;
  samplesBetween(from: MonotonicInstant, to: MonotonicInstant): readonly EngineSample[];
  lastSample(): EngineSample;
  everySeconds(): Seconds;
  /** Whether a read besides the timetable is allowed; not where reading has effects on the engine. */
  mayReadNow(): boolean;
}

// Long enough to hold the longest probe with room before it.
const KEEP_SAMPLES_SECONDS = 600;
// Two kubelet checks every five seconds, each a token of prompt and one of answer.
const HEALTH_TOKENS_PER_SECOND = 1;
const MAX_RESOLUTION = 1e6;
const NO_HOSTS: ReadonlySet<EngineName> = new Set(['vllm', 'sglang', 'tensorrt-llm', 'tgi', 'llamacpp', 'lmdeploy']);
// In a busy engine some request ends within this time.
const COARSE_SECONDS = 30;

interface Good {
  readonly at: MonotonicInstant;
  readonly unix: UnixTime;
  readonly page: NormalizedPage;
}

const sumOf = (values: readonly (number | undefined)[]): number | null => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
};

const maxOf = (values: readonly (number | undefined)[]): number | null => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : Math.max(...known);
};

/** What has to change for the page to count as changed: the values of its gauges and counters. */
const fingerprint = (page: NormalizedPage): string =>
  JSON.stringify([
    page.progress,
    page.asleep,
    page.series.map((one) => [one.gauges, one.counters, one.waitingByReason]),
  ]);

class State implements EngineState {
  private readonly options: EngineStateOptions;
  private readonly clock: Clock;
  private readonly log: ReturnType<typeof createStateLog>;
  private readonly counters = createOwnCounters();
  private readonly window;
  private readonly ring;
  private readonly failures: Record<PollFailureReason, number>;
  private hang: HangWatch;
  private reader: PageReader | null = null;
  private good: Good | null = null;
  private up = false;
  /** When a poll last brought a page that a table reads. */
  private readAt: UnixTime | null = null;
  private hung = false;
  private zone: EngineZone | null = null;
  private error: string | null = null;
  private duration: Seconds | null = null;
  private malformedLines = 0;
  private changedAt: MonotonicInstant | null = null;
  private lastPrint = '';
  private supported: Partial<Record<EngineRole, boolean>> = {};

  constructor(options: EngineStateOptions, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.options = options;
    this.clock = deps.clock;
    this.log = createStateLog(deps.log);
    this.window = createGaugeWindow(options.peakWindowSeconds);
    this.ring = createSampleRing(seconds(Math.max(KEEP_SAMPLES_SECONDS, options.peakWindowSeconds)));
    this.failures = Object.fromEntries(POLL_FAILURE_REASONS.map((reason) => [reason, 0])) as typeof this.failures;
    this.hang = this.newHangWatch();
  }

  take(result: FetchedPage | FetchFailure, duration: Seconds): EngineSample {
    this.duration = duration;
    if (result.ok) this.takePage(result);
    else this.takeFailure(result);
    const sample = this.sample(this.clock.monotonic());
    this.ring.push(sample);
    if (this.up) this.zone = decideZone(zoneWindow(this.ring.all(), this.options.peakWindowSeconds), this.zone);
    return sample;
  }

  samplesBetween(from: MonotonicInstant, to: MonotonicInstant): readonly EngineSample[] {
    return this.ring.between(from, to);
  }

  lastSample(): EngineSample {
    return this.ring.last() ?? this.sample(this.clock.monotonic());
  }

  everySeconds(): Seconds {
    const fallback = this.dialect()?.everySeconds ?? 1;
    return seconds(Math.max(1 / MAX_RESOLUTION, this.options.everySeconds ?? fallback));
  }

  mayReadNow(): boolean {
    return this.dialect()?.readsHaveEffects !== true;
  }

  view(): EngineView {
    const now = this.clock.monotonic();
    const series = this.isStale(now) ? [] : this.series(now);
    const usages = series.flatMap(({ gauges }) => gauges.kv_cache_usage_ratio ?? []);
    return {
      target: this.options.target,
      engine: this.engineName(),
      version: this.successor() === null ? (this.options.version ?? null) : null,
      up: this.up,
      lastPollAt: this.good?.unix ?? null,
      pollFailures: { ...this.failures },
      lastPollError: this.error,
      pollDurationSeconds: this.duration,
      restarts: this.counters.restarts(),
      hung: this.hung,
      asleep: this.up && (this.good?.page.asleep ?? false),
      zone: this.up ? this.zone : null,
      supported: { ...this.supported },
      sources: this.good?.page.sources ?? {},
      series,
      malformedLines: this.malformedLines,
      inconsistentSource: this.counters.inconsistent(),
      kvUsageSkewRatio: usages.length < 2 ? null : Math.max(...usages) - Math.min(...usages),
      pollEverySeconds: this.options.polled ? this.everySeconds() : null,
      pollEveryReason: this.everyReason(),
      unchangedSeconds: this.changedAt === null ? null : elapsed(this.changedAt, now),
      cacheConfig: this.good?.page.cacheConfig ?? {},
    };
  }

  private dialect(): Dialect | null {
    return this.reader?.dialect ?? this.options.expectedDialect;
  }

  private engineName(): EngineName {
    return this.successor() ?? this.options.expected ?? this.reader?.dialect.engine ?? 'unknown';
  }

  /** The engine that has taken the address of the expected one. A host shows its engine's page and stays the host. */
  private successor(): EngineName | null {
    const { expected } = this.options;
    const shown = this.reader?.dialect.engine;
    if (expected === null || shown === undefined || shown === expected) return null;
    return NO_HOSTS.has(expected) && NO_HOSTS.has(shown) ? shown : null;
  }

  private everyReason(): string {
    if (!this.options.polled) return 'no metrics page is known';
    if (this.options.everySeconds !== null) return 'as configured';
    return this.dialect()?.everyReason ?? '';
  }

  private newHangWatch(): HangWatch {
    const dialect = this.dialect();
    return createHangWatch({
      hangAfterSeconds: seconds(Math.max(this.options.hangAfterSeconds, dialect?.refreshSeconds ?? 0)),
      healthTokensPerSecond: dialect?.healthGenerates === true ? HEALTH_TOKENS_PER_SECOND : 0,
    });
  }

  private takeFailure(failure: FetchFailure): void {
    this.failures[failure.reason] += 1;
    this.error = failure.message;
    this.up = false;
    // The readings stay: an engine that hangs may answer for its page only now and then.
    this.hung = false;
    this.log.down(failure.reason, failure.message);
  }

  private takePage(result: FetchedPage): void {
    const at = this.clock.monotonic();
    const reader = this.readerOf(result);
    // Another program's page in between is as much of an outage as none.
    const gap = this.readAt !== null && !this.up;
    this.malformedLines = result.page.malformedLines;
    // A page that nobody knows may be an unknown engine's; one in the place of an engine's says that the engine is gone.
    this.up = reader !== null || this.readAt === null;
    const settings = { now: this.clock.unix(), histograms: this.options.histograms };
    const start = result.processStartSeconds;
    const page = reader === null ? NOTHING_READ : normalizePage(result.page, reader, settings, start);
    const restartsBefore = this.counters.restarts();
    if (reader !== null) {
      this.counters.take(page, { gap, lastGoodAt: this.readAt, now: this.clock.unix() });
      this.readAt = this.clock.unix();
    }
    this.good = { at, unix: this.clock.unix(), page };
    const restarted = this.counters.restarts() > restartsBefore;
    this.window.add(at, page.series);
    this.follow(page, at, restarted);
    if (reader !== null) this.log.up(this.engineName(), result.contentTypeOdd);
    this.log.page(page, { restarted, hung: this.hung, inconsistent: this.counters.inconsistent() });
  }

  /** Asked at each page: another engine may have taken the address, and some pages fill up only with use. */
  private readerOf(result: FetchedPage): PageReader | null {
    const found = identifyPage(result.page, this.options.expected);
    if (!isReadable(found)) {
      const what = found.why === 'router' ? "a router's page, not an engine's" : 'no family of a known engine';
      this.error = `${what} (${found.families.join(', ')})`;
      this.log.unrecognised(found.why, found.families);
      return null;
    }
    this.error = null;
    if (this.reader?.dialect !== found.dialect) {
      this.reader = found;
      this.supported = {};
      this.hang = this.newHangWatch();
    }
    return found;
  }

  private follow(page: NormalizedPage, at: MonotonicInstant, restarted: boolean): void {
    for (const [role, offered] of Object.entries(page.supported) as [EngineRole, boolean][]) {
      // A role that was once there stays offered: series of an idle engine come and go.
      if (this.supported[role] !== true || restarted) this.supported[role] = offered;
    }
    const print = fingerprint(page);
    if (print !== this.lastPrint || this.changedAt === null) this.changedAt = at;
    this.lastPrint = print;
    if (restarted) this.hang.reset();
    this.hung = this.hang.observe(at, page);
  }

  private sample(at: MonotonicInstant): EngineSample {
    const series = this.up ? (this.good?.page.series ?? []) : [];
    return {
      at,
      up: this.up,
      kvUsageRatio: maxOf(series.map(({ gauges }) => gauges.kv_cache_usage_ratio)),
      running: sumOf(series.map(({ gauges }) => gauges.requests_running)),
      waiting: sumOf(series.map(({ gauges }) => gauges.requests_waiting)),
      preemptions: this.counters.total('preemptions'),
      generationTokens: this.counters.total('generation_tokens'),
      promptTokens: this.counters.total('prompt_tokens'),
      restarts: this.counters.restarts(),
      hung: this.hung,
      asleep: this.up && (this.good?.page.asleep ?? false),
      progress: this.up ? (this.good?.page.progress ?? null) : null,
      progressEverySeconds:
        this.good?.page.coarse === true ? COARSE_SECONDS : (this.dialect()?.progressEverySeconds ?? 0),
    };
  }

  /** Old values are no values. A page that is read less often than that is not stale before its next turn has failed. */
  private isStale(now: MonotonicInstant): boolean {
    if (this.good === null) return true;
    const age = elapsed(this.good.at, now);
    if (age <= this.options.staleAfterSeconds) return false;
    return !this.up || age > Math.max(this.options.staleAfterSeconds, 3 * this.everySeconds());
  }

  private series(now: MonotonicInstant): readonly EngineSeries[] {
    return (this.good?.page.series ?? []).map((one) => {
      const key = keyText(one);
      return {
        model: one.model,
        dpRank: one.dpRank,
        gauges: one.gauges,
        ...this.window.statistics(key, now),
        counters: this.counters.ofSeries(key),
        waitingByReason: one.waitingByReason,
        histograms: one.histograms,
        kvCapacityTokens: one.kvCapacityTokens,
      };
    });
  }
}

export const createEngineState = (
  options: EngineStateOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): EngineState => new State(options, deps);

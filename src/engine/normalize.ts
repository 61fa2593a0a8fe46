import type { UnixTime } from '../units.ts';
import { cacheConfigOf, capacityOf } from './capacity.ts';
import type { Dialect, Source } from './dialects/dialect.ts';
import type { ExpositionPage } from './exposition.ts';
import type { Sample } from './exposition-line.ts';
import { readHistogram } from './histogram.ts';
import type { PageReader } from './identify.ts';
import { isSubtotal, type Join, type Joined, joinSamples, keyText, matches, type SeriesKey } from './join.ts';
import {
  COUNTER_ROLES,
  type CounterRole,
  type EngineHistogram,
  type EngineRole,
  GAUGE_ROLES,
  type GaugeRole,
  HISTOGRAM_ROLES,
  type HistogramRole,
} from './types.ts';

/** One model on one rank as the page has it: counters are the engine's own, not yet ours. */
export interface PageSeries extends SeriesKey {
  readonly gauges: Partial<Record<GaugeRole, number>>;
  readonly counters: Partial<Record<CounterRole, number>>;
  readonly waitingByReason: Record<string, number>;
  readonly histograms: Partial<Record<HistogramRole, EngineHistogram>>;
  kvCapacityTokens: number | null;
}

/** A page under our own names. */
export interface NormalizedPage {
  readonly series: readonly PageSeries[];
  readonly sources: Partial<Readonly<Record<EngineRole, string>>>;
  /** Whether the engine offers a role; missing while that cannot be told. */
  readonly supported: Partial<Readonly<Record<EngineRole, boolean>>>;
  readonly cacheConfig: Readonly<Record<string, string>>;
  readonly asleep: boolean;
  /** Sum of the counters that move while the engine works; null when the page has none. */
  readonly progress: number | null;
  /** Start of the engine's process, seconds since 1970. */
  readonly processStartSeconds: number | null;
  /** Values that no engine can mean (KV usage below 0 or far above 1, NaN) and that were left out or clamped. */
  readonly outOfRange: number;
}

export interface NormalizeOptions {
  readonly now: UnixTime;
  readonly histograms: boolean;
}

// A page may stamp its samples; a stamp this old means a value that nobody refreshes any more.
const OLDEST_STAMP_SECONDS = 600;
// Rounding lifts a full cache a little above 1; anything beyond is another scale or a fault of the engine.
const USAGE_TOLERANCE = 1.05;
// A page with more models and ranks than this is no engine's.
const MAX_SERIES = 200;
const MAX_REASONS = 20;

/** The state of one normalisation. */
class Normalizer {
  private readonly page: ExpositionPage;
  private readonly dialect: Dialect;
  private readonly prefix: string;
  private readonly options: NormalizeOptions;
  private readonly byKey = new Map<string, PageSeries>();
  private readonly sources: Partial<Record<EngineRole, string>> = {};
  private outOfRange = 0;

  constructor(page: ExpositionPage, reader: PageReader, options: NormalizeOptions) {
    this.page = page;
    this.dialect = reader.dialect;
    this.prefix = reader.prefix;
    this.options = options;
  }

  run(processStartSeconds: number | null): NormalizedPage {
    for (const role of GAUGE_ROLES) this.gauge(role);
    for (const role of COUNTER_ROLES) this.counter(role);
    if (this.options.histograms) for (const role of HISTOGRAM_ROLES) this.histogram(role);
    this.waitingReasons();
    this.capacity();
    return {
      series: [...this.byKey.values()],
      sources: this.sources,
      supported: this.supported(),
      cacheConfig: cacheConfigOf(this.samplesOf(this.dialect.cacheInfo ?? '')),
      asleep: this.asleep(),
      progress: this.progress(),
      processStartSeconds: this.processStart() ?? processStartSeconds,
      outOfRange: this.outOfRange,
    };
  }

  private samplesOf(name: string): readonly Sample[] {
    const oldest = (this.options.now - OLDEST_STAMP_SECONDS) * 1000;
    const samples = this.page.samples.get(`${this.prefix}${name}`) ?? [];
    return samples.filter(
      (sample) => !isSubtotal(sample, this.dialect) && (sample.timestampMs === null || sample.timestampMs >= oldest),
    );
  }

  /** The samples of a source, its further parts included, in the role's unit. */
  private values(source: Source): readonly Sample[] {
    const own = this.samplesOf(source.name).filter((sample) => matches(sample, source.where));
    if (own.length === 0) return own;
    const parts = (source.plus ?? []).flatMap((name) => this.samplesOf(name).map((sample) => this.asPart(sample)));
    const scale = source.scale ?? 1;
    return [...own, ...parts].map((sample) => (scale === 1 ? sample : { ...sample, value: sample.value * scale }));
  }

  // The name becomes a label, so that equal label sets of two names stay two parts of a sum.
  private asPart(sample: Sample): Sample {
    return { ...sample, labels: new Map([...sample.labels, ['__name__', sample.name]]) };
  }

  private joined(source: Source, join: Join): readonly Joined[] {
    const usable = this.values(source).filter((sample) => this.isUsable(sample.value));
    const whole = joinSamples(usable, this.dialect, join);
    if (source.per === undefined) return whole;
    const parts = joinSamples(this.samplesOf(source.per), this.dialect, join);
    const divisors = new Map(parts.map(({ key, value }) => [keyText(key), value]));
    return whole.flatMap(({ key, value }) => {
      const divisor = divisors.get(keyText(key)) ?? 0;
      return divisor > 0 ? [{ key, value: value / divisor }] : [];
    });
  }

  private isUsable(value: number): boolean {
    const usable = Number.isFinite(value) && value >= 0;
    if (!usable) this.outOfRange += 1;
    return usable;
  }

  private find(role: EngineRole, sources: readonly Source[] | undefined): Source | null {
    const source = (sources ?? []).find((candidate) =>
      this.samplesOf(candidate.name).some((sample) => matches(sample, candidate.where)),
    );
    if (source !== undefined) this.sources[role] = `${this.prefix}${source.name}`;
    return source ?? null;
  }

  private seriesOf(key: SeriesKey): PageSeries | null {
    const text = keyText(key);
    const known = this.byKey.get(text);
    if (known !== undefined || this.byKey.size >= MAX_SERIES) return known ?? null;
    const series: PageSeries = {
      ...key,
      gauges: {},
      counters: {},
      waitingByReason: {},
      histograms: {},
      kvCapacityTokens: null,
    };
    this.byKey.set(text, series);
    return series;
  }

  private gauge(role: GaugeRole): void {
    const source = this.find(role, this.dialect.gauges[role]);
    if (source === null) return;
    const isUsage = role === 'kv_cache_usage_ratio';
    for (const { key, value } of this.joined(source, isUsage ? 'max' : 'sum')) {
      const kept = isUsage ? this.usage(value) : value;
      const series = kept === null ? null : this.seriesOf(key);
      if (series !== null && kept !== null) series.gauges[role] = kept;
    }
  }

  private usage(value: number): number | null {
    if (value <= 1) return value;
    this.outOfRange += 1;
    return value <= USAGE_TOLERANCE ? 1 : null;
  }

  private counter(role: CounterRole): void {
    const source = this.find(role, this.dialect.counters[role]);
    if (source === null) return;
    for (const { key, value } of this.joined(source, 'sum')) {
      const series = this.seriesOf(key);
      if (series !== null) series.counters[role] = value;
    }
  }

  private histogram(role: HistogramRole): void {
    const families = this.dialect.histograms[role] ?? [];
    const source = this.find(
      role,
      families.map((family) => ({ ...family, name: `${family.name}_count` })),
    );
    if (source === null) return;
    const name = source.name.slice(0, -'_count'.length);
    this.sources[role] = `${this.prefix}${name}`;
    const family = {
      buckets: this.samplesOf(`${name}_bucket`),
      sums: this.samplesOf(`${name}_sum`),
      counts: this.samplesOf(`${name}_count`),
    };
    for (const { key, histogram } of readHistogram(family, this.dialect, source.scale ?? 1)) {
      const series = this.seriesOf(key);
      if (series !== null) series.histograms[role] = histogram;
    }
  }

  private waitingReasons(): void {
    const split = this.dialect.waitingByReason;
    if (split === null) return;
    const byReason = new Map<string, Sample[]>();
    for (const sample of this.samplesOf(split.name)) {
      const reason = sample.labels.get(split.label) ?? '';
      if (reason === '' || !this.isUsable(sample.value)) continue;
      const known = byReason.get(reason);
      if (known !== undefined) known.push(sample);
      else if (byReason.size < MAX_REASONS) byReason.set(reason, [sample]);
    }
    for (const [reason, samples] of byReason) {
      for (const { key, value } of joinSamples(samples, this.dialect, 'sum')) {
        const series = this.seriesOf(key);
        if (series !== null) series.waitingByReason[reason] = value;
      }
    }
  }

  private capacity(): void {
    const found = capacityOf(this.dialect, (name) => this.samplesOf(name));
    if (found === null) return;
    this.sources.kv_cache_capacity_tokens = `${this.prefix}${found.name}`;
    for (const series of this.byKey.values()) series.kvCapacityTokens = found.of(series);
  }

  private asleep(): boolean {
    const sleep = this.dialect.sleep;
    if (sleep === null) return false;
    return this.samplesOf(sleep.name).some(
      (sample) => sample.value === 1 && (sample.labels.get(sleep.label) ?? sleep.awake) !== sleep.awake,
    );
  }

  private total(sources: readonly Source[]): number | null {
    let sum: number | null = null;
    for (const source of sources) {
      for (const { value } of this.joined(source, 'sum')) sum = (sum ?? 0) + value;
    }
    return sum;
  }

  private progress(): number | null {
    const { progress, counters, progressGauges } = this.dialect;
    const moving = progress.length > 0 ? progress : [...(counters.generation_tokens ?? []).slice(0, 1)];
    const tokens = this.total(moving.length > 0 ? moving : []);
    if (tokens !== null) return tokens;
    return this.total(progressGauges.map((name) => ({ name })));
  }

  private processStart(): number | null {
    // Several processes on one page (Ray's node agent) would each have theirs: the youngest tells of a restart.
    const starts = (this.page.samples.get('process_start_time_seconds') ?? []).map((sample) => sample.value);
    const usable = starts.filter((value) => Number.isFinite(value) && value > 0);
    return usable.length === 0 ? null : Math.max(...usable);
  }

  private isDeclared(sources: readonly { readonly name: string }[]): boolean {
    return sources.some(({ name }) => {
      const full = `${this.prefix}${name}`;
      return this.page.types.has(full) || this.page.types.has(full.replace(/_total$/, ''));
    });
  }

  /** Found or declared: offered. Neither, on a page that is filled: not offered, unless such series are born late. */
  private supported(): Partial<Record<EngineRole, boolean>> {
    const { gauges, counters, histograms, capacity, anchor, lazy } = this.dialect;
    const known: Partial<Record<EngineRole, readonly { readonly name: string }[]>> = {
      ...gauges,
      ...counters,
      ...(this.options.histograms ? histograms : {}),
      kv_cache_capacity_tokens: capacity.flat(),
    };
    const filled = anchor === null ? this.byKey.size > 0 : this.samplesOf(anchor).length > 0;
    const roles: readonly EngineRole[] = [
      ...GAUGE_ROLES,
      ...COUNTER_ROLES,
      ...(this.options.histograms ? HISTOGRAM_ROLES : []),
      'kv_cache_capacity_tokens',
    ];
    const result: Partial<Record<EngineRole, boolean>> = {};
    for (const role of roles) {
      const sources = known[role] ?? [];
      if (this.sources[role] !== undefined || this.isDeclared(role === 'kv_cache_capacity_tokens' ? [] : sources)) {
        result[role] = true;
      } else if (sources.length === 0 || (filled && !lazy.includes(role))) {
        result[role] = false;
      }
    }
    return result;
  }
}

/** What a page of nobody's families says. */
export const NOTHING_READ: NormalizedPage = {
  series: [],
  sources: {},
  supported: {},
  cacheConfig: {},
  asleep: false,
  progress: null,
  processStartSeconds: null,
  outOfRange: 0,
};

/** Reads a page by a dialect's table. `processStartSeconds` is used where the page itself does not say. */
export const normalizePage = (
  page: ExpositionPage,
  reader: PageReader,
  options: NormalizeOptions,
  processStartSeconds: number | null = null,
): NormalizedPage => new Normalizer(page, reader, options).run(processStartSeconds);

import type { UnixTime } from '../units.ts';
import { cacheConfigOf, capacityOf } from './capacity.ts';
import type { Source } from './dialects/dialect.ts';
import type { ExpositionPage } from './exposition.ts';
import { readHistogram } from './histogram.ts';
import type { PageReader } from './identify.ts';
import { type Joined, keyOf, keyText, type SeriesKey } from './join.ts';
import { type PageSamples, pageSamples } from './page-samples.ts';
import { type Sources, type Supported, supportedRoles } from './support.ts';
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
  asleep: boolean;
  /** Sum of what moves while this rank works; null when the page does not tell by rank. */
  progress: number | null;
}

/** A page under our own names. */
export interface NormalizedPage {
  readonly series: readonly PageSeries[];
  readonly sources: Sources;
  /** Whether the engine offers a role; missing while that cannot be told. */
  readonly supported: Supported;
  /** Counter roles that are read from a gauge of the events since the engine's last report. */
  readonly sinceReport: ReadonlySet<CounterRole>;
  readonly cacheConfig: Readonly<Record<string, string>>;
  readonly asleep: boolean;
  /** Sum of what moves while the engine works, over all ranks; null when the page has nothing of the kind. */
  readonly progress: number | null;
  /** That moves only now and then: when a request ends. */
  readonly coarse: boolean;
  /** Start of the engine's process, seconds since 1970. */
  readonly processStartSeconds: number | null;
  /** Values that no engine can mean (KV usage below 0 or far above 1, NaN) and that were left out or clamped. */
  readonly outOfRange: number;
}

export interface NormalizeOptions {
  readonly now: UnixTime;
  /** Read the latency histograms, too. */
  readonly histograms: boolean;
}

// Rounding lifts a full cache a little above 1; anything beyond is another scale or a fault of the engine.
const USAGE_TOLERANCE = 1.05;
// A page with more models and ranks than this is no engine's.
const MAX_SERIES = 200;
const MAX_REASONS = 20;

/** The series of a page, made as they are met. */
class SeriesTable {
  private readonly byKey = new Map<string, PageSeries>();

  get(key: SeriesKey): PageSeries | null {
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
      asleep: false,
      progress: null,
    };
    this.byKey.set(text, series);
    return series;
  }

  known(key: SeriesKey): PageSeries | null {
    return this.byKey.get(keyText(key)) ?? null;
  }

  put(values: readonly Joined[], set: (series: PageSeries, value: number) => void): void {
    for (const { key, value } of values) {
      const series = this.get(key);
      if (series !== null) set(series, value);
    }
  }

  all(): readonly PageSeries[] {
    return [...this.byKey.values()];
  }

  /**
   * Gives what names no model to the one model that there is. Of several models it stays apart: nobody knows whose it
   * is.
   */
  adopt(): void {
    for (const orphan of this.all().filter(({ model }) => model === '')) {
      const named = this.all().filter(({ model, dpRank }) => model !== '' && dpRank === orphan.dpRank);
      const [only] = named;
      if (only === undefined || named.length > 1) continue;
      Object.assign(only.gauges, { ...orphan.gauges, ...only.gauges });
      Object.assign(only.counters, { ...orphan.counters, ...only.counters });
      Object.assign(only.histograms, { ...orphan.histograms, ...only.histograms });
      Object.assign(only.waitingByReason, { ...orphan.waitingByReason, ...only.waitingByReason });
      this.byKey.delete(keyText(orphan));
    }
  }
}

function usageOf(page: PageSamples, source: Source): readonly Joined[] {
  return page.joined(source, 'max').flatMap(({ key, value }) => {
    if (value <= 1) return [{ key, value }];
    page.countOutOfRange();
    return value <= USAGE_TOLERANCE ? [{ key, value: 1 }] : [];
  });
}

function readGauges(page: PageSamples, table: SeriesTable, sources: Partial<Record<EngineRole, string>>): void {
  for (const role of GAUGE_ROLES) {
    const source = page.find(page.dialect.gauges[role]);
    if (source === null) continue;
    sources[role] = page.full(source.name);
    const values = role === 'kv_cache_usage_ratio' ? usageOf(page, source) : page.joined(source, 'sum');
    table.put(values, (series, value) => {
      series.gauges[role] = value;
    });
  }
}

function readCounters(
  page: PageSamples,
  table: SeriesTable,
  sources: Partial<Record<EngineRole, string>>,
): Set<CounterRole> {
  const sinceReport = new Set<CounterRole>();
  for (const role of COUNTER_ROLES) {
    const source = page.find(page.dialect.counters[role]);
    if (source === null) continue;
    sources[role] = page.full(source.name);
    if (source.sinceReport === true) sinceReport.add(role);
    table.put(page.joined(source, 'sum'), (series, value) => {
      series.counters[role] = value;
    });
  }
  return sinceReport;
}

function readHistograms(page: PageSamples, table: SeriesTable, sources: Partial<Record<EngineRole, string>>): void {
  for (const role of HISTOGRAM_ROLES) {
    const families = page.dialect.histograms[role] ?? [];
    const family = families.find(({ name, where }) => page.of(`${name}_count`, where).length > 0);
    if (family === undefined) continue;
    const { name, where, scale } = family;
    sources[role] = page.full(name);
    const parts = {
      buckets: page.of(`${name}_bucket`, where),
      sums: page.of(`${name}_sum`, where),
      counts: page.of(`${name}_count`, where),
    };
    for (const { key, histogram } of readHistogram(parts, page.dialect, scale ?? 1)) {
      const series = table.get(key);
      if (series !== null) series.histograms[role] = histogram;
    }
  }
}

function readWaitingReasons(page: PageSamples, table: SeriesTable): void {
  const split = page.dialect.waitingByReason;
  if (split === null) return;
  const reasons = new Set(page.of(split.name).map((sample) => sample.labels.get(split.label) ?? ''));
  for (const reason of [...reasons].filter((text) => text !== '').slice(0, MAX_REASONS)) {
    const values = page.joined({ name: split.name, where: { [split.label]: [reason] } }, 'sum');
    table.put(values, (series, value) => {
      series.waitingByReason[reason] = value;
    });
  }
}

function readCapacity(page: PageSamples, table: SeriesTable, sources: Partial<Record<EngineRole, string>>): void {
  const found = capacityOf(page.dialect, page.of);
  if (found === null) return;
  sources.kv_cache_capacity_tokens = page.full(found.name);
  for (const key of found.named) table.get(key);
  for (const series of table.all()) series.kvCapacityTokens = found.of(series);
}

/** Adds up what moves while the engine works, by rank where the page tells, and in all. */
function readProgress(page: PageSamples, table: SeriesTable): Pick<NormalizedPage, 'progress' | 'coarse'> {
  const { progress, progressFallback } = page.dialect;
  const moving = progress.flatMap((source) => page.joined(source, 'sum'));
  const coarse = moving.length === 0;
  const values = coarse ? progressFallback.flatMap((source) => page.joined(source, 'sum')) : moving;
  for (const { key, value } of values) {
    const series = table.known(key);
    if (series !== null) series.progress = (series.progress ?? 0) + value;
  }
  return { progress: values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0), coarse };
}

/** Marks the ranks that sleep. The page's engine sleeps when all do that tell. */
function readSleep(page: PageSamples, table: SeriesTable): boolean {
  const { sleep } = page.dialect;
  if (sleep === null) return false;
  const ranks = new Map<string, boolean>();
  for (const sample of page.of(sleep.name)) {
    const key = keyOf(sample, page.dialect);
    const asleep = sample.value === 1 && (sample.labels.get(sleep.label) ?? sleep.awake) !== sleep.awake;
    ranks.set(keyText(key), asleep || ranks.get(keyText(key)) === true);
    const series = table.known(key);
    if (series !== null && asleep) series.asleep = true;
  }
  return ranks.size > 0 && [...ranks.values()].every((asleep) => asleep);
}

// Of several processes on one page nobody knows which of them counts what: then a fall alone tells of a restart.
function processStart(page: ExpositionPage): number | null {
  const starts = (page.samples.get('process_start_time_seconds') ?? []).map((sample) => sample.value);
  const [only, ...others] = new Set(starts.filter((value) => Number.isFinite(value) && value > 0));
  return others.length > 0 ? null : (only ?? null);
}

/** What a page of nobody's families says. */
export const NOTHING_READ: NormalizedPage = {
  series: [],
  sources: {},
  supported: {},
  sinceReport: new Set(),
  cacheConfig: {},
  asleep: false,
  progress: null,
  coarse: false,
  processStartSeconds: null,
  outOfRange: 0,
};

/** Reads a page by a dialect's table. `processStartSeconds` is used where the page itself does not say. */
export function normalizePage(
  exposition: ExpositionPage,
  reader: PageReader,
  options: NormalizeOptions,
  processStartSeconds: number | null = null,
): NormalizedPage {
  const page = pageSamples(exposition, reader, options.now);
  const { anchor } = reader.dialect;
  const table = new SeriesTable();
  const sources: Partial<Record<EngineRole, string>> = {};
  readGauges(page, table, sources);
  const sinceReport = readCounters(page, table, sources);
  if (options.histograms) readHistograms(page, table, sources);
  readWaitingReasons(page, table);
  table.adopt();
  readCapacity(page, table, sources);
  const progress = readProgress(page, table);
  const filled = anchor === null ? table.all().length > 0 : page.of(anchor).length > 0;
  return {
    series: table.all(),
    sources,
    supported: supportedRoles(page, sources, filled, options.histograms),
    sinceReport,
    cacheConfig: cacheConfigOf(reader.dialect, page.of),
    asleep: readSleep(page, table),
    ...progress,
    processStartSeconds: processStart(exposition) ?? processStartSeconds,
    outOfRange: page.outOfRange(),
  };
}

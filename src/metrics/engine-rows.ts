import {
  type CounterRole,
  ENGINE_ZONES,
  type EngineHistogram,
  type EngineSeries,
  type EngineView,
  type GaugeRole,
  type HistogramRole,
  POLL_FAILURE_REASONS,
} from '../engine/types.ts';
import type { EngineFamily } from './engine-families.ts';
import { formatBound, joinLabels, type Row, renderLabels } from './exposition.ts';

/** More label sets of one engine than this would be a fault or an attack on the page, not a deployment. */
export const MOST_ENGINE_SERIES = 256;
const MOST_WAIT_REASONS = 16;
const MOST_CACHE_LABELS = 12;

/** An engine's view made safe for the page: label sets unique and bounded in number. */
export interface ShownEngine {
  readonly view: EngineView;
  /** Rendered `target` label. */
  readonly base: string;
  readonly series: readonly { readonly labels: string; readonly data: EngineSeries }[];
  /** Rendered `target` and `model` labels, one for each model. */
  readonly models: readonly string[];
  readonly omitted: number;
}

/** Prepares a view once for all families of a page. */
export function showEngine(view: EngineView): ShownEngine {
  const base = renderLabels({ target: view.target });
  const unique = new Map<string, EngineSeries>();
  const models = new Set<string>();
  for (const data of view.series) {
    const labels = joinLabels(base, renderLabels({ model: data.model, dp_rank: data.dpRank }));
    if (unique.has(labels) || unique.size >= MOST_ENGINE_SERIES) continue;
    unique.set(labels, data);
    models.add(joinLabels(base, renderLabels({ model: data.model })));
  }
  return {
    view,
    base,
    series: [...unique].map(([labels, data]) => ({ labels, data })),
    models: [...models],
    omitted: view.series.length - unique.size,
  };
}

type RowsOf = (engine: ShownEngine) => readonly Row[];

const row = (labels: string, value: number, suffix = ''): Row => ({ suffix, labels, value });
const flag = (value: boolean): number => (value ? 1 : 0);

/** Nothing for a value that does not exist: absent is absent, never 0. */
const optional = (engine: ShownEngine, value: number | null): readonly Row[] =>
  value === null || !Number.isFinite(value) ? [] : [row(engine.base, value)];

const perSeries =
  (pick: (data: EngineSeries) => number | null | undefined): RowsOf =>
  (engine) =>
    engine.series.flatMap(({ labels, data }) => {
      const value = pick(data);
      return value === undefined || value === null || !Number.isFinite(value) ? [] : [row(labels, value)];
    });

const gauge = (role: GaugeRole): RowsOf => perSeries((data) => data.gauges[role]);
const peak = (role: GaugeRole): RowsOf => perSeries((data) => data.peaks[role]);
const mean = (role: GaugeRole): RowsOf => perSeries((data) => data.means[role]);
const counter = (role: CounterRole): RowsOf => perSeries((data) => data.counters[role]);

function histogramRows(labels: string, histogram: EngineHistogram): readonly Row[] {
  const buckets = histogram.bounds.map((bound, index) =>
    row(joinLabels(labels, `le="${formatBound(bound)}"`), histogram.counts[index] ?? 0, '_bucket'),
  );
  return [
    ...buckets,
    row(joinLabels(labels, 'le="+Inf"'), histogram.count, '_bucket'),
    row(labels, histogram.sum, '_sum'),
    row(labels, histogram.count, '_count'),
  ];
}

const histogram =
  (role: HistogramRole): RowsOf =>
  (engine) =>
    engine.series.flatMap(({ labels, data }) => {
      const found = data.histograms[role];
      return found === undefined ? [] : histogramRows(labels, found);
    });

const waitingByReason: RowsOf = (engine) =>
  engine.series.flatMap(({ labels, data }) =>
    Object.entries(data.waitingByReason)
      .slice(0, MOST_WAIT_REASONS)
      .filter(([, value]) => Number.isFinite(value))
      .map(([reason, value]) => row(joinLabels(labels, renderLabels({ reason })), value)),
  );

const zone: RowsOf = (engine) => {
  const current = engine.view.zone;
  if (current === null) return [];
  return engine.models.flatMap((labels) =>
    ENGINE_ZONES.map((name) => row(joinLabels(labels, renderLabels({ zone: name })), flag(name === current))),
  );
};

// Labels that Prometheus or this page puts on by itself.
const TAKEN = new Set(['target', 'model', 'dp_rank', 'engine', 'version', 'instance', 'job', 'pod', 'namespace']);
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

function cacheLabels(view: EngineView): Record<string, string> {
  const shown = Object.entries(view.cacheConfig).filter(([name]) => LABEL_NAME.test(name) && !TAKEN.has(name));
  return Object.fromEntries(shown.slice(0, MOST_CACHE_LABELS).map(([name, value]) => [name, value.slice(0, 128)]));
}

const info: RowsOf = (engine) => {
  const { view } = engine;
  if (!view.up) return [];
  const own = renderLabels({ engine: view.engine, version: view.version ?? '', ...cacheLabels(view) });
  const bases = engine.models.length === 0 ? [engine.base] : engine.models;
  return bases.map((labels) => row(joinLabels(labels, own), 1));
};

/** How each family is read from an engine's view. */
export const ENGINE_ROWS: Readonly<Record<EngineFamily, RowsOf>> = {
  up: (engine) => [row(engine.base, flag(engine.view.up))],
  lastPoll: (engine) => optional(engine, engine.view.lastPollAt),
  pollFailures: (engine) =>
    POLL_FAILURE_REASONS.map((reason) =>
      row(joinLabels(engine.base, renderLabels({ reason })), engine.view.pollFailures[reason]),
    ),
  pollDuration: (engine) => optional(engine, engine.view.pollDurationSeconds),
  pollInterval: (engine) => optional(engine, engine.view.pollEverySeconds),
  restarts: (engine) => [row(engine.base, engine.view.restarts)],
  hung: (engine) => [row(engine.base, flag(engine.view.hung))],
  asleep: (engine) => [row(engine.base, flag(engine.view.asleep))],
  inconsistent: (engine) => [row(engine.base, flag(engine.view.inconsistentSource))],
  unchanged: (engine) => optional(engine, engine.view.unchangedSeconds),
  malformed: (engine) => [row(engine.base, engine.view.malformedLines)],
  omitted: (engine) => [row(engine.base, engine.omitted)],
  supported: (engine) =>
    Object.entries(engine.view.supported).map(([metric, supported]) =>
      row(joinLabels(engine.base, renderLabels({ metric })), flag(supported)),
    ),
  zone,
  info,
  kvUsage: gauge('kv_cache_usage_ratio'),
  kvUsagePeak: peak('kv_cache_usage_ratio'),
  kvUsageMean: mean('kv_cache_usage_ratio'),
  kvSkew: (engine) => optional(engine, engine.series.length === 0 ? null : engine.view.kvUsageSkewRatio),
  running: gauge('requests_running'),
  runningPeak: peak('requests_running'),
  runningMean: mean('requests_running'),
  waiting: gauge('requests_waiting'),
  waitingPeak: peak('requests_waiting'),
  waitingMean: mean('requests_waiting'),
  waitingByReason,
  kvCapacity: perSeries((data) => data.kvCapacityTokens),
  preemptions: counter('preemptions'),
  prefixQueries: counter('prefix_cache_queries'),
  prefixHits: counter('prefix_cache_hits'),
  promptTokens: counter('prompt_tokens'),
  generationTokens: counter('generation_tokens'),
  ttft: histogram('ttft'),
  interTokenLatency: histogram('inter_token_latency'),
  e2e: histogram('e2e'),
  queueTime: histogram('queue_time'),
};

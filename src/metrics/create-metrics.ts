import type { Clock } from '../clock.ts';
import type { Config, Timetable } from '../config/types.ts';
import type { EngineView } from '../engine/types.ts';
import type { Logger } from '../log.ts';
import type { FinishedProbe } from '../record.ts';
import { type Seconds, seconds } from '../units.ts';
import { negotiate } from './accept.ts';
import { type CpuThrottling, readCpuThrottling } from './cgroup.ts';
import { estimateSeries, type SeriesEstimate } from './estimate.ts';
import { createExporterSeries } from './exporter-series.ts';
import type { ExpositionFormat } from './exposition.ts';
import { createLayouts } from './layout.ts';
import { observeProbe } from './observe.ts';
import { engineSources, exporterSources, probeSources } from './page-sources.ts';
import { createProcessMetrics, type ProcessReading } from './process-metrics.ts';
import type { TargetFacts } from './profile-series.ts';
import { createPacer, type FamilySource, type Pacer, type RenderedPage, renderPage } from './render.ts';
import type { MetricsSink } from './sink.ts';
import { createTargetRegistry } from './target-registry.ts';

export interface MetricsOptions {
  readonly config: Config;
  readonly version: string;
  readonly revision: string;
}

export interface MetricsDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest time between two ticks of a timetable, for a cron expression; without it only `every` has an interval. */
  readonly intervalOf?: (timetable: Timetable) => Seconds | null;
  /** Defaults to the cgroup of this container. */
  readonly readCpuThrottling?: () => CpuThrottling | null;
  /** Defaults to the figures of this process. */
  readonly processMetrics?: () => ProcessReading;
}

/** The metrics of the whole program: everything reports here, and `/metrics` is rendered from here. */
export interface Metrics extends MetricsSink {
  /** The page in the format that the scraper prefers. Concurrent calls share one rendering. */
  render(accept: string): Promise<RenderedPage>;
  /** Series of targets and profiles that are gone vanish; the others keep their counts. */
  reconfigure(config: Config): void;
  /**
   * What was found out about a target whose model, engine or API is "auto". Call it before the first probe, so that the
   * series exist at 0 under their final labels.
   */
  targetResolved(target: string, facts: Partial<TargetFacts>): void;
  seriesEstimate(config: Config): SeriesEstimate;
}

const everyOf = (timetable: Timetable): Seconds | null => timetable.everySeconds;

/** The requested model, the API and the engine of a probe: ours to say, never what an answer claims. */
function factsOf({ outcome, engine }: FinishedProbe): Partial<TargetFacts> {
  const { model, api } = outcome;
  return engine === null ? { model, api } : { model, api, engine: engine.name };
}

/** Builds the metrics; nothing runs until something is reported or a page is rendered. */
export function createMetrics(options: MetricsOptions, deps: MetricsDependencies): Metrics {
  const { clock, log } = deps;
  const processMetrics = deps.processMetrics ?? createProcessMetrics(clock.unix() - process.uptime());
  const layouts = createLayouts();
  const exporter = createExporterSeries(
    { version: options.version, revision: options.revision, startedAt: clock.unix() },
    { layouts, readCpuThrottling: deps.readCpuThrottling ?? readCpuThrottling },
  );
  const invalid = (): void => {
    exporter.invalidSample();
    log.warn({}, 'a value that is not a finite number of a known label was dropped');
  };
  const registry = createTargetRegistry(options.config, { invalid, layouts, intervalOf: deps.intervalOf ?? everyOf });
  const rendering = new Map<ExpositionFormat, Promise<RenderedPage>>();
  let config = options.config;
  let viewsOf: () => readonly EngineView[] = () => [];

  async function* sources(pacer: Pacer): AsyncGenerator<FamilySource> {
    yield* probeSources(registry.states());
    yield* engineSources(
      viewsOf().filter((view) => registry.get(view.target) !== undefined),
      pacer,
    );
    yield* exporterSources(exporter, processMetrics);
  }

  function render(accept: string): Promise<RenderedPage> {
    const format = negotiate(accept);
    const running = rendering.get(format);
    if (running !== undefined) return running;
    const pacer = createPacer(clock);
    const started = renderPage(sources(pacer), format, pacer).finally(() => rendering.delete(format));
    rendering.set(format, started);
    return started;
  }

  function probeFinished(finished: FinishedProbe): void {
    const { outcome } = finished;
    registry.resolve(outcome.target, factsOf(finished));
    const series = registry.profile(outcome.target, outcome.profile);
    // Its target was taken out of the configuration while it ran.
    if (series === undefined) return;
    observeProbe(series, finished, config.traceparent);
    const target = registry.get(outcome.target)?.series;
    if (outcome.certificateExpiresAt !== null) target?.certificateExpiry.set(outcome.certificateExpiresAt);
    if (outcome.clientCertificateExpiresAt !== null) {
      target?.clientCertificateExpiry.set(outcome.clientCertificateExpiresAt);
    }
    if (outcome.eventLoopDelaySeconds !== null) exporter.eventLoopDelay(outcome.eventLoopDelaySeconds);
  }

  exporter.targets(config.targets.length);
  return {
    render,
    probeFinished,
    seriesEstimate: estimateSeries,
    targetResolved: (target, facts) => registry.resolve(target, facts),
    reconfigure(next) {
      config = next;
      registry.reconfigure(next);
      exporter.targets(next.targets.length);
    },
    probeSkipped(target, profile, reason, countsAgainstSlo) {
      const series = registry.profile(target, profile);
      series?.instruments.skipped.add(1, reason);
      if (countsAgainstSlo) series?.instruments.sloEvents.add(1, 'availability');
    },
    scheduleLag(target, profile, lag) {
      // A timer may fire up to a millisecond early.
      registry.profile(target, profile)?.instruments.scheduleLag.observe(lag < 0 ? seconds(0) : lag);
    },
    paused: (target, paused) => registry.get(target)?.series.paused.set(paused ? 1 : 0),
    budget(target, remaining) {
      const gauge = registry.get(target)?.series.budgetRemaining;
      gauge?.set(Math.max(0, remaining.hour), 'hour');
      gauge?.set(Math.max(0, remaining.day), 'day');
    },
    engineViews(source) {
      viewsOf = source;
    },
    configReloaded: (successful, at) => exporter.configReloaded(successful, at),
  };
}

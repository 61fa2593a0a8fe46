import type { UnixTime } from '../units.ts';
import { boundsWith } from './bounds.ts';
import type { CpuThrottling } from './cgroup.ts';
import type { FamilyDefinition } from './definition.ts';
import { type ExporterFamily, EXPORTER_FAMILIES as F } from './exporter-families.ts';
import { renderRows } from './exposition.ts';
import { createCounter, createGauge, createHistogram, createInfo, type Instrument } from './instruments.ts';
import type { Layouts } from './layout.ts';

export interface ExporterSeriesOptions {
  readonly version: string;
  readonly revision: string;
  readonly startedAt: UnixTime;
}

export interface ExporterSeries {
  readonly instruments: Readonly<Record<ExporterFamily, Instrument>>;
  /** Reads what the system says, once for all families of a page. */
  refresh(): void;
  /** A value that was refused somewhere. */
  invalidSample(): void;
  targets(count: number): void;
  configReloaded(successful: boolean, at: UnixTime): void;
  eventLoopDelay(delaySeconds: number): void;
}

/** Series of the exporter about itself. The process runs at all, so its configuration was loaded with success at start. */
export function createExporterSeries(
  options: ExporterSeriesOptions,
  deps: { readonly layouts: Layouts; readonly readCpuThrottling: () => CpuThrottling | null },
): ExporterSeries {
  const context = { base: '', invalid: () => invalidSamples.add(1), layouts: deps.layouts };
  const invalidSamples = createCounter<never>(F.invalidSamples, { ...context, invalid: () => {} });
  const buildInfo = createInfo(F.buildInfo, context);
  const targets = createGauge<never>(F.targets, context);
  const reloadSuccessful = createGauge<never>(F.reloadSuccessful, context);
  const reloadSuccessTime = createGauge<never>(F.reloadSuccessTime, context);
  const eventLoopDelay = createHistogram<never>(F.eventLoopDelay, context, boundsWith(F.eventLoopDelay.bounds, [], 0));
  let cpuThrottling: CpuThrottling | null = null;
  const throttling = (family: FamilyDefinition, pick: (found: CpuThrottling) => number): Instrument => ({
    render: () => {
      const found = cpuThrottling;
      return found === null ? '' : renderRows(family, [{ suffix: '', labels: '', value: pick(found) }]);
    },
  });

  buildInfo.set([{ version: options.version, revision: options.revision, node_version: process.version }]);
  reloadSuccessful.set(1);
  reloadSuccessTime.set(options.startedAt);
  return {
    instruments: {
      buildInfo,
      targets,
      reloadSuccessful,
      reloadSuccessTime,
      eventLoopDelay,
      invalidSamples,
      throttledPeriods: throttling(F.throttledPeriods, (found) => found.periods),
      throttledSeconds: throttling(F.throttledSeconds, (found) => found.seconds),
    },
    refresh: () => {
      cpuThrottling = deps.readCpuThrottling();
    },
    invalidSample: () => invalidSamples.add(1),
    targets: (count) => targets.set(count),
    configReloaded: (successful, at) => {
      reloadSuccessful.set(successful ? 1 : 0);
      if (successful) reloadSuccessTime.set(at);
    },
    eventLoopDelay: (delaySeconds) => eventLoopDelay.observe(delaySeconds),
  };
}

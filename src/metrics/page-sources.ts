import type { EngineView } from '../engine/types.ts';
import type { FamilyDefinition } from './definition.ts';
import { ENGINE_FAMILIES, type EngineFamily } from './engine-families.ts';
import { ENGINE_ROWS, type ShownEngine, showEngine } from './engine-rows.ts';
import { EXPORTER_FAMILIES, type ExporterFamily, PROCESS_FAMILIES } from './exporter-families.ts';
import type { ExporterSeries } from './exporter-series.ts';
import { renderRows } from './exposition.ts';
import { PROBE_FAMILIES } from './probe-families.ts';
import type { ProcessFamily, ProcessReading } from './process-metrics.ts';
import type { ProfileFamily } from './profile-series.ts';
import type { FamilySource, Pacer } from './render.ts';
import type { TargetState } from './target-registry.ts';
import { TARGET_FAMILIES, type TargetFamily } from './target-series.ts';

const isTargetFamily = (key: string): key is TargetFamily => (TARGET_FAMILIES as readonly string[]).includes(key);

/** What clients see: every family over all targets. */
export function* probeSources(states: readonly TargetState[]): Generator<FamilySource> {
  const profiles = states.flatMap((state) => [...state.profiles.values()]);
  for (const [key, family] of Object.entries<FamilyDefinition>(PROBE_FAMILIES)) {
    if (isTargetFamily(key)) yield { family, parts: states.map((state) => state.series[key]) };
    else yield { family, parts: profiles.map((profile) => profile.instruments[key as ProfileFamily]) };
  }
}

/** What engines say: every family over all engines, each target once. */
export async function* engineSources(views: readonly EngineView[], pacer: Pacer): AsyncGenerator<FamilySource> {
  const shown = new Map<string, ShownEngine>();
  for (const view of views) {
    if (!shown.has(view.target)) shown.set(view.target, showEngine(view));
    await pacer.breathe();
  }
  for (const [key, family] of Object.entries<FamilyDefinition>(ENGINE_FAMILIES)) {
    const rowsOf = ENGINE_ROWS[key as EngineFamily];
    yield {
      family,
      parts: [...shown.values()].map((engine) => ({ render: () => renderRows(family, rowsOf(engine)) })),
    };
  }
}

/** The exporter about itself and its process. */
export function* exporterSources(
  exporter: ExporterSeries,
  processMetrics: () => ProcessReading,
): Generator<FamilySource> {
  exporter.refresh();
  for (const [key, family] of Object.entries<FamilyDefinition>(EXPORTER_FAMILIES)) {
    yield { family, parts: [exporter.instruments[key as ExporterFamily]] };
  }
  const reading = processMetrics();
  for (const [key, family] of Object.entries<FamilyDefinition>(PROCESS_FAMILIES)) {
    const value = reading[key as ProcessFamily];
    const rows = value === undefined ? [] : [{ suffix: '', labels: '', value }];
    yield { family, parts: [{ render: () => renderRows(family, rows) }] };
  }
}

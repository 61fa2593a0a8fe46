import type { Config, ScheduledProfile, TargetConfig } from '../config/types.ts';
import { HISTOGRAM_ROLES } from '../engine/types.ts';
import { boundsOf, boundsWith } from './bounds.ts';
import type { FamilyDefinition, Scope } from './definition.ts';
import { ENGINE_FAMILIES } from './engine-families.ts';
import { EXPORTER_FAMILIES, PROCESS_FAMILIES } from './exporter-families.ts';
import { PROBE_FAMILIES } from './probe-families.ts';

/** Time series that a configuration will make. */
export interface SeriesEstimate {
  readonly perTarget: readonly {
    readonly target: string;
    readonly profiles: readonly { readonly profile: string; readonly series: number }[];
    /** Series of the target itself and of an engine with one model and one rank that offers every role. */
    readonly engine: number;
    readonly total: number;
  }[];
  /** Series of the exporter and its process, once. */
  readonly exporter: number;
  readonly total: number;
}

// Quantities that an engine may say it supports, and latency histograms with the bounds that vLLM has.
const ENGINE_ROLES = 13;
const ENGINE_BOUNDS = 22;

const add = (a: number, b: number): number => a + b;

function labelSets(family: FamilyDefinition): number {
  return family.labels.map((label) => family.values?.[label]?.length ?? 1).reduce((a, b) => a * b, 1);
}

function seriesOf(family: FamilyDefinition, bounds: readonly number[]): number {
  if (family.type === 'histogram') return labelSets(family) * (bounds.length + 3);
  return labelSets(family) * (family.type === 'summary' ? 2 : 1);
}

const scoped = (families: Readonly<Record<string, FamilyDefinition>>, scope: Scope): readonly FamilyDefinition[] =>
  Object.values(families).filter((family) => family.scope === scope);

/** The last bound is moved by the deadlines of a profile, and thresholds add bounds. */
function profileSeries(config: Config, target: TargetConfig, { profile }: ScheduledProfile): number {
  const { slo } = target;
  const bounds = (family: FamilyDefinition): readonly number[] => {
    const list = boundsOf(family.bounds, config.buckets);
    if (family.bounds === 'ttftSeconds') {
      return boundsWith(list, [slo.ttft.thresholdSeconds], profile.deadlines.firstTokenSeconds);
    }
    if (family.bounds === 'tpotSeconds') return boundsWith(list, [slo.tpot.thresholdSeconds], 0);
    return boundsWith(list, [], family.bounds === 'durationSeconds' ? profile.deadlines.totalSeconds : 0);
  };
  // What exists only for some endpoints (reasoning models, refused parameters) is not counted in.
  const families = scoped(PROBE_FAMILIES, 'profile').filter(
    (family) => family !== PROBE_FAMILIES.firstContent && family !== PROBE_FAMILIES.refusedParameter,
  );
  return families.map((family) => seriesOf(family, bounds(family))).reduce(add, 0);
}

function engineSeries(target: TargetConfig): number {
  const own = scoped(PROBE_FAMILIES, 'target')
    .map((family) => seriesOf(family, []))
    .reduce(add, 0);
  if (!target.metrics.enabled) return own;
  const families = Object.values<FamilyDefinition>(ENGINE_FAMILIES).filter((family) => family.type !== 'histogram');
  const roles = ENGINE_ROLES - 1;
  const histograms = target.metrics.exportHistograms ? HISTOGRAM_ROLES.length * (ENGINE_BOUNDS + 3) : 0;
  return own + families.map((family) => seriesOf(family, [])).reduce(add, 0) + roles + histograms;
}

/** Counts the series before any exists; for `check` and the documentation. */
export function estimateSeries(config: Config): SeriesEstimate {
  const perTarget = config.targets.map((target) => {
    const profiles = target.profiles.map((scheduled) => ({
      profile: scheduled.profile.name,
      series: profileSeries(config, target, scheduled),
    }));
    const engine = engineSeries(target);
    return {
      target: target.name,
      profiles,
      engine,
      total: engine + profiles.map(({ series }) => series).reduce(add, 0),
    };
  });
  const exporter = [
    ...Object.values<FamilyDefinition>(EXPORTER_FAMILIES),
    ...Object.values<FamilyDefinition>(PROCESS_FAMILIES),
  ]
    .map((family) => seriesOf(family, boundsOf(family.bounds, config.buckets)))
    .reduce(add, 0);
  return { perTarget, exporter, total: exporter + perTarget.map(({ total }) => total).reduce(add, 0) };
}

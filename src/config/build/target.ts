import { type Seconds, seconds } from '../../units.ts';
import { DEFAULT_PROFILES, DEFAULTS } from '../defaults.ts';
import type { KeyPath } from '../report.ts';
import type { RawProfile } from '../schema/profile.ts';
import type { RawConfig } from '../schema/root.ts';
import type { RawBudget, RawKvCache, RawMetrics, RawSlo, RawTarget } from '../schema/target.ts';
import { nearest } from '../suggest.ts';
import type {
  BudgetSettings,
  EngineSettings,
  KvCacheSettings,
  ScheduledProfile,
  SloSettings,
  TargetConfig,
} from '../types.ts';
import { buildConnection, checkTls } from './connection.ts';
import { buildApiKey, buildHeaders, type SecretDeps } from './headers.ts';
import { buildProfile } from './profile.ts';
import { isLoopback, readMetricsUrl, readTargetUrl } from './url.ts';

/** A profile together with how and where it was written. */
export interface PlacedProfile {
  readonly scheduled: ScheduledProfile;
  readonly raw: RawProfile;
  readonly path: KeyPath;
}

/** A target together with how and where it was written. */
export interface PlacedTarget {
  readonly target: TargetConfig;
  readonly raw: RawTarget;
  readonly path: KeyPath;
  readonly profiles: readonly PlacedProfile[];
}

const emptyKv: KvCacheSettings = {
  capacityTokens: null,
  memoryBytes: null,
  layers: null,
  kvHeads: null,
  headDim: null,
  dtypeBytes: null,
};

const buildSlo = (own: RawSlo = {}, shared: RawSlo = {}): SloSettings => ({
  availability: {
    objectiveRatio:
      own.availability?.objective ?? shared.availability?.objective ?? DEFAULTS.slo.availability.objectiveRatio,
  },
  ttft: {
    thresholdSeconds: own.ttft?.threshold ?? shared.ttft?.threshold ?? DEFAULTS.slo.ttft.thresholdSeconds,
    objectiveRatio: own.ttft?.objective ?? shared.ttft?.objective ?? DEFAULTS.slo.ttft.objectiveRatio,
  },
  tpot: {
    thresholdSeconds: own.tpot?.threshold ?? shared.tpot?.threshold ?? DEFAULTS.slo.tpot.thresholdSeconds,
    objectiveRatio: own.tpot?.objective ?? shared.tpot?.objective ?? DEFAULTS.slo.tpot.objectiveRatio,
  },
});

const buildBudget = (own: RawBudget = {}, shared: RawBudget = {}): BudgetSettings => ({
  tokensPerHour: own.tokens_per_hour ?? shared.tokens_per_hour ?? DEFAULTS.budget.tokensPerHour,
  tokensPerDay: own.tokens_per_day ?? shared.tokens_per_day ?? DEFAULTS.budget.tokensPerDay,
});

function buildMetrics(own: RawMetrics, shared: RawMetrics, path: KeyPath, deps: SecretDeps): EngineSettings {
  const merged = { ...shared, ...own };
  const defaults = DEFAULTS.metrics;
  const atLeast = (value: Seconds, polls: number): Seconds => seconds(Math.max(value, polls * (merged.every ?? 0)));
  return {
    enabled: merged.enabled ?? defaults.enabled,
    metricsUrl: own.url === undefined ? null : readMetricsUrl(own.url, [...path, 'url'], deps.report),
    everySeconds: merged.every ?? null,
    // What is not written follows a slow poll, so that slowing it down needs no further key.
    staleAfterSeconds: merged.stale_after ?? atLeast(defaults.staleAfterSeconds, 3),
    peakWindowSeconds: merged.peak_window ?? atLeast(defaults.peakWindowSeconds, 1),
    maxBytes: merged.max_bytes ?? defaults.maxBytes,
    exportHistograms: merged.histograms ?? defaults.exportHistograms,
    hangAfterSeconds: merged.hang_after ?? atLeast(defaults.hangAfterSeconds, 3),
  };
}

function buildKvCache(raw: RawKvCache | undefined, path: KeyPath, deps: SecretDeps): KvCacheSettings | null {
  if (raw === undefined) return null;
  const shape = [raw.layers, raw.kv_heads, raw.head_dim, raw.dtype_bytes];
  if (raw.capacity_tokens === undefined && (raw.memory === undefined || shape.includes(undefined))) {
    deps.report.error(path, 'needs capacity_tokens, or memory with layers, kv_heads, head_dim and dtype_bytes', 'key');
  }
  return {
    ...emptyKv,
    capacityTokens: raw.capacity_tokens ?? null,
    memoryBytes: raw.memory ?? null,
    layers: raw.layers ?? null,
    kvHeads: raw.kv_heads ?? null,
    headDim: raw.head_dim ?? null,
    dtypeBytes: raw.dtype_bytes ?? null,
  };
}

/** The profiles that a configuration shares: its own, and the built-in ones under names that it does not use. */
export function sharedProfiles(root: RawConfig): {
  readonly all: ReadonlyMap<string, Omit<PlacedProfile, 'scheduled'>>;
  readonly names: readonly string[];
} {
  const own = (root.profiles ?? []).map((raw, index) => ({ raw, path: ['profiles', index] as KeyPath }));
  const builtIn = DEFAULT_PROFILES.map((raw) => ({ raw: { ...raw } as RawProfile, path: ['profiles'] as KeyPath }));
  // Of a name that is given twice the first stands; the second is reported as such.
  const all = new Map([...builtIn, ...own.toReversed()].map((profile) => [profile.raw.name, profile]));
  const names = [...new Set((own.length > 0 ? own : builtIn).map((profile) => profile.raw.name))];
  return { all, names };
}

function buildProfiles(raw: RawTarget, root: RawConfig, path: KeyPath, deps: SecretDeps): readonly PlacedProfile[] {
  const shared = sharedProfiles(root);
  const references = raw.profiles ?? shared.names;
  const built: PlacedProfile[] = [];
  for (const [index, reference] of references.entries()) {
    const at = [...path, 'profiles', index];
    const found = typeof reference === 'string' ? shared.all.get(reference) : { raw: reference, path: at };
    if (found === undefined) {
      const names = [...shared.all.keys()];
      const near = typeof reference === 'string' ? nearest(reference, names) : null;
      deps.report.error(
        at,
        `names a profile that is not described; ${near === null ? `there are ${names.join(', ')}` : `did you mean ${near}?`}`,
      );
      continue;
    }
    if (built.some((profile) => profile.raw.name === found.raw.name)) {
      deps.report.error(at, `is a second profile ${JSON.stringify(found.raw.name)} of this target: names must differ`);
      continue;
    }
    built.push({ ...found, scheduled: buildProfile(found.raw, found.path, deps.report) });
  }
  return built;
}

/** Completes one target with shared settings and defaults. Null when its URL cannot be used. */
export function buildTarget(raw: RawTarget, root: RawConfig, path: KeyPath, deps: SecretDeps): PlacedTarget | null {
  const url = readTargetUrl(raw.url, [...path, 'url'], deps.report);
  const profiles = buildProfiles(raw, root, path, deps);
  const own = { raw: raw.connection ?? {}, path: [...path, 'connection'] };
  const connection = buildConnection(own, { raw: root.connection ?? {}, path: ['connection'] }, deps);
  const metrics = buildMetrics(raw.metrics ?? {}, root.metrics ?? {}, [...path, 'metrics'], deps);
  const secrets = { apiKey: buildApiKey(raw, path, deps), ...buildHeaders(raw, path, deps) };
  const kvCache = buildKvCache(raw.kv_cache, [...path, 'kv_cache'], deps);
  if (url === null) return null;
  checkTls(own, connection, url.protocol === 'https:' || metrics.metricsUrl?.protocol === 'https:', deps);
  const target: TargetConfig = {
    name: raw.name,
    url,
    model: raw.model ?? 'auto',
    api: raw.api ?? 'auto',
    engine: raw.engine ?? 'auto',
    vantage: raw.vantage ?? (isLoopback(url) ? DEFAULTS.vantage.loopback : DEFAULTS.vantage.elsewhere),
    ...secrets,
    connection,
    paused: raw.paused ?? DEFAULTS.paused,
    metrics,
    profiles: profiles.map((profile) => profile.scheduled),
    slo: buildSlo(raw.slo, root.slo),
    budget: buildBudget(raw.budget, root.budget),
    warmupProbes: raw.warmup_probes ?? DEFAULTS.warmupProbes,
    kvCache,
  };
  return { target, raw, path, profiles };
}

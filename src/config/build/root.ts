import { resolve } from 'node:path';
import { mergeBounds, withNeededEdges } from '../buckets.ts';
import { checkProfile } from '../check/profile.ts';
import { checkBounds, checkObjectives } from '../check/slo.ts';
import { checkTarget } from '../check/target.ts';
import { DEFAULT_BUCKETS, DEFAULTS, WEAK } from '../defaults.ts';
import { describeReadFailure } from '../files.ts';
import type { Report } from '../report.ts';
import type { RawConfig } from '../schema/root.ts';
import type { BucketSettings, Config, WebSettings } from '../types.ts';
import type { SecretDeps } from './headers.ts';
import { buildProfile } from './profile.ts';
import { buildTarget, type PlacedTarget, sharedProfiles } from './target.ts';

/** Paths that the program serves itself. */
const OWN_PATHS = ['/', '/config', '/probes', '/-'];

function buildWeb(raw: RawConfig['web'] = {}, deps: SecretDeps): WebSettings {
  const { report } = deps;
  const listenAddress = raw.listen_address ?? DEFAULTS.web.listenAddress;
  const port = Number(listenAddress.slice(listenAddress.lastIndexOf(':') + 1));
  if (port > 65_535) report.error(['web', 'listen_address'], 'has a port above 65535');
  const telemetryPath = raw.telemetry_path ?? DEFAULTS.web.telemetryPath;
  if (OWN_PATHS.some((path) => telemetryPath === path || (path !== '/' && telemetryPath.startsWith(`${path}/`)))) {
    report.error(
      ['web', 'telemetry_path'],
      'is a path that the program serves for something else; the usual one is /metrics',
    );
  }
  const webConfigFile = raw.web_config_file === undefined ? null : resolve(deps.directory, raw.web_config_file);
  if (webConfigFile !== null) {
    try {
      deps.files.read(webConfigFile);
    } catch (error) {
      // Serving without the protection that was asked for is never right.
      report.error(['web', 'web_config_file'], `names ${webConfigFile}, which ${describeReadFailure(error)}`);
    }
  }
  return {
    listenAddress,
    telemetryPath,
    webConfigFile,
    enablePause: raw.enable_pause ?? DEFAULTS.web.enablePause,
    enableReload: raw.enable_reload ?? DEFAULTS.web.enableReload,
  };
}

const configuredBuckets = (raw: RawConfig['buckets'] = {}): BucketSettings => ({
  ttftSeconds: raw.ttft_seconds ?? DEFAULT_BUCKETS.ttftSeconds,
  tpotSeconds: raw.tpot_seconds ?? DEFAULT_BUCKETS.tpotSeconds,
  gapSeconds: raw.gap_seconds ?? DEFAULT_BUCKETS.gapSeconds,
  durationSeconds: raw.duration_seconds ?? DEFAULT_BUCKETS.durationSeconds,
});

function buildBuckets(raw: RawConfig, targets: readonly PlacedTarget[], report: Report): BucketSettings {
  const base = configuredBuckets(raw.buckets);
  const deadlines = targets.flatMap(({ target }) => target.profiles.map(({ profile }) => profile.deadlines));
  const ttftThresholds = targets.map(({ target }) => target.slo.ttft.thresholdSeconds);
  const merged = withNeededEdges(base, {
    ttftThresholdsSeconds: ttftThresholds,
    tpotThresholdsSeconds: targets.map(({ target }) => target.slo.tpot.thresholdSeconds),
    firstTokenDeadlinesSeconds: deadlines.map((deadline) => deadline.firstTokenSeconds),
    totalDeadlinesSeconds: deadlines.map((deadline) => deadline.totalSeconds),
  });
  const added = mergeBounds(base.ttftSeconds, ttftThresholds).length - base.ttftSeconds.length;
  if (added > WEAK.addedBounds) {
    report.warning(
      ['targets'],
      `have ${added} different TTFT thresholds, each a bound of every histogram: use fewer`,
      'key',
    );
  }
  return merged;
}

/** Names that must differ, and shared profiles that nobody uses. */
function checkNames(root: RawConfig, targets: readonly PlacedTarget[], report: Report): void {
  const firstTargets = new Map<string, number>();
  for (const [index, { name }] of root.targets.entries()) {
    const first = firstTargets.get(name);
    if (first === undefined) firstTargets.set(name, index);
    else report.error(['targets', index, 'name'], `is the name of targets[${first}] already: names must differ`);
  }
  const shared = new Set<string>();
  const used = new Set(targets.flatMap(({ profiles }) => profiles.map(({ path }) => path.join('.'))));
  for (const [index, { name }] of (root.profiles ?? []).entries()) {
    const path = ['profiles', index];
    if (shared.has(name))
      report.error([...path, 'name'], `is a second shared profile ${JSON.stringify(name)}: names must differ`);
    else if (targets.length > 0 && !used.has(path.join('.'))) report.warning([...path, 'name'], 'is used by no target');
    shared.add(name);
  }
}

function checkAll(root: RawConfig, targets: readonly PlacedTarget[], report: Report): void {
  checkNames(root, targets, report);
  const base = configuredBuckets(root.buckets);
  for (const target of targets) {
    for (const profile of target.profiles) checkProfile(profile, report);
    checkTarget(target, root, report);
    checkObjectives(target, root, report);
    checkBounds(target, root, { ttft: base.ttftSeconds, tpot: base.tpotSeconds }, report);
  }
}

/** Profiles that no target asked for are checked too, so that a mistake shows before they are used. */
function checkUnusedProfiles(root: RawConfig, targets: readonly PlacedTarget[], deps: SecretDeps): void {
  const used = new Set<unknown>(targets.flatMap(({ raw }) => raw.profiles ?? [...sharedProfiles(root).names]));
  for (const [index, raw] of (root.profiles ?? []).entries()) {
    if (used.has(raw.name)) continue;
    const path = ['profiles', index];
    checkProfile({ raw, path, scheduled: buildProfile(raw, path, deps.report) }, deps.report);
  }
}

/**
 * Completes and checks a configuration whose keys and kinds are already right.
 *
 * @returns the configuration; only to be used when nothing was reported as an error
 */
export function buildConfig(root: RawConfig, source: string, deps: SecretDeps): Config {
  const targets = root.targets
    .map((raw, index) => buildTarget(raw, root, ['targets', index], deps))
    .filter((target) => target !== null);
  checkAll(root, targets, deps.report);
  checkUnusedProfiles(root, targets, deps);
  return {
    source,
    log: { level: root.log?.level ?? DEFAULTS.log.level, format: root.log?.format ?? DEFAULTS.log.format },
    web: buildWeb(root.web, deps),
    paused: root.paused ?? DEFAULTS.paused,
    buckets: buildBuckets(root, targets, deps.report),
    targets: targets.map(({ target }) => target),
    disturbedAfterSeconds: root.disturbed_after ?? DEFAULTS.disturbedAfterSeconds,
    traceparent: root.traceparent ?? DEFAULTS.traceparent,
    mostParallelProbes: root.max_parallel_probes ?? null,
  };
}

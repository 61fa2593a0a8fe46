import type { PlacedProfile, PlacedTarget } from '../build/target.ts';
import { probesPerHour } from '../plan.ts';
import { formatDuration } from '../quantities.ts';
import type { KeyPath, Report } from '../report.ts';
import type { RawConfig } from '../schema/root.ts';
import type { RawSlo } from '../schema/target.ts';
import type { SloName } from '../types.ts';

/** The burn rate of the fast page: 2 % of a 30-day budget in an hour. */
const FAST_BURN = 14.4;
const HOUR_SECONDS = 3600;
const USUAL_OBJECTIVES = [0.999, 0.995, 0.99, 0.98, 0.95, 0.94];

/** Where a value of an objective was written: at the target, at the top, or nowhere (then the target itself). */
function placeOf(target: PlacedTarget, root: RawConfig, name: SloName, key: 'objective' | 'threshold'): KeyPath {
  const has = (slo: RawSlo | undefined): boolean => {
    const part = slo?.[name] as Readonly<Record<string, unknown>> | undefined;
    return part?.[key] !== undefined;
  };
  if (has(target.raw.slo)) return [...target.path, 'slo', name, key];
  return has(root.slo) ? ['slo', name, key] : target.path;
}

/**
 * Whether the rate of the probes can tell a broken objective from bad luck. A page that burns 14.4 times the budget over
 * an hour must need more than one bad probe, and must not need more bad ones than there are probes.
 */
export function judgeObjective(
  objectiveRatio: number,
  perHour: number,
): 'measurable' | 'one_failure_pages' | 'never_pages' {
  const badShare = FAST_BURN * (1 - objectiveRatio);
  if (badShare >= 1) return 'never_pages';
  return badShare * perHour <= 1 ? 'one_failure_pages' : 'measurable';
}

function adviceFor(objectiveRatio: number, perHour: number): string {
  const every = Math.floor(HOUR_SECONDS * FAST_BURN * (1 - objectiveRatio));
  const reachable = USUAL_OBJECTIVES.find((ratio) => judgeObjective(ratio, perHour) === 'measurable');
  const faster = every >= 1 ? `probe more often than every ${formatDuration(every)}` : '';
  const lower =
    reachable === undefined || reachable >= objectiveRatio ? '' : `set an objective of ${reachable} or less`;
  return [faster, lower].filter((text) => text !== '').join(', or ') || 'lower the objective';
}

function checkObjective(
  target: PlacedTarget,
  profile: PlacedProfile,
  name: SloName,
  root: RawConfig,
  report: Report,
): void {
  const perHour = probesPerHour(profile.scheduled.timetable);
  if (perHour === null) return;
  const { objectiveRatio } = target.target.slo[name];
  const at = placeOf(target, root, name, 'objective');
  const verdict = judgeObjective(objectiveRatio, perHour);
  const what = `${name} objective ${objectiveRatio}`;
  const rate = `${Math.round(perHour * 10) / 10} probes an hour of profile ${profile.scheduled.profile.name}`;
  if (verdict === 'one_failure_pages') {
    report.warning(
      at,
      `${what} cannot be measured with ${rate}: one bad probe alone pages; ${adviceFor(objectiveRatio, perHour)}`,
    );
  } else if (verdict === 'never_pages') {
    report.warning(
      at,
      `${what} is too low for the fast-burn page, which could never fire; set more than ${(1 - 1 / FAST_BURN).toFixed(3)}`,
    );
  }
}

function checkThresholds(target: PlacedTarget, profile: PlacedProfile, root: RawConfig, report: Report): void {
  const { slo } = target.target;
  const { deadlines } = profile.scheduled.profile;
  const pairs = [
    ['ttft', slo.ttft.thresholdSeconds, 'first_token', deadlines.firstTokenSeconds],
    ['tpot', slo.tpot.thresholdSeconds, 'between_tokens', deadlines.betweenTokensSeconds],
  ] as const;
  for (const [name, threshold, deadlineKey, deadline] of pairs) {
    if (threshold < deadline) continue;
    report.warning(
      placeOf(target, root, name, 'threshold'),
      `${name} threshold ${formatDuration(threshold)} is not below deadlines.${deadlineKey} (${formatDuration(deadline)}) of profile ${profile.scheduled.profile.name}: a probe fails before it is slow`,
    );
  }
}

/** Objectives that the timetable cannot measure, and thresholds that no probe can miss. */
export function checkObjectives(target: PlacedTarget, root: RawConfig, report: Report): void {
  for (const profile of target.profiles) {
    for (const name of ['availability', 'ttft', 'tpot'] as const) checkObjective(target, profile, name, root, report);
    checkThresholds(target, profile, root, report);
  }
}

/** Thresholds that lie outside of the histogram's bounds: they become edges, but nothing near them can be told apart. */
export function checkBounds(
  target: PlacedTarget,
  root: RawConfig,
  bounds: Readonly<Record<'ttft' | 'tpot', readonly number[]>>,
  report: Report,
): void {
  for (const name of ['ttft', 'tpot'] as const) {
    const threshold = target.target.slo[name].thresholdSeconds;
    const first = bounds[name][0] ?? 0;
    const last = bounds[name].at(-1) ?? 0;
    if (threshold >= first && threshold <= last) continue;
    report.warning(
      placeOf(target, root, name, 'threshold'),
      `${name} threshold ${formatDuration(threshold)} lies outside of the histogram bounds (${formatDuration(first)} to ${formatDuration(last)}): quantiles near it are guesses; set buckets.${name}_seconds`,
    );
  }
}

import type { TargetConfig } from '../config/types.ts';
import type { EngineView } from '../engine/types.ts';
import { toEvidenceRecord } from '../record.ts';
import { type EngineHistory, type EnginePoint, enginePoint } from './history.ts';
import { kvRoom } from './kv-room.ts';
import type { ProbeSummary, RecentProbes } from './recent.ts';
import { profileState, type StateSince, stateOf, worstState } from './state.ts';

/** What the page draws from. */
export interface LiveSources {
  readonly targets: () => readonly TargetConfig[];
  readonly views: () => readonly EngineView[];
  readonly recent: RecentProbes;
  readonly history: EngineHistory;
  readonly isPaused: (target: string) => boolean;
}

/** What the page has already: the order of its newest probe and the time of its newest point. */
export interface LiveCursor {
  readonly order: number;
  readonly at: number;
}

const round = (value: number | null, digits: number): number | null =>
  value === null ? null : Math.round(value * 10 ** digits) / 10 ** digits;

/** A probe on the page. Times in seconds, `at` in seconds since 1970. */
function probeJson(probe: ProbeSummary, target: TargetConfig) {
  return {
    order: probe.order,
    id: probe.id,
    at: round(probe.startedAt, 3),
    state: stateOf(probe, target.slo),
    warmup: probe.warmup,
    ttft: round(probe.ttftSeconds, 5),
    tpot: round(probe.tpotSeconds, 6),
    duration: round(probe.durationSeconds, 4),
    reason: probe.reason,
    side: probe.side,
    cause: probe.cause,
    buffered: probe.buffered,
    disturbed: probe.disturbed,
  };
}

const pointJson = (point: EnginePoint) => [
  round(point.at, 2),
  round(point.kvUsageRatio, 4),
  point.running,
  point.waiting,
  point.preemptions,
  point.generationTokens,
  point.zone,
];

const highestPeak = (view: EngineView, role: 'kv_cache_usage_ratio' | 'requests_running' | 'requests_waiting') => {
  const known = view.series.map(({ peaks }) => peaks[role]).filter((value) => value !== undefined);
  return known.length === 0 ? null : Math.max(...known);
};

function engineJson(view: EngineView, now: number) {
  const point = enginePoint(view, now);
  return {
    name: view.engine,
    version: view.version,
    up: view.up,
    zone: view.zone,
    hung: view.hung,
    asleep: view.asleep,
    restarts: view.restarts,
    lastPollAt: view.lastPollAt,
    error: view.lastPollError,
    ranks: view.series.length,
    kvUsage: round(point.kvUsageRatio, 4),
    kvUsagePeak: round(highestPeak(view, 'kv_cache_usage_ratio'), 4),
    running: point.running,
    runningPeak: highestPeak(view, 'requests_running'),
    waiting: point.waiting,
    waitingPeak: highestPeak(view, 'requests_waiting'),
    preemptions: point.preemptions,
  };
}

/** The newest probe that was slow or failed, with the values that its cause was taken from. */
function lastBad(target: TargetConfig, sources: LiveSources) {
  const bad = target.profiles
    .flatMap(({ profile }) =>
      sources.recent.summaries(target.name, profile.name).map((probe) => ({ probe, profile: profile.name })),
    )
    .filter(({ probe }) => !probe.warmup && stateOf(probe, target.slo) !== 'good')
    .sort((a, b) => b.probe.startedAt - a.probe.startedAt)[0];
  if (bad === undefined) return null;
  const evidence = toEvidenceRecord(sources.recent.get(bad.probe.id)?.diagnosis?.evidence ?? null);
  return { ...probeJson(bad.probe, target), profile: bad.profile, evidence };
}

function summaryJson(target: TargetConfig, sources: LiveSources, view: EngineView | undefined) {
  const states = target.profiles.map(({ profile }) =>
    profileState(sources.recent.summaries(target.name, profile.name), target.slo),
  );
  const worst: StateSince | null = worstState(states);
  return {
    name: target.name,
    vantage: target.vantage,
    paused: sources.isPaused(target.name),
    state: worst?.state ?? null,
    since: worst === null ? null : round(worst.since, 3),
    probes: worst?.probes ?? 0,
    engine: view === undefined ? null : { name: view.engine, up: view.up, zone: view.zone, asleep: view.asleep },
  };
}

function detailJson(
  target: TargetConfig,
  sources: LiveSources,
  view: EngineView | undefined,
  now: number,
  cursor: LiveCursor,
) {
  return {
    name: target.name,
    model: target.model === 'auto' ? (view?.series[0]?.model ?? null) : target.model,
    thresholds: { ttft: target.slo.ttft.thresholdSeconds, tpot: target.slo.tpot.thresholdSeconds },
    profiles: target.profiles.map(({ profile, timetable }) => {
      const probes = sources.recent.summaries(target.name, profile.name);
      return {
        name: profile.name,
        prefix: profile.prefix,
        everySeconds: timetable.everySeconds,
        state: profileState(probes, target.slo),
        probes: probes.filter((probe) => probe.order > cursor.order).map((probe) => probeJson(probe, target)),
      };
    }),
    engine: view === undefined ? null : engineJson(view, now),
    kvRoom: kvRoom(target, view),
    points: sources.history.points(target.name, cursor.at).map(pointJson),
    lastBad: lastBad(target, sources),
  };
}

export interface LiveRequest {
  /** Null: the first one. */
  readonly target: string | null;
  readonly cursor: LiveCursor;
  /** Now, in seconds since 1970. */
  readonly now: number;
}

/**
 * What the page asks for every second: all targets in a line each, and one of them with what it has not seen yet.
 */
export function liveJson(sources: LiveSources, wanted: LiveRequest) {
  const targets = sources.targets();
  const views = new Map(sources.views().map((view) => [view.target, view]));
  const chosen = targets.find(({ name }) => name === wanted.target) ?? targets[0];
  return {
    now: wanted.now,
    targets: targets.map((target) => summaryJson(target, sources, views.get(target.name))),
    detail:
      chosen === undefined ? null : detailJson(chosen, sources, views.get(chosen.name), wanted.now, wanted.cursor),
  };
}

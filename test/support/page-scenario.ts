import type { Cause } from '../../src/diagnose/types.ts';
import type { EngineView, EngineZone } from '../../src/engine/types.ts';
import type { EngineHistory, EnginePoint } from '../../src/http/history.ts';
import { createRecentProbes, type RecentProbes } from '../../src/http/recent.ts';
import type { TimelineEntry } from '../../src/probe/outcome.ts';
import type { FinishedProbe } from '../../src/record.ts';
import { monotonicInstant, seconds, unixTime } from '../../src/units.ts';
import { sampleSeries, sampleView } from './sample-engine.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from './sample-probe.ts';

/** Numbers that look random and never change. */
function noise(seed: number): number {
  const value = Math.sin(seed * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
}

/** Load as a share of what the engine can take: a wave of ten minutes through underload, knee and overload. */
const loadAt = (at: number): number => 0.62 + 0.5 * Math.sin((at / 600) * 2 * Math.PI) + 0.04 * noise(Math.floor(at));

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

function zoneAt(at: number): EngineZone {
  const load = loadAt(Math.floor(at / 12) * 12);
  if (load > 0.99) return 'overload';
  return load > 0.86 ? 'knee' : 'underload';
}

function preemptionsUntil(at: number, origin: number): number {
  let total = 0;
  for (let second = Math.floor(origin); second < at; second += 1) {
    if (loadAt(second) > 0.99 && noise(second + 7) > 0.72) total += 1 + Math.floor(noise(second) * 3);
  }
  return total;
}

/** The engine of the scenario at one second. */
function pointAt(at: number, origin: number): EnginePoint {
  const load = loadAt(at);
  return {
    at,
    kvUsageRatio: clamp(load * 0.97, 0.02, 0.995),
    running: Math.round(clamp(load * 30, 0, 32)),
    waiting: Math.round(Math.max(0, (load - 0.84) * 60)),
    preemptions: preemptionsUntil(at, origin),
    generationTokens: Math.round((at - origin) * 640),
    zone: zoneAt(at),
  };
}

function timelineOf(ttft: number, tpot: number, tokens: number): readonly TimelineEntry[] {
  const entries: TimelineEntry[] = [{ atSeconds: seconds(ttft * 0.9), kind: 'event', tokens: 0 }];
  let at = ttft;
  for (let index = 0; index < tokens; index += 1) {
    entries.push({ atSeconds: seconds(at), kind: 'token', tokens: 1 });
    at += tpot * (0.8 + 0.4 * noise(index + tokens)) * (index === 12 && tpot > 0.06 ? 6 : 1);
  }
  return [
    ...entries,
    { atSeconds: seconds(at), kind: 'usage', tokens: 0 },
    { atSeconds: seconds(at), kind: 'terminal', tokens: 0 },
  ];
}

const idOf = (at: number, profile: string): string =>
  `${Math.floor(at).toString(16).padStart(12, '0')}${profile === 'cold' ? 'c' : 'a'}`.padEnd(32, '0');

function causeAt(at: number): Cause {
  const zone = zoneAt(at);
  if (zone === 'overload') return 'preemption';
  return zone === 'knee' ? 'queueing' : 'prefill_contention';
}

/** A probe of the scenario that was started at `at`. */
function probeAt(at: number, profile: 'cold' | 'warm', origin: number): FinishedProbe {
  const load = loadAt(at);
  const base = profile === 'cold' ? 0.19 : 0.045;
  const ttft = base * (1 + 0.2 * noise(at)) + (load > 0.85 ? (load - 0.85) * 26 * (0.6 + noise(at + 3)) : 0);
  const tpot = 0.019 + 0.035 * clamp(load, 0, 1) ** 3 + (load > 1 ? 0.08 * noise(at + 5) : 0);
  const common = {
    id: idOf(at, profile),
    profile,
    startedAt: unixTime(at),
    beganAt: monotonicInstant(at - origin + 10),
    requestAt: monotonicInstant(at - origin + 10),
    cachedPromptTokens: profile === 'warm' ? 112 : 0,
  };
  const evidence = {
    ...sampleDiagnosis('preemption').evidence,
    kvUsageRatioMax: clamp(load * 0.97, 0, 0.995),
    waitingMax: pointAt(at, origin).waiting,
    zone: zoneAt(at),
  };
  const diagnosis = { cause: causeAt(at), evidence };
  if (load > 1.04 && noise(at + 11) > 0.72) {
    return finished(failedProbe('ttft_timeout', { ...common, durationSeconds: seconds(30) }), { diagnosis });
  }
  const outcome = goodProbe({
    ...common,
    ttfeSeconds: seconds(ttft * 0.9),
    ttftSeconds: seconds(ttft),
    ttfcSeconds: seconds(ttft),
    tpotSeconds: seconds(tpot),
    longestGapSeconds: seconds(tpot * (tpot > 0.06 ? 6 : 1.2)),
    durationSeconds: seconds(ttft + tpot * 31),
    timeline: timelineOf(ttft, tpot, 32),
  });
  const slow = ttft > 2 || tpot > 0.1;
  return finished(outcome, { diagnosis: slow ? diagnosis : null });
}

export interface PageScenario {
  readonly recent: RecentProbes;
  readonly history: EngineHistory;
  readonly views: () => readonly EngineView[];
  /** Lets a probe finish now. */
  addProbe(profile: 'cold' | 'warm', at: number): FinishedProbe;
}

/** A quarter of an hour of an engine under a wave of load, ending at `now()`; goes on as time does. */
export function createPageScenario(now: () => number, origin = now() - 900): PageScenario {
  const recent = createRecentProbes({ successes: 200, failures: 200 });
  for (let at = Math.ceil(origin); at < now(); at += 15) {
    recent.add(probeAt(at, 'cold', origin));
    recent.add(probeAt(at + 7, 'warm', origin));
  }
  const points = Array.from({ length: 900 }, (_, index) => pointAt(Math.ceil(origin) + index, origin));
  const history: EngineHistory = {
    start: () => {},
    close: () => {},
    points: (_target, since) => {
      const last = points.at(-1)?.at ?? origin;
      for (let at = last + 1; at <= now(); at += 1) points.push(pointAt(at, origin));
      return points.filter((point) => point.at > since);
    },
  };
  const views = (): readonly EngineView[] => {
    const point = pointAt(now(), origin);
    const usage = point.kvUsageRatio ?? 0;
    return [
      sampleView({
        zone: point.zone,
        lastPollAt: unixTime(now() - 0.4),
        series: [
          sampleSeries({
            gauges: {
              kv_cache_usage_ratio: usage,
              requests_running: point.running ?? 0,
              requests_waiting: point.waiting ?? 0,
            },
            peaks: {
              kv_cache_usage_ratio: Math.min(1, usage + 0.08),
              requests_running: 32,
              requests_waiting: (point.waiting ?? 0) + 4,
            },
            counters: { preemptions: point.preemptions ?? 0, generation_tokens: point.generationTokens ?? 0 },
            kvCapacityTokens: 131_072,
          }),
        ],
      }),
    ];
  };
  return {
    recent,
    history,
    views,
    addProbe(profile, at) {
      const probe = probeAt(at, profile, origin);
      recent.add(probe);
      return probe;
    },
  };
}

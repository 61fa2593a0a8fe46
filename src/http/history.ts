import type { Clock, Timer } from '../clock.ts';
import type { EngineView, EngineZone } from '../engine/types.ts';
import { seconds } from '../units.ts';

/** One moment of an engine, summed over its ranks. Null: not known then. */
export interface EnginePoint {
  readonly at: number;
  readonly kvUsageRatio: number | null;
  readonly running: number | null;
  readonly waiting: number | null;
  /** The exporter's own count of preemptions so far. */
  readonly preemptions: number | null;
  /** The exporter's own count of generated tokens so far. */
  readonly generationTokens: number | null;
  readonly zone: EngineZone | null;
}

export interface EngineHistory {
  start(): void;
  close(): void;
  /** Points of the last quarter of an hour later than `since`, oldest first. */
  points(target: string, since: number): readonly EnginePoint[];
}

const SPAN_SECONDS = 900;
// One point a second is what a person can follow; with many engines it is memory that nobody looks at.
const MANY_ENGINES = 50;
const STEP_SECONDS = 1;
const STEP_SECONDS_MANY = 5;

const sum = (values: readonly (number | undefined)[]): number | null => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
};
const highest = (values: readonly (number | undefined)[]): number | null => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : Math.max(...known);
};

/** The engine at one moment: usage is the highest of the ranks, requests and counters are sums. */
export function enginePoint(view: EngineView, at: number): EnginePoint {
  const { series } = view;
  return {
    at,
    kvUsageRatio: highest(series.map(({ gauges }) => gauges.kv_cache_usage_ratio)),
    running: sum(series.map(({ gauges }) => gauges.requests_running)),
    waiting: sum(series.map(({ gauges }) => gauges.requests_waiting)),
    preemptions: sum(series.map(({ counters }) => counters.preemptions)),
    generationTokens: sum(series.map(({ counters }) => counters.generation_tokens)),
    zone: view.zone,
  };
}

/** Keeps what the engines said over the last quarter of an hour, so that a page opened late has a past to show. */
export function createEngineHistory(deps: {
  readonly clock: Clock;
  readonly views: () => readonly EngineView[];
}): EngineHistory {
  const rings = new Map<string, EnginePoint[]>();
  let timer: Timer | null = null;

  function take(): number {
    const views = deps.views();
    const at = deps.clock.unix();
    const names = new Set(views.map((view) => view.target));
    for (const name of [...rings.keys()]) if (!names.has(name)) rings.delete(name);
    for (const view of views) {
      const ring = rings.get(view.target) ?? [];
      ring.push(enginePoint(view, at));
      // A wall clock that stepped back leaves points of the future behind.
      while ((ring[0]?.at ?? at) < at - SPAN_SECONDS || ring.length > SPAN_SECONDS / STEP_SECONDS) ring.shift();
      rings.set(view.target, ring);
    }
    return views.length > MANY_ENGINES ? STEP_SECONDS_MANY : STEP_SECONDS;
  }

  const arm = (stepSeconds: number): void => {
    timer = deps.clock.setTimer(seconds(stepSeconds), () => arm(take()));
  };

  return {
    start: () => arm(take()),
    close: () => {
      timer?.cancel();
      timer = null;
    },
    points(target, since) {
      const ring = rings.get(target) ?? [];
      return ring.filter((point) => point.at > since);
    },
  };
}

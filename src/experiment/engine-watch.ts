import type { Clock, Timer } from '../clock.ts';
import { type EnginePoller, type EngineSample, type EngineView, HISTOGRAM_ROLES } from '../engine/types.ts';
import { elapsed, type MonotonicInstant, seconds } from '../units.ts';
import type { EngineRecord, LatencySum } from './types.ts';

/** The engine's side of a run: every poll becomes a record. */
export interface EngineWatch {
  /** The newest poll; null before the first. */
  latest(): EngineSample | null;
  view(): EngineView;
  /** Polls at once where that is harmless, so that the ends of a phase are exact. */
  mark(): Promise<void>;
  close(): Promise<void>;
}

// The poller reads once a second; looking this often finds each poll while its view is still the newest.
const LOOK_SECONDS = seconds(0.2);

type PrefixRole = 'prefix_cache_queries' | 'prefix_cache_hits';

/** Sum over the engine's series; null when none has it. */
function counter(view: EngineView, role: PrefixRole): number | null {
  const values = view.series.flatMap(({ counters }) => counters[role] ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

/** Sums over the engine's series, of each histogram that it has. */
function latencySums(view: EngineView): Pick<EngineRecord, 'latencySums'> {
  const sums = HISTOGRAM_ROLES.flatMap((role): [string, LatencySum][] => {
    const found = view.series.flatMap(({ histograms }) => histograms[role] ?? []);
    if (found.length === 0) return [];
    const count = found.reduce((all, histogram) => all + histogram.count, 0);
    return [[role, { count, sumSeconds: found.reduce((all, histogram) => all + histogram.sum, 0) }]];
  });
  return sums.length === 0 ? {} : { latencySums: Object.fromEntries(sums) };
}

function toRecord(sample: EngineSample, view: EngineView, origin: MonotonicInstant): EngineRecord {
  return {
    atSeconds: Math.round(elapsed(origin, sample.at) * 1e6) / 1e6,
    up: sample.up,
    kvUsageRatio: sample.kvUsageRatio,
    running: sample.running,
    waiting: sample.waiting,
    preemptions: sample.preemptions,
    promptTokens: sample.promptTokens,
    generationTokens: sample.generationTokens,
    prefixQueries: counter(view, 'prefix_cache_queries'),
    prefixHits: counter(view, 'prefix_cache_hits'),
    restarts: sample.restarts,
    ...latencySums(view),
  };
}

export function watchEngine(
  poller: EnginePoller,
  origin: MonotonicInstant,
  { clock, record }: { readonly clock: Clock; readonly record: (record: EngineRecord) => void },
): EngineWatch {
  let newest: EngineSample | null = null;
  let timer: Timer | null = null;

  const look = (): void => {
    const from = newest?.at ?? origin;
    for (const sample of poller.samplesBetween(from, clock.monotonic())) {
      if (newest !== null && sample.at <= newest.at) continue;
      newest = sample;
      record(toRecord(sample, poller.view(), origin));
    }
  };
  const arm = (): void => {
    timer = clock.setTimer(LOOK_SECONDS, () => {
      look();
      arm();
    });
  };

  poller.start();
  arm();
  return {
    latest: () => newest,
    view: () => poller.view(),
    async mark() {
      await poller.pollNow();
      look();
    },
    async close() {
      timer?.cancel();
      look();
      await poller.close();
    },
  };
}

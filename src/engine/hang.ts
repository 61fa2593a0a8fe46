import { elapsed, type MonotonicInstant, type Seconds } from '../units.ts';
import { keyText } from './join.ts';
import type { NormalizedPage, PageSeries } from './normalize.ts';

export interface HangOptions {
  /** Busy and without progress for this long: the engine hangs. */
  readonly hangAfterSeconds: Seconds;
  /** Progress a second that health checks alone may make; 0 where they make none. */
  readonly healthTokensPerSecond: number;
}

/** What one good poll says of the engine's work. */
export interface WorkReading {
  readonly at: MonotonicInstant;
  /** Requests run or wait. */
  readonly busy: boolean;
  /** A number that moves while the engine works; null when the page has none, and then there is no verdict. */
  readonly progress: number | null;
}

export interface HangDetector {
  /** Takes a reading and gives the verdict after it. */
  observe(reading: WorkReading): boolean;
  /** Forgets everything: the engine restarted or sleeps. */
  reset(): void;
}

const MAX_READINGS = 1_000;

/**
 * Requests run or wait while nothing is produced. The verdict needs the counters: a stopped engine process leaves a
 * server behind that answers `/health` and `/metrics` at once with the last numbers. Once hung, a handful of tokens from
 * health checks does not clear the verdict, since they can run beside requests that stand still.
 */
export function createHangDetector(options: HangOptions): HangDetector {
  let readings: WorkReading[] = [];
  const allowance = options.healthTokensPerSecond * options.hangAfterSeconds;

  const forget = (): void => {
    readings = [];
  };

  /** The newest reading that is at least the whole span older than `at`, and everything after it. */
  const prune = (at: MonotonicInstant): void => {
    while (readings.length > 2) {
      const second = readings[1];
      if (second === undefined) return;
      const old = elapsed(second.at, at) >= options.hangAfterSeconds;
      if (!old && readings.length <= MAX_READINGS) return;
      readings.shift();
    }
  };

  return {
    observe(reading) {
      if (!reading.busy || reading.progress === null) {
        forget();
        return false;
      }
      readings.push(reading);
      prune(reading.at);
      const oldest = readings[0] ?? reading;
      if (elapsed(oldest.at, reading.at) < options.hangAfterSeconds) return false;
      // A counter that fell belongs to another process; that is a restart, not a hang.
      const moved = Math.abs(reading.progress - (oldest.progress ?? reading.progress));
      return moved <= allowance;
    },
    reset: forget,
  };
}

/** The verdict over a whole page: each rank by itself, because one that stands still is not helped by the others. */
export interface HangWatch {
  observe(at: MonotonicInstant, page: NormalizedPage): boolean;
  reset(): void;
}

const isBusy = ({ gauges }: PageSeries): boolean =>
  (gauges.requests_running ?? 0) > 0 || (gauges.requests_waiting ?? 0) > 0;

export function createHangWatch(options: HangOptions): HangWatch {
  let detectors = new Map<string, HangDetector>();
  return {
    observe(at, page) {
      const now = new Map<string, HangDetector>();
      let hung = false;
      for (const series of page.series) {
        const key = keyText(series);
        const detector = detectors.get(key) ?? createHangDetector(options);
        now.set(key, detector);
        const progress = series.progress ?? page.progress;
        hung = detector.observe({ at, busy: isBusy(series) && !series.asleep && !page.asleep, progress }) || hung;
      }
      detectors = now;
      return hung;
    },
    reset: () => {
      detectors = new Map();
    },
  };
}

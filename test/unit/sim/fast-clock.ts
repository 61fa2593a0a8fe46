import type { Clock } from '../../../src/clock.ts';
import { monotonicInstant, unixTime } from '../../../src/units.ts';

interface Pending {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

export interface FastClock extends Clock {
  /** Runs every timer due within `span` seconds, at its own instant, without giving the event loop a turn. */
  run(span: number): void;
  /** Runs timers until none is left, or throws when `limit` seconds were not enough. */
  runOut(limit?: number): void;
  pendingTimers(): number;
}

/**
 * As `manualClock`, but synchronous: the engine's core has no promises, and half an hour of its time should take a
 * second of ours. Timers are kept sorted by due time, then by arming.
 */
export function fastClock(startMonotonic = 100, startUnix = 1_767_225_600): FastClock {
  let now = startMonotonic;
  let order = 0;
  let pending: Pending[] = [];

  const place = (due: number): number => {
    let low = 0;
    let high = pending.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pending[middle]?.due ?? 0) <= due) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const run = (span: number): void => {
    const end = now + span;
    for (let first = pending[0]; first !== undefined && first.due <= end + 1e-9; first = pending[0]) {
      pending.shift();
      if (first.cancelled) continue;
      now = Math.max(now, first.due);
      first.callback();
    }
    now = Math.max(now, end);
  };

  const live = (): number => {
    pending = pending.filter((timer) => !timer.cancelled);
    return pending.length;
  };

  return {
    monotonic: () => monotonicInstant(now),
    unix: () => unixTime(now - startMonotonic + startUnix),
    setTimer(delay, callback) {
      order += 1;
      const timer: Pending = { due: now + Math.max(0, delay), order, callback, cancelled: false };
      pending.splice(place(timer.due), 0, timer);
      return {
        cancel: () => {
          timer.cancelled = true;
        },
      };
    },
    run,
    runOut(limit = 3600) {
      const end = now + limit;
      while (live() > 0) {
        if (now >= end) throw new Error(`timers are still pending after ${limit} s`);
        run(Math.max(0, (pending[0]?.due ?? now) - now));
      }
    },
    pendingTimers: live,
  };
}

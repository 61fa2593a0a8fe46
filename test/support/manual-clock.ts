import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/clock.ts';
import { type MonotonicInstant, monotonicInstant, type Seconds, type UnixTime, unixTime } from '../../src/units.ts';

export interface ManualClock extends Clock {
  /**
   * Moves time forward by `seconds`, running each timer that falls due at its own instant, in order of due time (then
   * of arming). Whatever a timer sets off - promises, nested timers inside the span - has settled before the next one.
   */
  advance(seconds: number): Promise<void>;
  /** Steps the wall clock alone, as NTP does. */
  stepWallClock(seconds: number): void;
  /** Timers that are armed and not yet run: 0 proves that nothing was left behind. */
  pendingTimers(): number;
}

interface Pending {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
}

// Timers meet at sums of decimal fractions; without a tolerance 0.1 + 0.2 would miss 0.3.
const TOLERANCE = 1e-9;

// One turn of the event loop empties all promise chains; the others are for code that itself yields a turn.
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
}

/** A clock that stands still until told to move. Starts at `startMonotonic` (100 s) and `startUnix` (2026-01-01). */
export function manualClock(startMonotonic = 100, startUnix = 1_767_225_600): ManualClock {
  let nowSeconds = startMonotonic;
  let wallOffset = startUnix - startMonotonic;
  let order = 0;
  const pending = new Set<Pending>();

  const nextDue = (limit: number): Pending | undefined => {
    let first: Pending | undefined;
    for (const timer of pending) {
      if (timer.due > limit + TOLERANCE) continue;
      if (first === undefined || timer.due < first.due || (timer.due === first.due && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  };

  return {
    monotonic: (): MonotonicInstant => monotonicInstant(nowSeconds),
    unix: (): UnixTime => unixTime(nowSeconds + wallOffset),
    setTimer(delay: Seconds, callback: () => void) {
      order += 1;
      const timer: Pending = { due: nowSeconds + Math.max(0, delay), order, callback };
      pending.add(timer);
      return { cancel: () => void pending.delete(timer) };
    },
    async advance(seconds: number): Promise<void> {
      const end = nowSeconds + seconds;
      await settle();
      for (let timer = nextDue(end); timer !== undefined; timer = nextDue(end)) {
        pending.delete(timer);
        nowSeconds = Math.max(nowSeconds, timer.due);
        timer.callback();
        await settle();
      }
      nowSeconds = Math.max(nowSeconds, end);
    },
    stepWallClock: (seconds: number) => {
      wallOffset += seconds;
    },
    pendingTimers: () => pending.size,
  };
}

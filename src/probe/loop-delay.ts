import type { Clock, Timer } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';

/** One probe's view of the event loop, from `open` to `close`. */
interface LoopDelayWindow {
  /** Ends the window: the longest time for which the loop could not run while it was open. Call it once. */
  close(): Seconds;
}

/**
 * Measures how late our own event loop is while probes are in flight; idle otherwise. A process that was stopped
 * (SIGSTOP, a frozen cgroup) shows as one long delay. Shared by any number of concurrent probes.
 */
export interface LoopDelayMonitor {
  open(): LoopDelayWindow;
}

// A block shorter than this can go unseen by that much: half of the smallest bound that makes a sample suspect (20 ms).
// Node's own histogram costs the same at this resolution, and reports the interval itself as delay.
const INTERVAL_SECONDS = seconds(0.01);

/** What an open window has seen so far. */
interface Seen {
  readonly openedAt: MonotonicInstant;
  longest: number;
}

export function createLoopDelayMonitor(clock: Clock): LoopDelayMonitor {
  const windows = new Set<Seen>();
  let due = clock.monotonic();
  let timer: Timer | null = null;

  const note = (window: Seen, now: MonotonicInstant): void => {
    // A window that opened after the tick fell due has seen only the rest of the delay.
    window.longest = Math.max(window.longest, Math.min(elapsed(due, now), elapsed(window.openedAt, now)));
  };
  const arm = (): void => {
    due = after(clock.monotonic(), INTERVAL_SECONDS);
    timer = clock.setTimer(INTERVAL_SECONDS, () => {
      const now = clock.monotonic();
      for (const window of windows) note(window, now);
      arm();
    });
  };

  return {
    open() {
      const window: Seen = { openedAt: clock.monotonic(), longest: 0 };
      windows.add(window);
      if (timer === null) arm();
      return {
        close() {
          // The others see this delay, and what comes on top of it, at the tick or at their own end.
          note(window, clock.monotonic());
          windows.delete(window);
          if (windows.size === 0) {
            timer?.cancel();
            timer = null;
          }
          return seconds(window.longest);
        },
      };
    },
  };
}

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

export function createLoopDelayMonitor(clock: Clock): LoopDelayMonitor {
  const windows = new Set<{ openedAt: MonotonicInstant; longest: number }>();
  let due = clock.monotonic();
  let timer: Timer | null = null;

  const note = (now: MonotonicInstant): void => {
    const late = elapsed(due, now);
    // A window that opened after the tick fell due has seen only the rest of the delay.
    for (const window of windows)
      window.longest = Math.max(window.longest, Math.min(late, elapsed(window.openedAt, now)));
  };
  const arm = (): void => {
    due = after(clock.monotonic(), INTERVAL_SECONDS);
    timer = clock.setTimer(INTERVAL_SECONDS, () => {
      note(clock.monotonic());
      arm();
    });
  };

  return {
    open() {
      const window = { openedAt: clock.monotonic(), longest: 0 };
      windows.add(window);
      if (timer === null) arm();
      return {
        close() {
          note(clock.monotonic());
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

import { performance } from 'node:perf_hooks';
import { type MonotonicInstant, monotonicInstant, type Seconds, type UnixTime, unixTime } from './units.ts';

/** A timer that was set; `cancel` is safe to call at any time and any number of times. */
export interface Timer {
  cancel(): void;
}

/**
 * The only way to know or to wait for time. Tests and the simulator put their own in.
 */
export interface Clock {
  /** CLOCK_MONOTONIC: never steps; the only source of durations. */
  monotonic(): MonotonicInstant;
  /** The wall clock: steps with NTP; for timestamps in records only. */
  unix(): UnixTime;
  /** Calls `callback` once, `delay` from now (at once when not positive). Keeps the process alive. */
  setTimer(delay: Seconds, callback: () => void): Timer;
}

// Node's timers hold at most 2^31-1 ms; a longer wait is cut into pieces.
const LONGEST_TIMER_MS = 2_147_483_647;

function setTimer(delayMs: number, callback: () => void): Timer {
  if (delayMs > LONGEST_TIMER_MS) return setLongTimer(delayMs, callback);
  const handle = setTimeout(callback, Math.max(delayMs, 0));
  return { cancel: () => clearTimeout(handle) };
}

function setLongTimer(delayMs: number, callback: () => void): Timer {
  let handle: NodeJS.Timeout;
  const arm = (remainingMs: number): void => {
    const stepMs = Math.min(Math.max(remainingMs, 0), LONGEST_TIMER_MS);
    handle = setTimeout(() => (remainingMs > stepMs ? arm(remainingMs - stepMs) : callback()), stepMs);
  };
  arm(delayMs);
  return { cancel: () => clearTimeout(handle) };
}

/** The machine's clock. */
export function systemClock(): Clock {
  return {
    monotonic: () => monotonicInstant(performance.now() / 1000),
    unix: () => unixTime(Date.now() / 1000),
    setTimer: (delay, callback) => setTimer(delay * 1000, callback),
  };
}

/**
 * Waits `delay`. Resolves early, without an error, when `signal` aborts; leaves neither timer nor listener behind.
 */
export function sleep(clock: Clock, delay: Seconds, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimer(delay, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

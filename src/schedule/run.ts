import type { Clock } from '../clock.ts';
import type { MonotonicInstant, Seconds } from '../units.ts';

/** How a run ended. `abandoned`: it did not, and is waited for no longer. */
type RunEnd =
  | { readonly kind: 'done' }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'abandoned' };

/** A run in flight. `ended` resolves for certain, and never rejects. */
export interface Run {
  readonly name: string;
  readonly beganAt: MonotonicInstant;
  readonly ended: Promise<RunEnd>;
  /** Aborts the run's signal, and abandons it when it has not ended within `grace`. */
  stop(grace: Seconds): void;
}

export interface RunOptions {
  readonly name: string;
  /** A run that has not ended by then is aborted and abandoned: its slot is free again, whatever it does. */
  readonly hardDeadlineSeconds: Seconds;
}

/**
 * Starts `work`. Its signal is its own: one that all runs share would collect listeners for as long as the process
 * lives.
 */
export function startRun(options: RunOptions, clock: Clock, work: (signal: AbortSignal) => Promise<void>): Run {
  const controller = new AbortController();
  let finish: (end: RunEnd) => void = () => {};
  const ended = new Promise<RunEnd>((resolve) => {
    finish = resolve;
  });
  const abandon = (): void => {
    controller.abort();
    finish({ kind: 'abandoned' });
  };
  let timer = clock.setTimer(options.hardDeadlineSeconds, abandon);
  const settle = (end: RunEnd): void => {
    timer.cancel();
    finish(end);
  };
  const beganAt = clock.monotonic();
  // Through a promise, so that work that throws before its first await is a run that ended and not a broken loop.
  Promise.resolve(controller.signal)
    .then(work)
    .then(
      () => settle({ kind: 'done' }),
      (error: unknown) => settle({ kind: 'threw', error }),
    );
  return {
    name: options.name,
    beganAt,
    ended,
    stop(grace) {
      controller.abort();
      timer.cancel();
      timer = clock.setTimer(grace, abandon);
    },
  };
}

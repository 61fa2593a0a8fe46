import type { Clock } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';

/**
 * What the end of a probe means for the next ones.
 * - `good`: none of the below; whatever was held back is released.
 * - `refused`: the endpoint is there and has no room (429, 503).
 * - `timed_out`: we hung up on a generation, which some engines go on with to its last token.
 * - `other`: a failure that says nothing about load.
 */
export type ProbeEnd = 'good' | 'refused' | 'timed_out' | 'other';

export interface BackoffOptions {
  /** No wait is longer, whatever the endpoint asks for. */
  readonly longestSeconds: Seconds;
  /** How long a generation that we hung up on may go on. */
  readonly orphanSeconds: Seconds;
  /** So many of those at the same time. */
  readonly maxOrphans: number;
}

export const BACKOFF_DEFAULTS: BackoffOptions = {
  longestSeconds: seconds(300),
  orphanSeconds: seconds(60),
  maxOrphans: 2,
};

/** Keeps probes away from an endpoint that has asked for it or is drowning. Only ever takes ticks away. */
export interface Backoff {
  /** Seconds until probes may go on; null when they may. */
  holdOff(): Seconds | null;
  /** @param retryAfter what the endpoint asked for; unusable values count as nothing */
  probeEnded(end: ProbeEnd, interval: Seconds, retryAfter: Seconds | null): void;
}

/**
 * The back-off of one target: after a refusal for as long as the endpoint asks, else - and after each timeout - for
 * twice the interval, doubling while it goes on, up to the cap. As many orphaned generations as `maxOrphans` are
 * assumed to run on for `orphanSeconds`; until the oldest is over, no further probe can add one.
 */
export function createBackoff(deps: { readonly clock: Clock }, options: BackoffOptions = BACKOFF_DEFAULTS): Backoff {
  const { clock } = deps;
  let until: MonotonicInstant | null = null;
  let inRow = 0;
  let orphansEnd: readonly MonotonicInstant[] = [];

  const clamp = (wait: number): Seconds =>
    seconds(Math.min(Number.isFinite(wait) ? Math.max(0, wait) : 0, options.longestSeconds));

  const holdUntil = (instant: MonotonicInstant): void => {
    if (until === null || instant > until) until = instant;
  };

  const addOrphan = (now: MonotonicInstant): void => {
    orphansEnd = [...orphansEnd.filter((end) => end > now), after(now, options.orphanSeconds)];
    const oldestAllowed = orphansEnd.at(-options.maxOrphans);
    if (orphansEnd.length >= options.maxOrphans && oldestAllowed !== undefined) holdUntil(oldestAllowed);
  };

  return {
    holdOff() {
      if (until === null) return null;
      const left = elapsed(clock.monotonic(), until);
      return left > 0 ? left : null;
    },
    probeEnded(end, interval, retryAfter) {
      if (end === 'good' || end === 'other') {
        until = null;
        inRow = 0;
        return;
      }
      const now = clock.monotonic();
      inRow += 1;
      const doubling = clamp(interval * 2 ** inRow);
      const asked = end === 'refused' ? retryAfter : null;
      holdUntil(after(now, asked === null ? doubling : clamp(asked)));
      if (end === 'timed_out') addOrphan(now);
    },
  };
}

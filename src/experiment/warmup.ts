import { median } from './statistics.ts';
import type { Arrival } from './types.ts';

/**
 * When the warm-up is over.
 *
 * Requests are taken in groups, in the order in which they were sent; a group is as many as are in flight together, at
 * least 4 and at most 64. The TTFT is steady when the medians of the last two groups differ by no more than 10 % of the
 * earlier one (or 2 ms, which a fast engine's TTFT jitters by). The first group never counts: it met a cold engine and
 * arrived in a burst. A TTFT that never gets steady, as under an open loop beyond what the engine serves, ends the
 * warm-up at its longest.
 */
const STEADY_RATIO = 0.1;
const STEADY_SECONDS = 0.002;
const LEAST_GROUP = 4;
const LARGEST_GROUP = 64;
/** An open loop has about this many seconds of arrivals in a group. */
const OPEN_SECONDS = 2;

export function groupSize(arrival: Arrival): number {
  const together = arrival.kind === 'closed' ? arrival.concurrency : arrival.ratePerSecond * OPEN_SECONDS;
  return Math.min(LARGEST_GROUP, Math.max(LEAST_GROUP, Math.round(together)));
}

/** `samples`: when each good request of the warm-up was sent and its TTFT, in any order. */
export function isSteady(
  samples: readonly (readonly [sentAtSeconds: number, ttftSeconds: number, ...rest: number[]])[],
  group: number,
): boolean {
  if (samples.length < 3 * group) return false;
  const values = [...samples].sort(([a], [b]) => a - b).map(([, ttft]) => ttft);
  const last = median(values.slice(-group));
  const before = median(values.slice(-2 * group, -group));
  if (last === null || before === null) return false;
  return Math.abs(last - before) <= Math.max(STEADY_RATIO * before, STEADY_SECONDS);
}

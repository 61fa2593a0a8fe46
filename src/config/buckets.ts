import type { BucketSettings } from './types.ts';

// Two bounds nearer than this are one: the second would never hold a sample.
const SAME_BOUND_RATIO = 1e-6;

/**
 * The bounds of a histogram with every edge that a question will be asked of put in: a ratio of good probes is exact
 * only when the SLO threshold is itself an edge, and a query for a missing `le` answers nothing.
 * Ascending, without repeats; not-positive and infinite edges are passed over.
 */
export function mergeBounds(bounds: readonly number[], edges: readonly number[]): readonly number[] {
  const sorted = [...bounds, ...edges].filter((bound) => Number.isFinite(bound) && bound > 0).sort((a, b) => a - b);
  const merged: number[] = [];
  for (const bound of sorted) {
    const last = merged.at(-1);
    if (last === undefined || bound - last > last * SAME_BOUND_RATIO) merged.push(bound);
  }
  return merged;
}

/** What the bounds must hold besides what was configured. */
export interface NeededEdges {
  readonly ttftThresholdsSeconds: readonly number[];
  readonly tpotThresholdsSeconds: readonly number[];
  readonly firstTokenDeadlinesSeconds: readonly number[];
  readonly totalDeadlinesSeconds: readonly number[];
}

/** A deadline becomes an edge only past the last bound, where a censored value would else be lost in +Inf. */
const beyond = (bounds: readonly number[], deadlines: readonly number[]): readonly number[] => {
  const last = bounds.at(-1) ?? 0;
  const longest = Math.max(0, ...deadlines);
  return longest > last ? [longest] : [];
};

/** Puts thresholds, and deadlines past the end, into the configured bounds. */
export function withNeededEdges(buckets: BucketSettings, needed: NeededEdges): BucketSettings {
  return {
    ttftSeconds: mergeBounds(buckets.ttftSeconds, [
      ...needed.ttftThresholdsSeconds,
      ...beyond(buckets.ttftSeconds, needed.firstTokenDeadlinesSeconds),
    ]),
    tpotSeconds: mergeBounds(buckets.tpotSeconds, needed.tpotThresholdsSeconds),
    gapSeconds: mergeBounds(buckets.gapSeconds, []),
    durationSeconds: mergeBounds(
      buckets.durationSeconds,
      beyond(buckets.durationSeconds, needed.totalDeadlinesSeconds),
    ),
  };
}

import type { BucketSettings } from '../config/types.ts';
import type { BoundsSource } from './definition.ts';

// Two bounds nearer than this are one: nothing would ever fall between them.
const SAME_BOUND_RATIO = 1e-6;

/**
 * Bounds of a histogram: ascending, without repeats, with every `edge` among them (a ratio of good probes is exact only
 * where the threshold is a bound) and reaching to `reach`, so that a value at a deadline is not lost in +Inf.
 */
export function boundsWith(bounds: readonly number[], edges: readonly number[], reach: number): readonly number[] {
  const sorted = [...bounds, ...edges].filter((bound) => Number.isFinite(bound) && bound > 0).sort((a, b) => a - b);
  const result: number[] = [];
  for (const bound of sorted) {
    const last = result.at(-1);
    if (last === undefined || bound - last > last * SAME_BOUND_RATIO) result.push(bound);
  }
  const top = result.at(-1) ?? 0;
  if (Number.isFinite(reach) && reach > top) result.push(reach);
  return result;
}

/** The list that a family's definition names. */
export function boundsOf(source: BoundsSource | undefined, buckets: BucketSettings): readonly number[] {
  if (source === undefined) return [];
  return typeof source === 'string' ? buckets[source] : source;
}

/**
 * Worst relative error of `histogram_quantile` inside [low, high]: it interpolates within one bucket, so it is off by
 * at most the bucket's width, relative to its lower bound. Infinite when nothing bounds the range from below.
 */
export function worstInterpolationError(bounds: readonly number[], low: number, high: number): number {
  let worst = 0;
  for (const [index, upper] of bounds.entries()) {
    const lower = bounds[index - 1] ?? 0;
    if (upper <= low || lower >= high) continue;
    worst = Math.max(worst, upper / lower - 1);
  }
  return worst;
}

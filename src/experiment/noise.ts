import { mean, studentT95, variance } from './statistics.ts';

/** What the repeats say of a difference between two sets of runs. */
export interface Difference {
  /** `after` by `before`, less 1. */
  readonly ratio: number;
  /** 95 % interval of the ratio; null when no set has two repeats. */
  readonly low: number | null;
  readonly high: number | null;
  /** The interval does not contain 0. Null when nothing is known of the noise. */
  readonly beyondNoise: boolean | null;
}

/**
 * The difference of two means with the noise of both sets pooled (two-sample t). Relative to the mean of `before`,
 * whose own error is small against it in any set of runs that is worth comparing.
 */
export function differenceOf(before: readonly number[], after: readonly number[]): Difference | null {
  const [from, to] = [mean(before), mean(after)];
  if (from === null || to === null || from === 0) return null;
  const ratio = to / from - 1;
  const degrees = before.length + after.length - 2;
  if (degrees < 1) return { ratio, low: null, high: null, beyondNoise: null };
  const squares = (variance(before) ?? 0) * (before.length - 1) + (variance(after) ?? 0) * (after.length - 1);
  const error = Math.sqrt((squares / degrees) * (1 / before.length + 1 / after.length));
  const width = (studentT95(degrees) * error) / Math.abs(from);
  return { ratio, low: ratio - width, high: ratio + width, beyondNoise: Math.abs(ratio) > width };
}

/** A ratio less 1 as a signed percentage. */
export const change = (ratio: number): string => `${ratio >= 0 ? '+' : '−'}${Math.abs(ratio * 100).toFixed(1)} %`;

/** A difference in words: how much, and whether the noise of the repeats allows to say so. */
export function differenceInWords(difference: Difference | null): string {
  if (difference === null) return 'unknown';
  if (difference.beyondNoise === null) return `${change(difference.ratio)} (one repeat: noise unknown)`;
  const interval = `${change(difference.low ?? 0)} to ${change(difference.high ?? 0)}`;
  return difference.beyondNoise
    ? `${change(difference.ratio)} (${interval})`
    : `within the noise (${change(difference.ratio)}; ${interval})`;
}

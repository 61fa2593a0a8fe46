/**
 * Statistics of latency samples. Quantiles are order statistics (no interpolation, no assumption on the distribution),
 * and their intervals come from the binomial distribution of how many samples lie below the true quantile.
 */

/** A quantile with its 95 % interval. `high` is null where the sample is too small to bound the quantile from above. */
export interface QuantileEstimate {
  readonly quantile: number;
  /** Null for fewer samples than `minimumSamples(quantile)`; Infinity when the quantile falls among censored values. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly samples: number;
}

/** Below this many samples the quantile would only be the largest value: 20 for p95, 100 for p99. */
export const minimumSamples = (quantile: number): number => Math.round(1 / (1 - quantile));

const CONFIDENCE = 0.95;

/** ln(n!) by Stirling's series; exact to 1e-10 from 10 on, summed directly below. */
function logFactorial(n: number): number {
  if (n < 10) {
    let sum = 0;
    for (let i = 2; i <= n; i += 1) sum += Math.log(i);
    return sum;
  }
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + 1 / (12 * n) - 1 / (360 * n ** 3);
}

function binomialProbability(n: number, k: number, p: number): number {
  return Math.exp(logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(p) + (n - k) * Math.log1p(-p));
}

/** 1-based ranks whose order statistics enclose the quantile with at least 95 % confidence; null where none exists. */
export function quantileRanks(
  n: number,
  quantile: number,
): { readonly low: number | null; readonly high: number | null } {
  const tail = (1 - CONFIDENCE) / 2;
  let below = 0;
  let low: number | null = null;
  let high: number | null = null;
  // P(the k-th order statistic <= quantile) = P(at least k samples below it).
  for (let k = 0; k <= n; k += 1) {
    below += binomialProbability(n, k, quantile);
    if (below <= tail) low = k + 1;
    if (high === null && below >= 1 - tail && k + 1 <= n) high = k + 1;
  }
  return { low: low !== null && low >= 1 ? low : null, high };
}

/** `sorted` ascending; `censored` further samples are known only to be larger than all of them. */
export function estimateQuantile(sorted: readonly number[], quantile: number, censored = 0): QuantileEstimate {
  const samples = sorted.length + censored;
  if (samples < minimumSamples(quantile)) return { quantile, value: null, low: null, high: null, samples };
  const at = (rank: number): number => sorted[rank - 1] ?? Number.POSITIVE_INFINITY;
  const ranks = quantileRanks(samples, quantile);
  return {
    quantile,
    value: at(Math.max(1, Math.ceil(quantile * samples))),
    low: ranks.low === null ? null : at(ranks.low),
    high: ranks.high === null ? null : at(ranks.high),
    samples,
  };
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Variance of the sample (n - 1); null for fewer than two values. */
export function variance(values: readonly number[]): number | null {
  const centre = mean(values);
  if (centre === null || values.length < 2) return null;
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)];
  if (upper === undefined) return null;
  const lower = sorted[Math.ceil(middle) - 1] ?? upper;
  return (lower + upper) / 2;
}

/** Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom; the normal value beyond. */
const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

export const studentT95 = (degreesOfFreedom: number): number =>
  degreesOfFreedom < 1 ? Number.POSITIVE_INFINITY : (T_95[degreesOfFreedom - 1] ?? 1.96);

export interface Interval {
  readonly centre: number;
  readonly low: number;
  readonly high: number;
}

/** 95 % interval of a proportion (Wilson): stays within 0 and 1 and is honest for 0 of n. Null without events. */
export function proportionInterval(good: number, total: number): Interval | null {
  if (total === 0) return null;
  const z = 1.96;
  const share = good / total;
  const scale = 1 + z ** 2 / total;
  const middle = (share + z ** 2 / (2 * total)) / scale;
  const half = (z / scale) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  return { centre: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** Spread of repeats relative to their median: (max - min) / median. Null for fewer than two or a median of 0. */
export function repeatSpread(values: readonly number[]): number | null {
  const centre = median(values);
  if (values.length < 2 || centre === null || centre === 0) return null;
  return (Math.max(...values) - Math.min(...values)) / Math.abs(centre);
}

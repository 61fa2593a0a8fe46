import { change } from './noise.ts';
import { mean, studentT95, variance } from './statistics.ts';

/** One cell of a comparison: which switches are on, and the value of each repeat. */
export interface Cell {
  readonly switches: Readonly<Record<string, boolean>>;
  readonly values: readonly number[];
}

/**
 * How much a switch changes the value, relative to the mean of the cells without it; an interaction of two, relative to
 * the mean of all cells.
 */
export interface Effect {
  readonly name: string;
  readonly ratio: number;
  /** 95 % interval; null with fewer than two repeats, when nothing is known of the noise. */
  readonly low: number | null;
  readonly high: number | null;
  /** The interval does not contain 0. Null when there is no interval. */
  readonly significant: boolean | null;
}

const sign = (cell: Cell, names: readonly string[]): number =>
  names.reduce((product, name) => product * (cell.switches[name] ? 1 : -1), 1);

/** Noise within the cells, pooled: the only part of the spread that no switch explains. */
function pooledVariance(cells: readonly Cell[]): { readonly variance: number; readonly degrees: number } | null {
  let sum = 0;
  let degrees = 0;
  for (const cell of cells) {
    const own = variance(cell.values);
    if (own === null) continue;
    sum += own * (cell.values.length - 1);
    degrees += cell.values.length - 1;
  }
  return degrees === 0 ? null : { variance: sum / degrees, degrees };
}

function effectOf(names: readonly string[], cells: readonly Cell[]): Effect | null {
  const means = cells.map((cell) => ({ sign: sign(cell, names), mean: mean(cell.values), n: cell.values.length }));
  const grand = mean(means.flatMap((cell) => (cell.mean === null ? [] : [cell.mean])));
  const without = mean(means.flatMap((cell) => (cell.sign < 0 && cell.mean !== null ? [cell.mean] : [])));
  const base = names.length === 1 ? without : grand;
  if (base === null || base === 0 || means.some((cell) => cell.mean === null)) return null;
  const half = cells.length / 2;
  const difference = means.reduce((sum, cell) => sum + cell.sign * (cell.mean ?? 0), 0) / half;
  const noise = pooledVariance(cells);
  const error = noise === null ? null : Math.sqrt(means.reduce((sum, cell) => sum + noise.variance / cell.n, 0)) / half;
  const width = error === null || noise === null ? null : studentT95(noise.degrees) * error;
  return {
    name: names.join(' x '),
    ratio: difference / base,
    low: width === null ? null : (difference - width) / base,
    high: width === null ? null : (difference + width) / base,
    significant: width === null ? null : Math.abs(difference) > width,
  };
}

/**
 * Main effects and two-way interactions of a full factorial (every combination of the switches is a cell). The effect of
 * a switch is the mean of the cells with it minus the mean of those without.
 */
export function effects(cells: readonly Cell[]): Effect[] {
  const names = Object.keys(cells[0]?.switches ?? {});
  const pairs = names.flatMap((a, index) => names.slice(index + 1).map((b) => [a, b]));
  return [...names.map((name) => [name]), ...pairs].flatMap((group) => effectOf(group, cells) ?? []);
}

/** One effect in words, with its interval. */
export function effectInWords(effect: Effect, quantity: string): string {
  const interval =
    effect.low === null || effect.high === null
      ? ''
      : ` (95 % interval ${change(effect.low)} to ${change(effect.high)})`;
  if (effect.significant === null)
    return `${effect.name}: ${change(effect.ratio)} ${quantity}; one repeat says nothing of the noise`;
  if (!effect.significant) return `${effect.name}: no difference in ${quantity} beyond the noise${interval}`;
  return `${effect.name}: ${change(effect.ratio)} ${quantity}${interval}`;
}

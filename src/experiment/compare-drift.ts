import { mean, studentT95, variance } from './statistics.ts';

/** All set-ups alike were slower in one repeat than in another: not the set-ups changed, but what they ran on. */
export interface Drift {
  /** Repeats, counted from 1. */
  readonly slower: number;
  readonly faster: number;
  /** By how much of a set-up's mean, on average over the set-ups. */
  readonly ratio: number;
}

/** With fewer set-ups the same order of their repeats is too often chance. */
const LEAST_SETUPS = 4;
/** Less than this spoils no repeatability of 5 %. */
const LEAST_RATIO = 0.025;
/** The two repeats are the farthest apart of all, so a plain interval would find a drift too often. */
const STRICTER = 1.5;

/** For each set-up, how much faster it was in one repeat than in another, by its mean. */
function differences(setups: readonly (readonly number[])[], from: number, to: number): number[] {
  return setups.flatMap((values) => {
    const [before, after, centre] = [values[from], values[to], mean(values)];
    return before === undefined || after === undefined || centre === null || centre <= 0
      ? []
      : [(after - before) / centre];
  });
}

/**
 * @param setups of each set-up the throughput of its repeats, in order; every set-up with as many
 * @returns null when the repeats of the set-ups do not go together, or are too few to tell
 */
export function driftOf(setups: readonly (readonly number[])[]): Drift | null {
  const repeats = setups[0]?.length ?? 0;
  let farthest: Drift & { readonly each: readonly number[] } = { slower: 0, faster: 0, ratio: 0, each: [] };
  for (let from = 0; from < repeats; from += 1) {
    for (let to = 0; to < repeats; to += 1) {
      const each = differences(setups, from, to);
      const ratio = mean(each) ?? 0;
      if (ratio > farthest.ratio) farthest = { slower: from + 1, faster: to + 1, ratio, each };
    }
  }
  const { each, ...drift } = farthest;
  const spread = variance(each);
  if (each.length < LEAST_SETUPS || drift.ratio < LEAST_RATIO || spread === null) return null;
  const width = studentT95(each.length - 1) * Math.sqrt(spread / each.length);
  return drift.ratio > STRICTER * width ? drift : null;
}

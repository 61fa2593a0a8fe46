/** Edit distance with swaps of neighbours counted as one, given up past `limit`. */
function distance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[to.length] ?? limit + 1;
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '');

/** The candidate that a mistyped word most likely means; null when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const spelled = plain(word).slice(0, 64);
  // Of a word of one or two letters every other one would be near.
  const limit = spelled.length < 3 ? 0 : Math.max(1, Math.floor(spelled.length / 3));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const found = distance(spelled, plain(candidate), limit);
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

import type { Dialect } from './dialects/dialect.ts';
import { parseValue, type Sample } from './exposition-line.ts';
import { joinSamples, keyText, type SeriesKey } from './join.ts';
import type { EngineHistogram } from './types.ts';

interface Family {
  readonly buckets: readonly Sample[];
  readonly sums: readonly Sample[];
  readonly counts: readonly Sample[];
}

export interface KeyedHistogram {
  readonly key: SeriesKey;
  readonly histogram: EngineHistogram;
}

const MAX_BOUNDS = 200;

/** Buckets of each key by their upper bound. Replicas and parts are joined bound by bound. */
function bucketsByKey(buckets: readonly Sample[], dialect: Dialect): Map<string, Map<number, number>> {
  const byBound = new Map<string, Sample[]>();
  for (const sample of buckets) {
    const bound = sample.labels.get('le') ?? '';
    const group = byBound.get(bound);
    if (group !== undefined) group.push(sample);
    else if (byBound.size < MAX_BOUNDS) byBound.set(bound, [sample]);
  }
  const result = new Map<string, Map<number, number>>();
  for (const [text, samples] of byBound) {
    const bound = parseValue(text);
    if (bound === null || !Number.isFinite(bound)) continue;
    for (const { key, value } of joinSamples(samples, dialect, 'sum')) {
      const bounds = result.get(keyText(key)) ?? new Map<number, number>();
      bounds.set(bound, value);
      result.set(keyText(key), bounds);
    }
  }
  return result;
}

/** Reads a cumulative histogram per key; a family with holes or falling counts is left out. */
export function readHistogram(family: Family, dialect: Dialect, scale: number): readonly KeyedHistogram[] {
  const buckets = bucketsByKey(family.buckets, dialect);
  const sums = new Map(joinSamples(family.sums, dialect, 'sum').map(({ key, value }) => [keyText(key), value]));
  return joinSamples(family.counts, dialect, 'sum').flatMap(({ key, value: count }) => {
    const text = keyText(key);
    const entries = [...(buckets.get(text) ?? [])].sort(([a], [b]) => a - b);
    const counts = entries.map(([, value]) => value);
    const sum = sums.get(text);
    const rising = counts.every((value, index) => Number.isFinite(value) && value >= (counts[index - 1] ?? 0));
    if (sum === undefined || !Number.isFinite(sum) || !Number.isFinite(count) || !rising) return [];
    if ((counts.at(-1) ?? 0) > count) return [];
    const bounds = entries.map(([bound]) => bound * scale);
    return [{ key, histogram: { bounds, counts, count, sum: sum * scale } }];
  });
}

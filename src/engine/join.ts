import type { Dialect, LabelFilter } from './dialects/dialect.ts';
import type { Sample } from './exposition-line.ts';

/** A model on a rank: what one series of ours stands for. */
export interface SeriesKey {
  readonly model: string;
  readonly dpRank: string;
}

/** Samples of one key that are different parts of a quantity (streaming or not, by source...). */
type Parts = Map<string, number>;

export interface Joined {
  readonly key: SeriesKey;
  readonly value: number;
}

/** How the parts of a quantity make a whole: ratios by their highest, everything else by the sum. */
export type Join = 'sum' | 'max';

const SEPARATOR = '\u0000';

export const keyText = (key: SeriesKey): string => `${key.model}${SEPARATOR}${key.dpRank}`;

/** A label, or the first one present of several. */
type Label = string | readonly string[];

const labelValue = (sample: Sample, label: Label): string => {
  const names = typeof label === 'string' ? [label] : label;
  return names.map((name) => sample.labels.get(name) ?? '').find((value) => value !== '') ?? '';
};

const present = (sample: Sample, labels: readonly Label[]): string[] =>
  labels.map((label) => labelValue(sample, label)).filter((value) => value !== '');

/** The key of a sample. Engines that do not know their model write "undefined" or "None", which is no name. */
export function keyOf(sample: Sample, dialect: Dialect): SeriesKey {
  const model = present(sample, dialect.modelLabels)[0] ?? '';
  const isName = model !== 'undefined' && model !== 'None';
  return { model: isName ? model : '', dpRank: present(sample, dialect.rankLabels).join('/') };
}

export function matches(sample: Sample, filter: LabelFilter | undefined): boolean {
  if (filter === undefined) return true;
  return Object.entries(filter).every(([label, allowed]) => allowed.includes(sample.labels.get(label) ?? ''));
}

/** What is left of the label set once model, rank and replicas are taken away: which part of the quantity it is. */
function partOf(sample: Sample, takenAway: ReadonlySet<string>): string {
  return [...sample.labels]
    .filter(([name]) => !takenAway.has(name))
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(SEPARATOR);
}

/** True for the series of a sub-group that another series repeats within its total. */
export const isSubtotal = (sample: Sample, dialect: Dialect): boolean =>
  dialect.totalLabels.some((label) => (sample.labels.get(label) ?? '') !== '');

const combine = (values: Iterable<number>, join: Join): number => {
  let result = join === 'max' ? Number.NEGATIVE_INFINITY : 0;
  for (const value of values) result = join === 'max' ? Math.max(result, value) : result + value;
  return result;
};

/**
 * Joins the samples of one quantity to a value per model and rank. Replicas (tensor-parallel ranks, pids) repeat a part
 * and the highest of them counts; then the parts make the whole by `join`.
 */
export function joinSamples(samples: readonly Sample[], dialect: Dialect, join: Join): readonly Joined[] {
  const byKey = new Map<string, { readonly key: SeriesKey; readonly parts: Parts }>();
  const takenAway = new Set([...dialect.modelLabels, ...dialect.rankLabels.flat(), ...dialect.replicaLabels]);
  for (const sample of samples) {
    const key = keyOf(sample, dialect);
    const text = keyText(key);
    const entry = byKey.get(text) ?? { key, parts: new Map() };
    byKey.set(text, entry);
    const part = partOf(sample, takenAway);
    entry.parts.set(part, Math.max(entry.parts.get(part) ?? Number.NEGATIVE_INFINITY, sample.value));
  }
  return [...byKey.values()].map(({ key, parts }) => ({ key, value: combine(parts.values(), join) }));
}

import type { Dialect, LabelFilter, Source } from './dialects/dialect.ts';
import type { ExpositionPage } from './exposition.ts';
import type { Sample } from './exposition-line.ts';
import type { PageReader } from './identify.ts';
import { isSubtotal, type Join, type Joined, joinSamples, keyText, matches } from './join.ts';

/** A page looked at through a dialect: samples by their names without prefix, joined to values per model and rank. */
export interface PageSamples {
  readonly dialect: Dialect;
  /** The full name of a sample on this page. */
  full(name: string): string;
  /** Samples of a name; subtotals and samples stamped long ago left out. */
  of(name: string, where?: LabelFilter): readonly Sample[];
  /** The first source that is on the page. */
  find(sources: readonly Source[] | undefined): Source | null;
  /** A source's value per model and rank, in the role's unit. Values that are no measurement are left out and counted. */
  joined(source: Source, join: Join): readonly Joined[];
  /** Whether the page declares the type of one of these, even without a sample. */
  declares(sources: readonly { readonly name: string }[]): boolean;
  /** Counts a value that no engine can mean. */
  countOutOfRange(): void;
  outOfRange(): number;
}

// A page may stamp its samples; a stamp this old means a value that nobody refreshes any more.
const OLDEST_STAMP_SECONDS = 600;

// The name becomes a label, so that equal label sets of two names stay two parts of a sum.
const asPart = (sample: Sample): Sample => ({
  ...sample,
  labels: new Map([...sample.labels, ['__name__', sample.name]]),
});

const scaled = (sample: Sample, scale: number): Sample =>
  scale === 1 ? sample : { ...sample, value: sample.value * scale };

export function pageSamples(page: ExpositionPage, reader: PageReader, nowSeconds: number): PageSamples {
  const { dialect, prefix } = reader;
  const oldestMs = (nowSeconds - OLDEST_STAMP_SECONDS) * 1000;
  // Several roles may look at the same sample.
  const impossible = new Set<Sample>();
  let clamped = 0;

  const full = (name: string): string => `${prefix}${name}`;

  // Roles look for the same names again and again: first whether they are there, then what they say.
  const counting = new Map<string, readonly Sample[]>();
  const countingOf = (name: string): readonly Sample[] => {
    const known = counting.get(name);
    if (known !== undefined) return known;
    const found = (page.samples.get(full(name)) ?? []).filter(
      (sample) => !isSubtotal(sample, dialect) && (sample.timestampMs === null || sample.timestampMs >= oldestMs),
    );
    counting.set(name, found);
    return found;
  };

  const of = (name: string, where?: LabelFilter): readonly Sample[] =>
    where === undefined ? countingOf(name) : countingOf(name).filter((sample) => matches(sample, where));

  const isUsable = (sample: Sample): boolean => {
    const usable = Number.isFinite(sample.value) && sample.value >= 0;
    if (!usable) impossible.add(sample);
    return usable;
  };

  const isThere = (source: Source): boolean =>
    of(source.name, source.where).length > 0 && (source.unless === undefined || of(source.unless).length === 0);

  const divided = (whole: readonly Joined[], per: string, join: Join): readonly Joined[] => {
    const divisors = new Map(joinSamples(of(per), dialect, join).map(({ key, value }) => [keyText(key), value]));
    return whole.flatMap(({ key, value }) => {
      const divisor = divisors.get(keyText(key)) ?? 0;
      return divisor > 0 ? [{ key, value: value / divisor }] : [];
    });
  };

  return {
    dialect,
    full,
    of,
    find: (sources) => (sources ?? []).find(isThere) ?? null,
    joined(source, join) {
      if (!isThere(source)) return [];
      const parts = (source.plus ?? []).flatMap((name) => of(name).map(asPart));
      const usable = [...of(source.name, source.where), ...parts].filter(isUsable);
      const values = usable.map((sample) => scaled(sample, source.scale ?? 1));
      const whole = joinSamples(values, dialect, join);
      return source.per === undefined ? whole : divided(whole, source.per, join);
    },
    declares: (sources) =>
      sources.some(({ name }) => page.types.has(full(name)) || page.types.has(full(name).replace(/_total$/, ''))),
    countOutOfRange: () => {
      clamped += 1;
    },
    outOfRange: () => impossible.size + clamped,
  };
}

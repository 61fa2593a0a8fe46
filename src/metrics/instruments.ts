import { Counter as PromCounter, Histogram as PromHistogram } from 'prom-client';
import type { FamilyDefinition } from './definition.ts';
import { formatBound, joinLabels, type Row, type RowExemplar, renderLabels } from './exposition.ts';

/** Labels that an observation leaves as its example, e.g. {probe_id}. At most 128 characters. */
export type ExemplarLabels = Readonly<Record<string, string>>;

/** Something that holds series of one family. */
export interface Instrument {
  rows(): Promise<readonly Row[]> | readonly Row[];
}

export interface CounterInstrument<V extends string> extends Instrument {
  /** `by` must be finite and not negative. `value` is that of the family's own label, where it has one. */
  add(by: number, value?: V, exemplar?: ExemplarLabels): void;
}

export interface HistogramInstrument<V extends string> extends Instrument {
  observe(sample: number, value?: V, exemplar?: ExemplarLabels): void;
  readonly bounds: readonly number[];
}

export interface SummaryInstrument<V extends string> extends Instrument {
  observe(sample: number, value?: V): void;
}

export interface GaugeInstrument<V extends string> extends Instrument {
  set(sample: number, value?: V): void;
}

export interface InfoInstrument extends Instrument {
  /** Replaces what was said before. */
  set(labelSets: readonly Readonly<Record<string, string>>[]): void;
}

/** What the series of a set have in common. */
export interface InstrumentContext {
  /** Rendered labels that every series carries; changes when the model behind an "auto" becomes known. */
  base: string;
  /** A value was refused. */
  readonly invalid: () => void;
}

/** What prom-client hands out for one sample; its types leave the exemplar out. */
interface PromValue {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  readonly metricName?: string | undefined;
  readonly exemplar?: { readonly labelSet: ExemplarLabels; readonly value: number; readonly timestamp?: number } | null;
}

// An instrument carries at most one label of its own, with a closed set of values: the labels from the configuration
// are in `base` and never reach prom-client, whose series keys do not escape them.
const ownLabel = (family: FamilyDefinition): string | undefined => family.labels[0];
const ownValues = (family: FamilyDefinition): readonly string[] => {
  const label = ownLabel(family);
  return label === undefined ? [] : (family.values?.[label] ?? []);
};

// prom-client keeps the object it is given, so every call gets one of its own.
const labelsOf = (family: FamilyDefinition, value: string | undefined): Record<string, string> => {
  const label = ownLabel(family);
  return label === undefined || value === undefined ? {} : { [label]: value };
};

function acceptable(family: FamilyDefinition, sample: number, value: string | undefined): boolean {
  if (!Number.isFinite(sample) || sample < 0) return false;
  return ownLabel(family) === undefined || (value !== undefined && ownValues(family).includes(value));
}

function toExemplar(exemplar: PromValue['exemplar']): RowExemplar | undefined {
  if (exemplar === null || exemplar === undefined) return undefined;
  return { labels: exemplar.labelSet, value: exemplar.value, unixSeconds: exemplar.timestamp ?? null };
}

function promRow(family: FamilyDefinition, base: string, sample: PromValue): Row {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(sample.labels)) {
    own[name] = typeof value === 'number' ? formatBound(value) : (value ?? '');
  }
  return {
    suffix: (sample.metricName ?? family.name).slice(family.name.length),
    labels: joinLabels(base, renderLabels(own)),
    value: sample.value,
    exemplar: toExemplar(sample.exemplar),
  };
}

const configuration = (family: FamilyDefinition) => ({
  name: family.name,
  help: family.help,
  labelNames: family.labels,
  // In no registry: prom-client's own rendering blocks the loop and its OpenMetrics mode renames counters for good.
  registers: [],
  enableExemplars: true,
});

/** A counter that exists at 0 for every value of its label. */
export function createCounter<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
): CounterInstrument<V> {
  const counter = new PromCounter<string>(configuration(family));
  for (const value of ownValues(family)) counter.inc({ labels: labelsOf(family, value), value: 0 });
  return {
    add(by, value, exemplarLabels) {
      if (!acceptable(family, by, value)) return context.invalid();
      const labels = labelsOf(family, value);
      counter.inc(exemplarLabels === undefined ? { labels, value: by } : { labels, value: by, exemplarLabels });
    },
    rows: async () => (await counter.get()).values.map((sample) => promRow(family, context.base, sample)),
  };
}

/** A histogram that exists, empty, for every value of its label; with `born: 'later'` only from its first sample on. */
export function createHistogram<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
  bounds: readonly number[],
): HistogramInstrument<V> {
  const histogram = new PromHistogram<string>({ ...configuration(family), buckets: [...bounds] });
  let exists = family.born === 'start';
  for (const value of ownValues(family)) histogram.zero(labelsOf(family, value));
  return {
    bounds,
    observe(sample, value, exemplarLabels) {
      if (!acceptable(family, sample, value)) return context.invalid();
      exists = true;
      const labels = labelsOf(family, value);
      histogram.observe(
        exemplarLabels === undefined ? { labels, value: sample } : { labels, value: sample, exemplarLabels },
      );
    },
    rows: async () =>
      exists ? (await histogram.get()).values.map((sample) => promRow(family, context.base, sample)) : [],
  };
}

/** Sum and count without quantiles. prom-client's own summary keeps a digest that nobody here would read. */
export function createSummary<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
): SummaryInstrument<V> {
  const states = new Map<string | undefined, { sum: number; count: number }>();
  const values = ownLabel(family) === undefined ? [undefined] : ownValues(family);
  for (const value of values) states.set(value, { sum: 0, count: 0 });
  return {
    observe(sample, value) {
      const state = states.get(value);
      if (state === undefined || !acceptable(family, sample, value)) return context.invalid();
      state.sum += sample;
      state.count += 1;
    },
    rows: () =>
      [...states].flatMap(([value, state]) => {
        const labels = joinLabels(context.base, renderLabels(labelsOf(family, value)));
        return [
          { suffix: '_sum', labels, value: state.sum },
          { suffix: '_count', labels, value: state.count },
        ];
      }),
  };
}

/** A gauge whose series exist once they are set. */
export function createGauge<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
): GaugeInstrument<V> {
  const states = new Map<string | undefined, number>();
  return {
    set(sample, value) {
      if (!acceptable(family, sample, value)) return context.invalid();
      states.set(value, sample);
    },
    rows: () =>
      [...states].map(([value, sample]) => ({
        suffix: '',
        labels: joinLabels(context.base, renderLabels(labelsOf(family, value))),
        value: sample,
      })),
  };
}

/** Series of value 1 that say something by their labels. */
export function createInfo(context: InstrumentContext): InfoInstrument {
  let sets: readonly string[] = [];
  return {
    set(labelSets) {
      sets = [...new Set(labelSets.map((labels) => joinLabels(context.base, renderLabels(labels))))];
    },
    rows: () => sets.map((labels) => ({ suffix: '', labels, value: 1 })),
  };
}

import type { FamilyDefinition } from './definition.ts';
import {
  type ExpositionFormat,
  formatValue,
  joinLabels,
  type RowExemplar,
  renderExemplar,
  renderLabels,
} from './exposition.ts';
import { type Layout, type Layouts, ownLabel, ownValues } from './layout.ts';
import { type PromExemplar, ReadableCounter, ReadableHistogram, type TakeSample } from './prom-values.ts';

/** Labels that an observation leaves as its example, e.g. {probe_id}. At most 128 characters. */
export type ExemplarLabels = Readonly<Record<string, string>>;

/** Something that holds series of one family. */
export interface Instrument {
  /** Its lines of the page; empty when there is nothing to say. */
  render(format: ExpositionFormat): string;
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
  readonly layouts: Layouts;
}

// The labels from the configuration are in `base` and never reach prom-client, whose series keys do not escape them.
// It keeps the object that it is given, so every call gets one of its own.
function labelsOf(family: FamilyDefinition, value: string | undefined): Record<string, string> {
  const label = ownLabel(family);
  return label === undefined || value === undefined ? {} : { [label]: value };
}

function acceptable(family: FamilyDefinition, sample: number, value: string | undefined): boolean {
  if (!Number.isFinite(sample) || sample < 0) return false;
  return ownLabel(family) === undefined || (value !== undefined && ownValues(family).includes(value));
}

function toExemplar(exemplar: PromExemplar): RowExemplar {
  return { labels: exemplar.labelSet, value: exemplar.value, unixSeconds: exemplar.timestamp ?? null };
}

/** The samples that `each` gives, in the order in which the series were made, which is that of the layout. */
function renderValues(
  layout: Layout,
  base: string,
  each: (take: TakeSample) => void,
  format: ExpositionFormat,
): string {
  let text = '';
  let index = 0;
  each((value, exemplar) => {
    text += `${layout.heads[index]}${base}${layout.tails[index]}${formatValue(value)}`;
    if (format === 'openmetrics' && exemplar !== null) text += renderExemplar(toExemplar(exemplar));
    text += '\n';
    index += 1;
  });
  return text;
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
  const counter = new ReadableCounter(configuration(family));
  const layout = context.layouts.of(family, [], context.base !== '');
  for (const value of ownValues(family)) counter.inc({ labels: labelsOf(family, value), value: 0 });
  return {
    add(by, value, exemplarLabels) {
      if (!acceptable(family, by, value)) return context.invalid();
      const labels = labelsOf(family, value);
      counter.inc(exemplarLabels === undefined ? { labels, value: by } : { labels, value: by, exemplarLabels });
    },
    render: (format) => renderValues(layout, context.base, (take) => counter.eachSample(take), format),
  };
}

/** A histogram that exists, empty, for every value of its label; with `born: 'later'` only from its first sample on. */
export function createHistogram<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
  bounds: readonly number[],
): HistogramInstrument<V> {
  const histogram = new ReadableHistogram({ ...configuration(family), buckets: [...bounds] });
  const layout = context.layouts.of(family, bounds, context.base !== '');
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
    render: (format) =>
      exists ? renderValues(layout, context.base, (take) => histogram.eachSample(take), format) : '',
  };
}

/** Sum and count without quantiles. prom-client's own summary keeps a digest that nobody here would read. */
export function createSummary<V extends string>(
  family: FamilyDefinition,
  context: InstrumentContext,
): SummaryInstrument<V> {
  const layout = context.layouts.of(family, [], context.base !== '');
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
    render: (format) => {
      const each = (take: TakeSample): void => {
        for (const { sum, count } of states.values()) {
          take(sum, null);
          take(count, null);
        }
      };
      return renderValues(layout, context.base, each, format);
    },
  };
}

const plainLine = (family: FamilyDefinition, labels: string, value: number): string =>
  `${family.name}${labels === '' ? '' : `{${labels}}`} ${formatValue(value)}\n`;

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
    render: () => {
      let text = '';
      for (const [value, sample] of states) {
        text += plainLine(family, joinLabels(context.base, renderLabels(labelsOf(family, value))), sample);
      }
      return text;
    },
  };
}

/** Series of value 1 that say something by their labels. */
export function createInfo(family: FamilyDefinition, context: InstrumentContext): InfoInstrument {
  let sets: readonly string[] = [];
  return {
    set(labelSets) {
      sets = [...new Set(labelSets.map(renderLabels))];
    },
    render: () => sets.map((labels) => plainLine(family, joinLabels(context.base, labels), 1)).join(''),
  };
}

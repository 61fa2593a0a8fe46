import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import * as common from '@grafana/grafana-foundation-sdk/common';
import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import * as heatmap from '@grafana/grafana-foundation-sdk/heatmap';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as stat from '@grafana/grafana-foundation-sdk/stat';
import * as statetimeline from '@grafana/grafana-foundation-sdk/statetimeline';
import * as timeseries from '@grafana/grafana-foundation-sdk/timeseries';

/** The data source is always the variable: a saved uid would leave every panel empty elsewhere. */
export const DATASOURCE: common.DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

export interface Query {
  readonly expr: string;
  readonly legend?: string;
  readonly exemplar?: boolean;
}

/** What every panel has. `description` says what is shown, from which instant to which, and how to read it. */
export interface PanelOptions {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly span?: number;
  readonly height?: number;
}

const refId = (index: number): string => String.fromCharCode(65 + index);

export function target(query: Query, index: number, format = prometheus.PromQueryFormat.TimeSeries, instant = false) {
  const built = new prometheus.DataqueryBuilder()
    .datasource(DATASOURCE)
    .expr(query.expr)
    .refId(refId(index))
    .format(format)
    .legendFormat(query.legend ?? '__auto');
  if (query.exemplar) built.exemplar(true);
  return instant ? built.instant() : built.range();
}

const steps = (...pairs: readonly (readonly [number | null, string])[]) =>
  new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps(pairs.map(([value, color]) => ({ value, color })));

interface SeriesOptions extends PanelOptions {
  /** 0 to 1 for ratios. */
  readonly max?: number;
  readonly stacked?: boolean;
  /** Names of series drawn as a dashed line: thresholds. */
  readonly dashed?: string;
  /** Names of series on the right axis, with their unit. */
  readonly right?: { readonly names: string; readonly unit: string };
}

const DASHED = [
  { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } },
  { id: 'custom.fillOpacity', value: 0 },
  { id: 'custom.lineWidth', value: 1 },
  { id: 'color', value: { mode: 'fixed', fixedColor: 'text' } },
];

/** Lines over time. Gaps stay gaps: an outage must not look calm. */
export function lines(options: SeriesOptions): timeseries.PanelBuilder {
  const panel = new timeseries.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .unit(options.unit)
    .min(0)
    .span(options.span ?? 12)
    .height(options.height ?? 8)
    .lineWidth(1)
    .fillOpacity(options.stacked ? 60 : 8)
    .spanNulls(false)
    .showPoints(common.VisibilityMode.Auto)
    .colorScheme(new dashboard.FieldColorBuilder().mode(dashboard.FieldColorModeId.PaletteClassicByName))
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(common.LegendDisplayMode.Table)
        .placement(common.LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    );
  if (options.max !== undefined) panel.max(options.max);
  if (options.stacked) panel.stacking(new common.StackingConfigBuilder().mode(common.StackingMode.Normal));
  if (options.dashed) panel.overrideByRegexp(options.dashed, DASHED);
  if (options.right) {
    panel.overrideByRegexp(options.right.names, [
      { id: 'custom.axisPlacement', value: 'right' },
      { id: 'unit', value: options.right.unit },
    ]);
  }
  options.queries.forEach((query, index) => {
    panel.withTarget(target(query, index));
  });
  return panel;
}

interface StatOptions extends PanelOptions {
  readonly thresholds?: readonly (readonly [number | null, string])[];
  readonly mappings?: readonly dashboard.ValueMapping[];
  readonly decimals?: number;
}

/** One number at a glance. No data looks like no data, never like 0. */
export function number(options: StatOptions): stat.PanelBuilder {
  const panel = new stat.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .unit(options.unit)
    .span(options.span ?? 4)
    .height(options.height ?? 4)
    .noValue('no data')
    .graphMode(common.BigValueGraphMode.Area)
    .colorMode(options.thresholds ? common.BigValueColorMode.Value : common.BigValueColorMode.None)
    .thresholds(steps(...(options.thresholds ?? [[null, 'text']])))
    .reduceOptions(new common.ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields(''));
  if (options.decimals !== undefined) panel.decimals(options.decimals);
  if (options.mappings) panel.mappings([...options.mappings]);
  options.queries.forEach((query, index) => {
    panel.withTarget(target(query, index));
  });
  return panel;
}

/** The distribution over time, from a histogram's buckets. */
export function distribution(options: PanelOptions): heatmap.PanelBuilder {
  const panel = new heatmap.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .span(options.span ?? 12)
    .height(options.height ?? 8)
    .calculate(false)
    .yAxis(new heatmap.YAxisConfigBuilder().unit(options.unit))
    .cellGap(1)
    .color(new heatmap.HeatmapColorOptionsBuilder().mode(heatmap.HeatmapColorMode.Scheme).scheme('Oranges').steps(64));
  options.queries.forEach((query, index) => {
    panel.withTarget(target({ ...query, legend: '{{le}}' }, index, prometheus.PromQueryFormat.Heatmap));
  });
  return panel;
}

interface BandOptions extends PanelOptions {
  readonly mappings: readonly dashboard.ValueMapping[];
}

/** States over time as bands, with their names written into them. */
export function bands(options: BandOptions): statetimeline.PanelBuilder {
  const panel = new statetimeline.PanelBuilder()
    .title(options.title)
    .description(options.description)
    .datasource(DATASOURCE)
    .unit(options.unit)
    .span(options.span ?? 24)
    .height(options.height ?? 5)
    .mergeValues(true)
    .showValue(common.VisibilityMode.Auto)
    .mappings([...options.mappings]);
  options.queries.forEach((query, index) => {
    panel.withTarget(target(query, index));
  });
  return panel;
}

/** Names and colours of values, in order; the text carries the meaning, the colour only repeats it. */
export const valueNames = (
  names: Readonly<Record<string, { readonly text: string; readonly color: string }>>,
): dashboard.ValueMapping => ({ type: dashboard.MappingType.ValueToText, options: { ...names } });

export type AnyPanel = Builder<dashboard.Panel>;

/** A titled group of panels. */
export const row = (
  title: string,
  panels: readonly AnyPanel[],
): { readonly title: string; readonly panels: readonly AnyPanel[] } => ({
  title,
  panels,
});

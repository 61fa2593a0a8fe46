import type * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';
import * as prometheus from '@grafana/grafana-foundation-sdk/prometheus';
import * as table from '@grafana/grafana-foundation-sdk/table';
import { board, EXPORTER, PROBE, RECORDED, RECORDED_PROFILE, TARGET } from './frame.ts';
import { type AnyPanel, DATASOURCE, lines, number, row, target, valueNames } from './kit.ts';

interface Column {
  readonly title: string;
  readonly expr: string;
  readonly unit?: string;
  readonly properties?: readonly DynamicConfigValue[];
}

const coloured = (...pairs: readonly (readonly [number | null, string])[]): DynamicConfigValue[] => [
  { id: 'thresholds', value: { mode: 'absolute', steps: pairs.map(([value, color]) => ({ value, color })) } },
  { id: 'custom.cellOptions', value: { type: 'color-text' } },
];

const mapped = (mapping: dashboard.ValueMapping): DynamicConfigValue[] => [
  { id: 'mappings', value: [mapping] },
  { id: 'custom.cellOptions', value: { type: 'color-text' } },
];

const BY = 'namespace, target';

/** Each column is one instant query with the labels namespace and target; the table joins them. */
const columns: readonly Column[] = [
  {
    title: 'Last probe',
    expr: `min by (${BY}) (inference_probe_success{${PROBE}})`,
    properties: mapped(valueNames({ '0': { text: 'failed', color: 'red' }, '1': { text: 'good', color: 'green' } })),
  },
  {
    title: 'Zone',
    expr: `max by (${BY}) (inference_engine_zone{${TARGET}, zone="knee"}) + 2 * max by (${BY}) (inference_engine_zone{${TARGET}, zone="overload"})`,
    properties: mapped(
      valueNames({
        '0': { text: 'underload', color: 'green' },
        '1': { text: 'knee', color: 'orange' },
        '2': { text: 'overload', color: 'red' },
      }),
    ),
  },
  {
    title: 'TTFT p99, 1 h',
    expr: `max by (${BY}) (inference_probe:ttft_seconds:p99_1h{${RECORDED_PROFILE}})`,
    unit: 's',
  },
  {
    title: 'TPOT p99, 1 h',
    expr: `max by (${BY}) (inference_probe:tpot_seconds:p99_1h{${RECORDED_PROFILE}})`,
    unit: 's',
  },
  {
    title: 'Samples, 1 h',
    expr: `sum by (${BY}) (inference_probe:ttft_seconds:count_1h{${RECORDED_PROFILE}})`,
    unit: 'short',
  },
  {
    title: 'Budget left',
    expr: `min by (${BY}) (inference_probe:slo_budget_remaining:ratio{${RECORDED}})`,
    unit: 'percentunit',
    properties: coloured([null, 'red'], [0, 'orange'], [0.25, 'green']),
  },
  { title: 'KV usage', expr: `max by (${BY}) (inference_engine_kv_cache_usage_ratio{${TARGET}})`, unit: 'percentunit' },
  { title: 'Waiting', expr: `sum by (${BY}) (inference_engine_requests_waiting{${TARGET}})`, unit: 'short' },
  {
    title: 'Preemptions, 1 h',
    expr: `sum by (${BY}) (increase(inference_engine_preemptions_total{${TARGET}}[1h]))`,
    unit: 'short',
  },
];

/** The most frequent cause of the last hour is a label, not a value: a table column of its own from a topk query. */
const LAST_CAUSE = `topk by (${BY}) (1, sum by (${BY}, cause) (increase(inference_probe_causes_total{${PROBE}}[1h])) > 0)`;

function fleetTable(): AnyPanel {
  const panel = new table.PanelBuilder()
    .title('All targets')
    .description(
      'One line a target: state, zone, tail latency with its sample count, budget, engine load and the most frequent cause of slow probes within the last hour. Click a target for its boards.',
    )
    .datasource(DATASOURCE)
    .unit('none')
    .span(24)
    .height(12)
    .noValue('–')
    .filterable(true);
  columns.forEach((column, index) => {
    panel.withTarget(target({ expr: column.expr }, index, prometheus.PromQueryFormat.Table, true));
  });
  panel.withTarget(target({ expr: LAST_CAUSE }, columns.length, prometheus.PromQueryFormat.Table, true));
  panel.withTransformation({ id: 'merge', options: {} });
  panel.withTransformation({
    id: 'organize',
    options: {
      excludeByName: { Time: true, [`Value #${String.fromCharCode(65 + columns.length)}`]: true },
      renameByName: {
        namespace: 'Namespace',
        target: 'Target',
        cause: 'Cause',
        ...Object.fromEntries(
          columns.map((column, index) => [`Value #${String.fromCharCode(65 + index)}`, column.title]),
        ),
      },
    },
  });
  for (const column of columns) {
    panel.overrideByName(column.title, [
      { id: 'unit', value: column.unit ?? 'none' },
      { id: 'decimals', value: column.unit === 'short' ? 0 : 2 },
      ...(column.properties ?? []),
    ]);
  }
  panel.overrideByName('Target', [
    {
      id: 'links',
      value: [
        {
          title: 'SLO board of ${__value.text}',
          url: '/d/inference-probe-slo?var-target=${__value.text}&${__url_time_range}',
        },
        {
          title: 'Why board of ${__value.text}',
          url: '/d/inference-probe-why?var-target=${__value.text}&${__url_time_range}',
        },
      ],
    },
  ]);
  return panel;
}

export const fleetBoard = board({
  uid: 'inference-probe-fleet',
  title: 'Inference probe / Fleet',
  description: 'All targets in one table, and who is worst.',
  rows: [
    row('Fleet', [
      number({
        title: 'Targets',
        description: 'Targets that the exporters in view are configured for.',
        unit: 'short',
        queries: [{ expr: `sum(inference_probe_exporter_targets{${EXPORTER}})` }],
        decimals: 0,
        span: 8,
      }),
      number({
        title: 'Failing now',
        description: 'Targets whose last probe failed in at least one profile.',
        unit: 'short',
        queries: [
          {
            expr: `count(min by (${BY}, model) (inference_probe_success{${PROBE}}) == 0) or 0 * count(inference_probe_success{${PROBE}})`,
          },
        ],
        thresholds: [
          [null, 'green'],
          [1, 'red'],
        ],
        decimals: 0,
        span: 8,
      }),
      number({
        title: 'In overload',
        description: 'Engines in the overload zone.',
        unit: 'short',
        queries: [{ expr: `sum(max by (${BY}) (inference_engine_zone{${TARGET}, zone="overload"}))` }],
        thresholds: [
          [null, 'green'],
          [1, 'orange'],
        ],
        decimals: 0,
        span: 8,
      }),
      fleetTable(),
      lines({
        title: 'TTFT p95 by target',
        description: 'The ten slowest targets, all profiles.',
        unit: 's',
        queries: [
          {
            expr: `topk(10, max by (${BY}) (inference_probe:ttft_seconds:p95_30m{${RECORDED_PROFILE}}))`,
            legend: '{{namespace}} {{target}}',
          },
        ],
      }),
      lines({
        title: 'KV usage by target',
        description: 'The ten fullest KV caches; the fullest rank of each.',
        unit: 'percentunit',
        max: 1,
        queries: [
          {
            expr: `topk(10, max by (${BY}) (inference_engine_kv_cache_usage_ratio{${TARGET}}))`,
            legend: '{{namespace}} {{target}}',
          },
        ],
      }),
    ]),
  ],
});

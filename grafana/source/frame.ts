import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE, type row } from './kit.ts';

/** Selector of the probes' series. */
export const PROBE =
  'job=~"$job", instance=~"$instance", namespace=~"$namespace", target=~"$target", model=~"$model", profile=~"$profile"';
/** Selector of the exporter's and target-level series, which have no profile or another model label. */
export const TARGET = 'job=~"$job", instance=~"$instance", namespace=~"$namespace", target=~"$target"';
export const EXPORTER = 'job=~"$job", instance=~"$instance", namespace=~"$namespace"';
/** Recorded series are per service: no instance is left in them. */
export const RECORDED = 'job=~"$job", namespace=~"$namespace", target=~"$target", model=~"$model"';
export const RECORDED_PROFILE = `${RECORDED}, profile=~"$profile"`;
export const RECORDED_TARGET = 'job=~"$job", namespace=~"$namespace", target=~"$target"';

const TAG = 'inference-probe';

interface VariableOptions {
  readonly name: string;
  readonly label: string;
  readonly metric: string;
  /** ".+" demands the label; ".*" also takes series without it (namespace outside of Kubernetes). */
  readonly all: string;
}

const queryVariable = ({ name, label, metric, all }: VariableOptions) =>
  new dashboard.QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query({ query: `label_values(${metric}, ${name})`, refId: name })
    .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
    .sort(dashboard.VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue(all);

/** Each variable is filled from our own series, so that no other exporter's labels can mix in. */
const variables = () => [
  new dashboard.DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
  queryVariable({ name: 'job', label: 'Job', metric: 'inference_probe_exporter_build_info', all: '.+' }),
  queryVariable({
    name: 'namespace',
    label: 'Namespace',
    metric: 'inference_probe_exporter_build_info{job=~"$job"}',
    all: '.*',
  }),
  queryVariable({
    name: 'instance',
    label: 'Instance',
    metric: 'inference_probe_exporter_build_info{job=~"$job", namespace=~"$namespace"}',
    all: '.+',
  }),
  queryVariable({
    name: 'target',
    label: 'Target',
    metric: 'inference_probe_attempts_total{job=~"$job", namespace=~"$namespace"}',
    all: '.+',
  }),
  queryVariable({
    name: 'model',
    label: 'Model',
    metric: 'inference_probe_attempts_total{job=~"$job", namespace=~"$namespace", target=~"$target"}',
    all: '.+',
  }),
  queryVariable({
    name: 'profile',
    label: 'Profile',
    metric: 'inference_probe_attempts_total{job=~"$job", namespace=~"$namespace", target=~"$target"}',
    all: '.+',
  }),
];

export interface BoardOptions {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly ReturnType<typeof row>[];
}

/** The common frame: variables, links to the sister boards with time and variables kept, alerts as annotations. */
export function board(options: BoardOptions): dashboard.Dashboard {
  const builder = new dashboard.DashboardBuilder(options.title)
    .uid(options.uid)
    .description(options.description)
    .tags([TAG])
    .timezone('utc')
    .readonly()
    .refresh('30s')
    .tooltip(dashboard.DashboardCursorSync.Crosshair)
    .time({ from: 'now-3h', to: 'now' })
    .link(
      new dashboard.DashboardLinkBuilder('Inference probe boards')
        .type(dashboard.DashboardLinkType.Dashboards)
        .tags([TAG])
        .keepTime(true)
        .includeVars(true),
    )
    .annotation(
      new dashboard.AnnotationQueryBuilder()
        .name('Alerts')
        .datasource(DATASOURCE)
        .enable(true)
        .iconColor('red')
        .expr(
          'ALERTS{alertstate="firing", product="inference-probe", severity=~"critical|warning", target=~"$target|"}',
        )
        .titleFormat('{{alertname}} ({{severity}})')
        .textFormat('{{target}} {{model}} {{slo}}'),
    );
  for (const variable of variables()) builder.withVariable(variable);
  for (const { title, panels } of options.rows) {
    builder.withRow(new dashboard.RowBuilder(title));
    for (const panel of panels) builder.withPanel(panel);
  }
  // The builder writes 42. Grafana 11 to 13 all migrate upwards from 39, and nothing here needs a later schema.
  return { ...builder.build(), schemaVersion: 39 };
}

import { stringify } from 'yaml';
import { engineGroups } from './alerts-engine.ts';
import { selfGroups } from './alerts-self.ts';
import { userGroups } from './alerts-users.ts';
import type { RuleCase } from './cases.ts';
import { type AlertRule, isAlert, type RecordingRule, type RuleGroup } from './model.ts';
import { recordingGroups } from './recording.ts';

/** Where the pages that alerts link to are published; an installation may rewrite both with one sed. */
const RUNBOOKS = 'https://github.com/inference-probe/inference-probe-exporter/blob/main/docs/runbooks';
/** Relative to Grafana's root; Alertmanager's template puts the host in front. */
const DASHBOARDS = '/d';

/** All groups, in the order of evaluation: recordings first. */
export const ruleGroups: readonly RuleGroup[] = [...recordingGroups, ...userGroups, ...engineGroups, ...selfGroups];

/** All alerts; two may share a name and differ in severity. */
export const alerts: readonly AlertRule[] = ruleGroups.flatMap((group) => group.rules.filter(isAlert));

/** A link that keeps the service in view; no pod in it, so that it is equal for all alerts of a group. */
const dashboardUrl = (uid: string): string =>
  `${DASHBOARDS}/${uid}?var-namespace={{ $labels.namespace }}&var-target={{ $labels.target }}&var-model={{ $labels.model }}`;

const plainRule = (rule: RecordingRule | AlertRule): Record<string, unknown> =>
  isAlert(rule)
    ? {
        alert: rule.alert,
        expr: rule.expr,
        ...(rule.for ? { for: rule.for } : {}),
        ...(rule.keepFiringFor ? { keep_firing_for: rule.keepFiringFor } : {}),
        labels: { severity: rule.severity, product: 'inference-probe', ...rule.labels },
        annotations: {
          summary: rule.summary,
          description: rule.description,
          runbook_url: `${RUNBOOKS}/${rule.alert}.md`,
          dashboard_url: dashboardUrl(rule.dashboard),
        },
      }
    : { record: rule.record, expr: rule.expr };

const plainGroups = (): Record<string, unknown>[] =>
  ruleGroups.map((group) => ({
    name: group.name,
    ...(group.interval ? { interval: group.interval } : {}),
    rules: group.rules.map(plainRule),
  }));

const GENERATED = '# Generated from deploy/prometheus/source by `npm run generate`. Do not edit.\n';
const YAML_STYLE = { lineWidth: 0, blockQuote: 'literal' } as const;

/** The rule file for a Prometheus that reads files. */
export const renderRuleFile = (): string => GENERATED + stringify({ groups: plainGroups() }, YAML_STYLE);

/** The same rules for the Prometheus operator. */
export const renderPrometheusRule = (): string =>
  GENERATED +
  stringify(
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: {
        name: 'inference-probe-exporter',
        labels: { 'app.kubernetes.io/name': 'inference-probe-exporter', 'app.kubernetes.io/component': 'rules' },
      },
      spec: { groups: plainGroups() },
    },
    YAML_STYLE,
  );

/** A case that lasts hours is sampled each minute: the rules are the same, promtool is done four times sooner. */
const isLong = (test: RuleCase): boolean => test.at.includes('h');

const renderTests = (cases: readonly RuleCase[], interval: string, evaluationInterval: string): string =>
  GENERATED +
  stringify(
    {
      rule_files: ['../inference-probe.rules.yml'],
      evaluation_interval: evaluationInterval,
      tests: cases.map((test) => ({
        name: `${test.alert} (${test.severity}): ${test.id}`,
        interval,
        input_series: Object.entries(test.series).map(([series, values]) => ({ series, values })),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="${test.alert}",severity="${test.severity}",alertstate="firing"})`,
            eval_time: test.at,
            exp_samples: test.firing === 0 ? [] : [{ labels: '{}', value: test.firing }],
          },
        ],
      })),
    },
    YAML_STYLE,
  );

/** promtool's files of rule tests: they ask for the number of firing alerts, so that texts may change freely. */
export const renderRuleTests = (cases: readonly RuleCase[]): { readonly short: string; readonly long: string } => ({
  short: renderTests(
    cases.filter((test) => !isLong(test)),
    '15s',
    '30s',
  ),
  long: renderTests(cases.filter(isLong), '1m', '1m'),
});

/** An hour of normal life, with the demand that no page was firing at any moment of it. */
export const renderHealthyHour = (series: RuleCase['series']): string =>
  GENERATED +
  stringify(
    {
      rule_files: ['../inference-probe.rules.yml'],
      evaluation_interval: '15s',
      tests: [
        {
          name: 'an hour of healthy load with lone preemptions and lone failures',
          interval: '15s',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          promql_expr_test: [
            {
              expr: 'count by (alertname) (count_over_time(ALERTS{severity="critical",alertstate="firing"}[70m]))',
              eval_time: '65m',
              exp_samples: [],
            },
            {
              // The world is not empty: the ticket of the lone preemption is there.
              expr: 'count(count_over_time(ALERTS{alertname="InferencePreemptions",severity="warning",alertstate="firing"}[70m]))',
              eval_time: '65m',
              exp_samples: [{ labels: '{}', value: 1 }],
            },
          ],
        },
      ],
    },
    YAML_STYLE,
  );

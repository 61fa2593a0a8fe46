import { type AlertRule, HEALTH_BOARD, PROFILE, promql, type RuleGroup, TARGET } from './model.ts';

const HERE = '{{ $labels.target }}';

/** Why a profile is quiet on purpose; each of these has an alert of its own. */
const QUIET_ON_PURPOSE = `(increase(inference_probe_skipped_total{reason=~"paused|budget|asleep|starting|backoff"}[15m]) > 0)`;

const noProbeRan: AlertRule = {
  alert: 'InferenceNoProbeRan',
  severity: 'critical',
  expr: promql(
    `max by (${PROFILE}) (time() - inference_probe_last_attempt_timestamp_seconds)`,
    `  > max by (${PROFILE}) (5 * inference_probe_interval_seconds + 120)`,
    `and max by (${PROFILE}) (inference_probe_last_attempt_timestamp_seconds) > 0`,
    `unless max by (${PROFILE}) ${QUIET_ON_PURPOSE}`,
  ),
  for: '1m',
  summary: 'The exporter lives but sends no probes',
  description: `The last probe of ${HERE}, profile {{ $labels.profile }}, was sent {{ $value | humanizeDuration }} ago. Nobody is watching what users see.`,
  dashboard: HEALTH_BOARD,
};

const exporterDown: AlertRule = {
  alert: 'InferenceProbeExporterDown',
  severity: 'critical',
  expr: promql(
    'up == 0',
    // The exporter is known by what it exposed before, not by a job name that every installation chooses itself.
    'and on (job, instance) (max_over_time(inference_probe_exporter_build_info[6h]) == 1)',
  ),
  for: '3m',
  summary: 'An exporter that was scraped before does not answer any more',
  description: '{{ $labels.instance }} ({{ $labels.job }}) has not answered scrapes for three minutes.',
  dashboard: HEALTH_BOARD,
};

const exporterAbsent: AlertRule = {
  alert: 'InferenceProbeExporterAbsent',
  severity: 'critical',
  expr: promql(
    '(count(max_over_time(inference_probe_exporter_build_info[1d])) > 0)',
    'unless (count(inference_probe_exporter_build_info) > 0)',
    // One that is scraped in vain has a page of its own.
    'unless (count(up == 0 and on (job, instance) (max_over_time(inference_probe_exporter_build_info[6h]) == 1)) > 0)',
  ),
  for: '5m',
  summary: 'There were exporters within the last day, and now there is none',
  description:
    'No series of any inference-probe-exporter is left; {{ $value | humanize }} were seen within the last day. All other alerts of this product are blind.',
  dashboard: HEALTH_BOARD,
};

const disturbed: AlertRule = {
  alert: 'InferenceProbeDisturbed',
  severity: 'warning',
  expr: promql(
    `sum by (${TARGET}) (increase(inference_probe_disturbed_samples_total[30m])) > 4.5`,
    'and',
    `sum by (${TARGET}) (increase(inference_probe_disturbed_samples_total[30m]))`,
    `  > 0.1 * sum by (${TARGET}) (increase(inference_probe_attempts_total[30m]))`,
  ),
  keepFiringFor: '15m',
  summary: "The exporter's own measuring is disturbed",
  description: `{{ $value | humanize }} samples of ${HERE} were dropped within 30 minutes because the exporter itself was late: CPU limit, throttling or a busy node.`,
  dashboard: HEALTH_BOARD,
};

const budgetExhausted: AlertRule = {
  alert: 'InferenceProbeBudgetExhausted',
  severity: 'warning',
  expr: `sum by (${TARGET}) (increase(inference_probe_skipped_total{reason="budget"}[10m])) > 0.5`,
  keepFiringFor: '10m',
  summary: 'Probes are skipped because their token budget is spent',
  description: `{{ $value | humanize }} probes of ${HERE} were skipped in ten minutes. Raise the budget or probe less often.`,
  dashboard: HEALTH_BOARD,
};

const pausedTooLong: AlertRule = {
  alert: 'InferenceProbePaused',
  severity: 'warning',
  expr: `min by (${TARGET}) (min_over_time(inference_probe_paused[4h])) == 1`,
  for: '1m',
  summary: 'Probing has been paused for hours',
  description: `Probes of ${HERE} have been paused for more than four hours.`,
  dashboard: HEALTH_BOARD,
};

const reloadFailed: AlertRule = {
  alert: 'InferenceProbeConfigReloadFailed',
  severity: 'warning',
  expr: 'max by (cluster, namespace, job, instance) (inference_probe_exporter_config_last_reload_successful) == 0',
  for: '5m',
  summary: 'The last configuration was refused; the exporter runs with the one before',
  description: '{{ $labels.instance }} refused its configuration. Its log says which line and why.',
  dashboard: HEALTH_BOARD,
};

const certificate = (severity: 'warning' | 'critical', days: number): AlertRule => ({
  alert: 'InferenceCertificateExpiring',
  severity,
  expr: promql(
    `min by (${TARGET}) (inference_probe_tls_certificate_expiry_timestamp_seconds) - time() < ${days} * 86400`,
  ),
  for: '10m',
  summary: "The endpoint's certificate expires soon",
  description: `The certificate that ${HERE} shows expires in {{ $value | humanizeDuration }}.`,
  dashboard: HEALTH_BOARD,
});

const heartbeat: AlertRule = {
  alert: 'InferenceProbeHeartbeat',
  severity: 'none',
  expr: 'vector(1)',
  summary: 'Always firing: its absence at the receiver means that alerting itself is broken',
  description: 'Route this to a dead-man switch.',
  dashboard: HEALTH_BOARD,
};

/** Whether the watchers watch. */
export const selfGroups: readonly RuleGroup[] = [
  {
    name: 'inference-probe.self',
    interval: '30s',
    rules: [
      noProbeRan,
      exporterDown,
      exporterAbsent,
      disturbed,
      budgetExhausted,
      pausedTooLong,
      reloadFailed,
      certificate('warning', 14),
      certificate('critical', 3),
      heartbeat,
    ],
  },
];

/** One recording rule. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export const SEVERITIES = ['critical', 'warning', 'info', 'none'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One alert. `summary` is constant text without values; `description` carries the values. */
export interface AlertRule {
  readonly alert: string;
  readonly severity: Severity;
  readonly expr: string;
  readonly for?: string;
  readonly keepFiringFor?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
  /** Dashboard uid the alert links to. */
  readonly dashboard: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly (RecordingRule | AlertRule)[];
}

export const isAlert = (rule: RecordingRule | AlertRule): rule is AlertRule => 'alert' in rule;

/**
 * Grain of everything that pages: one service, whatever the number of its pods. `job` and `namespace` come from the
 * scrape; `pod` and `instance` never stay, or one bad roll-out would open an incident per replica.
 */
export const SERVICE = 'cluster, namespace, job, target, model';
/** The same per profile, where cold and warm must not be mixed. */
export const PROFILE = `${SERVICE}, profile`;
/** The engine's own series have the engine's model name, so joins between both sides are on the target only. */
export const TARGET = 'cluster, namespace, job, target';

/** Indented PromQL from lines, so that the generated file stays readable. */
export const promql = (...lines: readonly string[]): string => lines.join('\n');

/** Uids of the dashboards that alerts link to. */
export const SLO_BOARD = 'inference-probe-slo';
export const WHY_BOARD = 'inference-probe-why';
export const HEALTH_BOARD = 'inference-probe-health';

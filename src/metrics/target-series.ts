import type { TargetConfig } from '../config/types.ts';
import { renderLabels } from './exposition.ts';
import { createGauge, type GaugeInstrument } from './instruments.ts';
import type { Layouts } from './layout.ts';
import type { BUDGET_WINDOWS } from './probe-families.ts';
import { PROBE_FAMILIES as F } from './probe-families.ts';

type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** Series that a target has once, whatever its profiles. */
export interface TargetSeries {
  readonly paused: GaugeInstrument<never>;
  readonly budgetRemaining: GaugeInstrument<BudgetWindow>;
  readonly budgetLimit: GaugeInstrument<BudgetWindow>;
  readonly certificateExpiry: GaugeInstrument<never>;
  readonly clientCertificateExpiry: GaugeInstrument<never>;
}

export type TargetFamily = keyof TargetSeries;
export const TARGET_FAMILIES = [
  'paused',
  'budgetRemaining',
  'budgetLimit',
  'certificateExpiry',
  'clientCertificateExpiry',
] as const satisfies readonly TargetFamily[];

/** `previous`: the series of the same target under the old configuration, whose values are kept. */
export function createTargetSeries(
  target: TargetConfig,
  pausedByConfig: boolean,
  deps: { readonly invalid: () => void; readonly layouts: Layouts },
  previous: TargetSeries | undefined,
): TargetSeries {
  const context = { base: renderLabels({ target: target.name }), ...deps };
  const series: TargetSeries = previous ?? {
    paused: createGauge(F.paused, context),
    budgetRemaining: createGauge(F.budgetRemaining, context),
    budgetLimit: createGauge(F.budgetLimit, context),
    certificateExpiry: createGauge(F.certificateExpiry, context),
    clientCertificateExpiry: createGauge(F.clientCertificateExpiry, context),
  };
  series.budgetLimit.set(target.budget.tokensPerHour, 'hour');
  series.budgetLimit.set(target.budget.tokensPerDay, 'day');
  if (previous === undefined) {
    series.paused.set(pausedByConfig ? 1 : 0);
    series.budgetRemaining.set(target.budget.tokensPerHour, 'hour');
    series.budgetRemaining.set(target.budget.tokensPerDay, 'day');
  }
  return series;
}

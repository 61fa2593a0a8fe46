import { maskedConfig } from '../config/masked.ts';
import { planTokens, probesPerHour, tokensPerProbe } from '../config/plan.ts';
import { formatDuration } from '../config/quantities.ts';
import { formatIssue } from '../config/report.ts';
import type { Config, ConfigIssue, KvCacheSettings, ScheduledProfile, TargetConfig } from '../config/types.ts';
import { kvBytesPerToken, kvCapacityTokens, sequencesThatFit, shareOfOneMore } from '../engine/kv.ts';
import type { SeriesEstimate } from '../metrics/estimate.ts';
import type { OnlineFacts } from './check-online.ts';
import { humanCount } from './style.ts';

/** What `check` has to show. */
export interface CheckView {
  readonly config: Config;
  readonly warnings: readonly ConfigIssue[];
  readonly series: SeriesEstimate;
  /** By target; empty when nobody was asked. */
  readonly online: ReadonlyMap<string, OnlineFacts>;
}

/** Samples after which the highest one bounds a quantile with 95 % confidence (docs/measurement.md). */
const QUANTILE_SAMPLES = { p95: 59, p99: 299 } as const;

function capacityOf(
  kv: KvCacheSettings | null,
  told: number | null,
): { readonly tokens: number; readonly from: string } | null {
  if (told !== null) return { tokens: told, from: 'as the engine says' };
  if (kv === null) return null;
  if (kv.capacityTokens !== null) return { tokens: kv.capacityTokens, from: 'as configured' };
  const { memoryBytes, layers, kvHeads, headDim, dtypeBytes } = kv;
  if (memoryBytes === null || layers === null || kvHeads === null || headDim === null || dtypeBytes === null)
    return null;
  const geometry = { layers, kvHeads, headDim, bytesPerElement: dtypeBytes };
  return {
    tokens: kvCapacityTokens(memoryBytes, geometry),
    from: `${humanCount(kvBytesPerToken(geometry))} bytes a token`,
  };
}

function describeKv(target: TargetConfig, told: number | null): readonly string[] {
  const capacity = capacityOf(target.kvCache, told);
  if (capacity === null) return [];
  const profiles = target.profiles.map((profile) => {
    const tokens = tokensPerProbe(profile);
    const share = (shareOfOneMore(capacity.tokens, tokens) * 100).toPrecision(2);
    return `    ${profile.profile.name}: ${humanCount(sequencesThatFit(capacity.tokens, tokens))} probes of ${humanCount(tokens)} tokens fit at once; one takes ${share} %`;
  });
  return [`  KV cache: ${humanCount(capacity.tokens)} tokens (${capacity.from})`, ...profiles];
}

function describeProfile(profile: ScheduledProfile, series: number): string {
  const { everySeconds, cron } = profile.timetable;
  const perHour = probesPerHour(profile.timetable) ?? 0;
  const when = everySeconds === null ? `schedule "${cron ?? ''}"` : `every ${formatDuration(everySeconds)}`;
  const after = (samples: number): string =>
    perHour > 0 ? formatDuration(Math.ceil((samples / perHour) * 60) * 60) : 'never';
  const bounds = `p95 after ${after(QUANTILE_SAMPLES.p95)}, p99 after ${after(QUANTILE_SAMPLES.p99)}`;
  return `  ${profile.profile.name}: ${when}, ${humanCount(tokensPerProbe(profile))} tokens a probe, ${series} series; enough probes for ${bounds}`;
}

function describeTarget(target: TargetConfig, view: CheckView): readonly string[] {
  const estimate = view.series.perTarget.find((item) => item.target === target.name);
  const plan = planTokens(target);
  const online = view.online.get(target.name);
  const seriesOf = (name: string): number => estimate?.profiles.find((item) => item.profile === name)?.series ?? 0;
  return [
    `target ${target.name}${target.paused ? ' (paused)' : ''}`,
    ...target.profiles.map((profile) => describeProfile(profile, seriesOf(profile.profile.name))),
    `  tokens: ${humanCount(plan.tokensPerHour)} an hour of ${humanCount(target.budget.tokensPerHour)}, ${humanCount(plan.tokensPerDay)} a day of ${humanCount(target.budget.tokensPerDay)}`,
    `  series: ${estimate?.total ?? 0}, with ${estimate?.engine ?? 0} of the target and its engine`,
    ...describeKv(target, online?.kvCapacityTokens ?? null),
    ...(online?.findings ?? []).map((finding) => `  ${finding.replace(/\p{Cc}/gu, '?')}`),
    ...(online?.warnings ?? []).map((warning) => `  warning: ${warning.replace(/\p{Cc}/gu, '?')}`),
    '',
  ];
}

/** A configuration that can be used, as text: what is weak, what it costs, and what it comes to with all defaults. */
export function renderCheck(view: CheckView): string {
  const { config, warnings, series } = view;
  const tokens = config.targets.map(planTokens).reduce((sum, plan) => sum + plan.tokensPerDay, 0);
  return [
    `configuration ${config.source} can be used${warnings.length === 0 ? '' : `, with ${warnings.length} warning${warnings.length === 1 ? '' : 's'}:`}`,
    ...warnings.map((issue) => `  ${formatIssue(issue)}`),
    '',
    ...config.targets.flatMap((target) => describeTarget(target, view)),
    `in all: ${humanCount(tokens)} tokens a day; ${humanCount(series.total)} series, ${series.exporter} of them of the exporter itself`,
    '',
    'effective configuration (secrets masked):',
    '',
    maskedConfig(config).trimEnd(),
  ].join('\n');
}

import type { BucketSettings, ScheduledProfile, SloName, TargetConfig, Timetable } from '../config/types.ts';
import type { Cause } from '../diagnose/types.ts';
import type { Phase, SkipReason, TokenSource } from '../probe/outcome.ts';
import type { FailureReason } from '../probe/reasons.ts';
import type { Seconds } from '../units.ts';
import { boundsOf, boundsWith } from './bounds.ts';
import type { FamilyDefinition } from './definition.ts';
import { renderLabels } from './exposition.ts';
import {
  type CounterInstrument,
  createCounter,
  createGauge,
  createHistogram,
  createInfo,
  createSummary,
  type GaugeInstrument,
  type HistogramInstrument,
  type InfoInstrument,
  type Instrument,
  type InstrumentContext,
  type SummaryInstrument,
} from './instruments.ts';
import type { Layouts } from './layout.ts';
import { PROBE_FAMILIES as F, type OutcomeLabel, type ProbeFamily } from './probe-families.ts';

/** Families that exist once for each target and profile. */
export type ProfileFamily = {
  [K in ProbeFamily]: (typeof F)[K]['scope'] extends 'profile' ? K : never;
}[ProbeFamily];

/** What is found out about a target only by asking it. */
export interface TargetFacts {
  readonly model: string;
  readonly engine: string;
  readonly api: string;
}

export interface ProfileSeriesOptions {
  readonly target: TargetConfig;
  readonly scheduled: ScheduledProfile;
  readonly buckets: BucketSettings;
  readonly facts: TargetFacts;
}

export interface ProfileSeriesDependencies {
  readonly invalid: () => void;
  readonly layouts: Layouts;
  /** Null when a timetable has no interval that can be told. */
  readonly intervalOf: (timetable: Timetable) => Seconds | null;
}

/** The instruments of one target and profile, by family. */
export interface ProfileInstruments extends Record<ProfileFamily, Instrument> {
  readonly attempts: CounterInstrument<never>;
  readonly warmup: CounterInstrument<OutcomeLabel>;
  readonly failures: CounterInstrument<FailureReason>;
  readonly skipped: CounterInstrument<SkipReason>;
  readonly success: GaugeInstrument<never>;
  readonly lastSuccess: GaugeInstrument<never>;
  readonly lastAttempt: GaugeInstrument<never>;
  readonly ttft: HistogramInstrument<OutcomeLabel>;
  readonly firstContent: HistogramInstrument<never>;
  readonly tpot: HistogramInstrument<never>;
  readonly chunkGap: HistogramInstrument<never>;
  readonly longestGap: HistogramInstrument<never>;
  readonly duration: HistogramInstrument<OutcomeLabel>;
  readonly phases: SummaryInstrument<Phase>;
  readonly outputTokens: CounterInstrument<TokenSource>;
  readonly promptTokens: CounterInstrument<never>;
  readonly cachedPromptTokens: CounterInstrument<never>;
  readonly configuredPromptTokens: GaugeInstrument<never>;
  readonly lastPromptTokens: GaugeInstrument<never>;
  readonly causes: CounterInstrument<Cause>;
  readonly sloEvents: CounterInstrument<SloName>;
  readonly sloGood: CounterInstrument<SloName>;
  readonly sloThreshold: GaugeInstrument<SloName>;
  readonly sloObjective: GaugeInstrument<SloName>;
  readonly interval: GaugeInstrument<never>;
  readonly firstTokenDeadline: GaugeInstrument<never>;
  readonly buffered: CounterInstrument<never>;
  readonly nonconforming: CounterInstrument<never>;
  readonly disturbed: CounterInstrument<never>;
  readonly staleConnections: CounterInstrument<never>;
  readonly fallbacks: CounterInstrument<never>;
  readonly compressed: CounterInstrument<never>;
  readonly scheduleLag: SummaryInstrument<never>;
  readonly targetInfo: InfoInstrument;
  readonly refusedParameter: InfoInstrument;
}

/** All series of one target and profile. */
export interface ProfileSeries {
  readonly instruments: ProfileInstruments;
  readonly options: ProfileSeriesOptions;
  readonly context: InstrumentContext;
}

const equalBounds = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((bound, index) => bound === b[index]);

/** Thresholds are bounds, and the last bound is not below the deadline that censors the values. */
function histogramBounds({ target, scheduled, buckets }: ProfileSeriesOptions) {
  const { deadlines } = scheduled.profile;
  const list = (family: FamilyDefinition): readonly number[] => boundsOf(family.bounds, buckets);
  return {
    ttft: boundsWith(list(F.ttft), [target.slo.ttft.thresholdSeconds], deadlines.firstTokenSeconds),
    tpot: boundsWith(list(F.tpot), [target.slo.tpot.thresholdSeconds], 0),
    gap: boundsWith(list(F.chunkGap), [], 0),
    duration: boundsWith(list(F.duration), [], deadlines.totalSeconds),
  };
}

function createInstruments(
  options: ProfileSeriesOptions,
  context: InstrumentContext,
  old: ProfileInstruments | undefined,
): ProfileInstruments {
  const bounds = histogramBounds(options);
  // Everything counted so far is kept; only a histogram whose bounds changed has to start anew.
  const histogram = <V extends string = never>(
    family: FamilyDefinition,
    wanted: readonly number[],
    kept: HistogramInstrument<V> | undefined,
  ): HistogramInstrument<V> =>
    kept !== undefined && equalBounds(kept.bounds, wanted) ? kept : createHistogram<V>(family, context, wanted);
  return {
    attempts: old?.attempts ?? createCounter<never>(F.attempts, context),
    warmup: old?.warmup ?? createCounter<OutcomeLabel>(F.warmup, context),
    failures: old?.failures ?? createCounter<FailureReason>(F.failures, context),
    skipped: old?.skipped ?? createCounter<SkipReason>(F.skipped, context),
    success: old?.success ?? createGauge<never>(F.success, context),
    lastSuccess: old?.lastSuccess ?? createGauge<never>(F.lastSuccess, context),
    lastAttempt: old?.lastAttempt ?? createGauge<never>(F.lastAttempt, context),
    ttft: histogram<OutcomeLabel>(F.ttft, bounds.ttft, old?.ttft),
    firstContent: histogram(F.firstContent, bounds.ttft, old?.firstContent),
    tpot: histogram(F.tpot, bounds.tpot, old?.tpot),
    chunkGap: histogram(F.chunkGap, bounds.gap, old?.chunkGap),
    longestGap: histogram(F.longestGap, bounds.gap, old?.longestGap),
    duration: histogram<OutcomeLabel>(F.duration, bounds.duration, old?.duration),
    phases: old?.phases ?? createSummary<Phase>(F.phases, context),
    outputTokens: old?.outputTokens ?? createCounter<TokenSource>(F.outputTokens, context),
    promptTokens: old?.promptTokens ?? createCounter<never>(F.promptTokens, context),
    cachedPromptTokens: old?.cachedPromptTokens ?? createCounter<never>(F.cachedPromptTokens, context),
    configuredPromptTokens: createGauge<never>(F.configuredPromptTokens, context),
    lastPromptTokens: old?.lastPromptTokens ?? createGauge<never>(F.lastPromptTokens, context),
    causes: old?.causes ?? createCounter<Cause>(F.causes, context),
    sloEvents: old?.sloEvents ?? createCounter<SloName>(F.sloEvents, context),
    sloGood: old?.sloGood ?? createCounter<SloName>(F.sloGood, context),
    sloThreshold: createGauge<SloName>(F.sloThreshold, context),
    sloObjective: createGauge<SloName>(F.sloObjective, context),
    interval: createGauge<never>(F.interval, context),
    firstTokenDeadline: createGauge<never>(F.firstTokenDeadline, context),
    buffered: old?.buffered ?? createCounter<never>(F.buffered, context),
    nonconforming: old?.nonconforming ?? createCounter<never>(F.nonconforming, context),
    disturbed: old?.disturbed ?? createCounter<never>(F.disturbed, context),
    staleConnections: old?.staleConnections ?? createCounter<never>(F.staleConnections, context),
    fallbacks: old?.fallbacks ?? createCounter<never>(F.fallbacks, context),
    compressed: old?.compressed ?? createCounter<never>(F.compressed, context),
    scheduleLag: old?.scheduleLag ?? createSummary<never>(F.scheduleLag, context),
    targetInfo: createInfo(F.targetInfo, context),
    refusedParameter: old?.refusedParameter ?? createInfo(F.refusedParameter, context),
  };
}

/** Counters and the like know nothing of the configuration: these are what it sets. */
function applySettings(series: ProfileSeries, intervalOf: ProfileSeriesDependencies['intervalOf']): void {
  const { instruments, options } = series;
  const { target, scheduled, facts } = options;
  const { profile, timetable } = scheduled;
  instruments.sloThreshold.set(target.slo.ttft.thresholdSeconds, 'ttft');
  instruments.sloThreshold.set(target.slo.tpot.thresholdSeconds, 'tpot');
  instruments.sloObjective.set(target.slo.availability.objectiveRatio, 'availability');
  instruments.sloObjective.set(target.slo.ttft.objectiveRatio, 'ttft');
  instruments.sloObjective.set(target.slo.tpot.objectiveRatio, 'tpot');
  instruments.firstTokenDeadline.set(profile.deadlines.firstTokenSeconds);
  if (profile.prompt === null) instruments.configuredPromptTokens.set(profile.promptTokens);
  const interval = intervalOf(timetable);
  if (interval !== null) instruments.interval.set(interval);
  instruments.targetInfo.set([
    { engine: facts.engine, api: facts.api, vantage: target.vantage, connection: profile.connection },
  ]);
}

const baseLabels = ({ target, scheduled, facts }: ProfileSeriesOptions): string =>
  renderLabels({ target: target.name, model: facts.model, profile: scheduled.profile.name });

/**
 * Series of one target and profile, all known label sets at 0. `previous`: those of the same target and profile so far;
 * their counts are kept, under the new labels when a model has become known.
 */
export function createProfileSeries(
  options: ProfileSeriesOptions,
  deps: ProfileSeriesDependencies,
  previous: ProfileSeries | null,
): ProfileSeries {
  const context: InstrumentContext = previous?.context ?? {
    base: '',
    invalid: deps.invalid,
    layouts: deps.layouts,
  };
  context.base = baseLabels(options);
  const series = { instruments: createInstruments(options, context, previous?.instruments), options, context };
  applySettings(series, deps.intervalOf);
  return series;
}

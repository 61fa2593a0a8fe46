import { SLO_NAMES } from '../config/types.ts';
import { PHASES, type ProbeOutcome } from '../probe/outcome.ts';
import type { FinishedProbe } from '../record.ts';
import type { ExemplarLabels } from './instruments.ts';
import type { ProfileInstruments, ProfileSeries } from './profile-series.ts';
import { type SloVerdict, sloVerdict } from './slo.ts';

// More refused parameters than a request has fields would be a fault; names come from our own request, not from answers.
const MOST_PARAMETERS = 16;
const PARAMETER = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;

/** The probe behind a sample; a trace exists only where a traceparent was sent. */
const exemplarOf = (outcome: ProbeOutcome, traceparent: boolean): ExemplarLabels =>
  traceparent ? { trace_id: outcome.id, probe_id: outcome.id } : { probe_id: outcome.id };

/** What is counted for every probe, warm-up or not: what it cost and what was odd about it. */
function countAlways(instruments: ProfileInstruments, outcome: ProbeOutcome): void {
  instruments.attempts.add(1);
  instruments.lastAttempt.set(outcome.startedAt);
  if (outcome.outputTokens !== null && outcome.tokenSource !== null) {
    instruments.outputTokens.add(outcome.outputTokens, outcome.tokenSource);
  }
  if (outcome.promptTokens !== null) {
    instruments.promptTokens.add(outcome.promptTokens);
    instruments.lastPromptTokens.set(outcome.promptTokens);
  }
  if (outcome.cachedPromptTokens !== null) instruments.cachedPromptTokens.add(outcome.cachedPromptTokens);
  instruments.nonconforming.add(outcome.nonconformingEvents);
  if (outcome.retriedStaleConnection) instruments.staleConnections.add(1);
  if (outcome.fallback) instruments.fallbacks.add(1);
  if (outcome.compressed) instruments.compressed.add(1);
  const refused = outcome.refusedParameters.filter((name) => PARAMETER.test(name)).slice(0, MOST_PARAMETERS);
  instruments.refusedParameter.set(refused.map((parameter) => ({ parameter })));
}

function lastResult(instruments: ProfileInstruments, { outcome, warmup }: FinishedProbe): void {
  if (outcome.outcome === 'good') {
    instruments.success.set(1);
    instruments.lastSuccess.set(outcome.startedAt);
  } else if (!warmup) {
    instruments.success.set(0);
  }
}

function countSlo(instruments: ProfileInstruments, verdict: SloVerdict): void {
  for (const slo of SLO_NAMES) {
    if (verdict[slo] === 'none') continue;
    instruments.sloEvents.add(1, slo);
    if (verdict[slo] === 'good') instruments.sloGood.add(1, slo);
  }
}

/**
 * TTFT with its failures: before the first token they are entered at the deadline, as a lower bound, so that a quantile
 * over both outcomes does not improve while the service dies.
 */
function observeTtft(
  instruments: ProfileInstruments,
  outcome: ProbeOutcome,
  deadline: number,
  probe: ExemplarLabels,
): void {
  if (outcome.outcome === 'failed') instruments.ttft.observe(outcome.ttftSeconds ?? deadline, 'failure', probe);
  else if (outcome.ttftSeconds !== null) instruments.ttft.observe(outcome.ttftSeconds, 'success', probe);
}

function observeDecode(instruments: ProfileInstruments, outcome: ProbeOutcome, probe: ExemplarLabels): void {
  const { ttftSeconds, ttfcSeconds, tpotSeconds, longestGapSeconds } = outcome;
  if (ttfcSeconds !== null && ttfcSeconds !== ttftSeconds)
    instruments.firstContent.observe(ttfcSeconds, undefined, probe);
  if (outcome.buffered) return;
  if (tpotSeconds !== null) instruments.tpot.observe(tpotSeconds, undefined, probe);
  if (longestGapSeconds !== null) instruments.longestGap.observe(longestGapSeconds, undefined, probe);
  for (const gapSeconds of outcome.gapsSeconds) instruments.chunkGap.observe(gapSeconds);
}

function observeTimes(series: ProfileSeries, outcome: ProbeOutcome, probe: ExemplarLabels): void {
  const { instruments, options } = series;
  observeTtft(instruments, outcome, options.scheduled.profile.deadlines.firstTokenSeconds, probe);
  if (outcome.durationSeconds !== null) {
    instruments.duration.observe(outcome.durationSeconds, outcome.outcome === 'good' ? 'success' : 'failure', probe);
  }
  for (const phase of PHASES) {
    const phaseSeconds = outcome.phases[phase];
    if (phaseSeconds !== null) instruments.phases.observe(phaseSeconds, phase);
  }
  if (outcome.outcome === 'good') observeDecode(instruments, outcome, probe);
}

/** Enters a finished probe into the series of its target and profile (docs/slo.md says what counts where). */
export function observeProbe(series: ProfileSeries, finished: FinishedProbe, traceparent: boolean): void {
  const { instruments, options } = series;
  const { outcome, warmup, diagnosis } = finished;
  countAlways(instruments, outcome);
  lastResult(instruments, finished);
  if (outcome.disturbed) instruments.disturbed.add(1);
  if (outcome.buffered) instruments.buffered.add(1);
  if (warmup) {
    instruments.warmup.add(1, outcome.outcome === 'good' ? 'success' : 'failure');
    return;
  }
  const probe = exemplarOf(outcome, traceparent);
  if (outcome.outcome === 'failed') instruments.failures.add(1, outcome.failure.reason, probe);
  if (diagnosis !== null) instruments.causes.add(1, diagnosis.cause);
  countSlo(instruments, sloVerdict(finished, options.target.slo));
  const ours = outcome.outcome === 'failed' && outcome.failure.side === 'probe';
  if (!ours && !outcome.disturbed) observeTimes(series, outcome, probe);
}

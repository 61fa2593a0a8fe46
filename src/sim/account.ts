import { elapsed, type MonotonicInstant, type Seconds } from '../units.ts';
import type { Sequence } from './sequence.ts';
import type { StatisticsRecorder } from './statistics.ts';
import type { SimFinishReason, SimResult } from './types.ts';

const span = (from: MonotonicInstant | null, to: MonotonicInstant | null): Seconds | null =>
  from === null || to === null ? null : elapsed(from, to);

export function resultOf(sequence: Sequence, finishReason: SimFinishReason | null): SimResult {
  const { arrivedAt, admittedAt, firstTokenAt, lastTokenAt } = sequence;
  return {
    finishReason,
    promptTokens: sequence.promptTokens,
    cachedTokens: sequence.cachedTokens ?? 0,
    completionTokens: sequence.generated,
    preemptions: sequence.preemptions,
    queueSeconds: span(arrivedAt, admittedAt),
    prefillSeconds: span(admittedAt, firstTokenAt),
    decodeSeconds: span(firstTokenAt, lastTokenAt),
    ttftSeconds: span(arrivedAt, firstTokenAt),
    e2eSeconds: span(arrivedAt, lastTokenAt),
  };
}

/** First admission: the prefix cache was asked for the prompt. Coming back after a preemption is not asked again. */
export function accountAdmission(statistics: StatisticsRecorder, sequence: Sequence, prefixCaching: boolean): void {
  if (!prefixCaching) return;
  statistics.add('prefixCacheQueries', sequence.promptTokens);
  statistics.add('prefixCacheHits', sequence.cachedTokens ?? 0);
}

/** One token came out at `now`. The prompt is counted with the first one, so a prompt computed twice counts once. */
export function accountToken(statistics: StatisticsRecorder, sequence: Sequence, now: MonotonicInstant): void {
  statistics.add('generationTokens', 1);
  if (sequence.lastTokenAt !== null) {
    statistics.observe('interTokenSeconds', elapsed(sequence.lastTokenAt, now));
    return;
  }
  statistics.add('promptTokens', sequence.promptTokens);
  statistics.add('cachedPromptTokens', sequence.cachedTokens ?? 0);
  statistics.observe('ttftSeconds', elapsed(sequence.arrivedAt, now));
}

/** A request that ended by itself. One that its client gave up is in no histogram, as with vLLM. */
export function accountFinish(statistics: StatisticsRecorder, sequence: Sequence, maxTokens: number): void {
  const result = resultOf(sequence, sequence.finishReason);
  const decode = result.decodeSeconds ?? 0;
  statistics.add(sequence.finishReason === 'stop' ? 'finishedStop' : 'finishedLength', 1);
  statistics.observe('requestPromptTokens', result.promptTokens);
  statistics.observe('requestGenerationTokens', result.completionTokens);
  statistics.observe('requestMaxTokens', maxTokens);
  statistics.observe('requestComputedPrefillTokens', result.promptTokens - result.cachedTokens);
  // vLLM observes 0 for an answer of one token.
  statistics.observe('requestTpotSeconds', result.completionTokens > 1 ? decode / (result.completionTokens - 1) : 0);
  statistics.observe('requestPreemptions', result.preemptions);
  statistics.observe('queueSeconds', result.queueSeconds ?? 0);
  statistics.observe('prefillSeconds', result.prefillSeconds ?? 0);
  statistics.observe('decodeSeconds', decode);
  statistics.observe('inferenceSeconds', (result.prefillSeconds ?? 0) + decode);
  statistics.observe('e2eSeconds', result.e2eSeconds ?? 0);
}

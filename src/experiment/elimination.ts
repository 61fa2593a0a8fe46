import { KV_NEAR_FULL_RATIO } from '../engine/zone.ts';
import { median } from './statistics.ts';
import type { Elimination, EliminationCause, EngineFigures, Summary } from './summary-types.ts';
import type { LoadPlan, RequestRecord } from './types.ts';

/** What the table is made from. */
export interface EliminationInput {
  readonly plan: LoadPlan;
  /** Those of the trimmed window. */
  readonly requests: readonly RequestRecord[];
  readonly summary: Pick<Summary, 'client' | 'requests' | 'engine' | 'output'>;
  readonly restarts: number | null;
}

type Row = Omit<Elimination, 'cause'>;

const OWN_TOKENS = 0.95;
const WAITING_SHARE = 0.1;
const BUFFERED_SHARE = 0.01;
/** The longest gap of an answer, by its own pace: above this another's prefill ran between two of its tokens. */
const BURST_RATIO = 4;
const LEAST_GAPS = 8;
const LENGTH_SPREAD = 0.05;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(1)} %`;
const row = (remains: boolean, evidence: string): Row => ({ verdict: remains ? 'remains' : 'cleared', evidence });
const unknown = (evidence: string): Row => ({ verdict: 'unknown', evidence });

const NO_ENGINE = unknown("the engine's metrics were not read");

/** A row about one figure of the engine, which it may not offer. */
function ofEngine<T>(engine: EngineFigures | null, value: T | null | undefined, rule: (value: T) => Row): Row {
  if (engine === null) return NO_ENGINE;
  return value === null || value === undefined ? unknown('the engine does not say') : rule(value);
}

function prefill(requests: readonly RequestRecord[]): Row {
  const ratios = requests.flatMap(({ outcome, buffered, tpotSeconds, longestGapSeconds, gapsMicroseconds }) =>
    outcome === 'good' && !buffered && tpotSeconds !== null && tpotSeconds > 0 && gapsMicroseconds.length >= LEAST_GAPS
      ? [(longestGapSeconds ?? 0) / tpotSeconds]
      : [],
  );
  const typical = median(ratios);
  if (typical === null) return unknown('no answer was long enough');
  return row(
    typical >= BURST_RATIO,
    `the longest pause within an answer is typically ${typical.toFixed(1)} x its TPOT (limit ${BURST_RATIO})`,
  );
}

function buffering(requests: readonly RequestRecord[]): Row {
  if (requests.length === 0) return unknown('no request');
  const share = requests.filter(({ buffered }) => buffered).length / requests.length;
  return row(share > BUFFERED_SHARE, `${percent(share)} of the answers came in lumps`);
}

function outputLength({ summary: { output }, plan }: EliminationInput): Row {
  const { meanTokens, varianceTokens } = output;
  if (meanTokens === null || meanTokens === 0) return unknown('no answer');
  const spread = Math.sqrt(varianceTokens ?? 0) / meanTokens;
  return row(
    spread > LENGTH_SPREAD || meanTokens > plan.maxOutputTokens,
    `${meanTokens.toFixed(1)} tokens on average of at most ${plan.maxOutputTokens}, spread ${percent(spread)}`,
  );
}

function rowOf(cause: EliminationCause, input: EliminationInput): Row {
  const { summary, requests } = input;
  const { client, engine } = summary;
  const { failed, sent } = summary.requests;
  switch (cause) {
    case 'client':
      return row(
        client.limited,
        client.limited
          ? client.reasons.join('; ')
          : `event loop busy ${client.cpuMean === null ? 'unknown' : percent(client.cpuMean)}, never the limit`,
      );
    case 'failures':
      return row(failed > 0, `${failed} of ${sent} requests failed`);
    case 'other_load':
      return ofEngine(engine, engine?.ownTokensRatio, (ratio) =>
        row(ratio < OWN_TOKENS, `${percent(ratio)} of the tokens that the engine generated arrived here`),
      );
    case 'engine_restart':
      return ofEngine(engine, input.restarts, (restarts) => row(restarts > 0, `${restarts} restarts`));
    case 'preemption':
      return ofEngine(engine, engine?.preemptions, (count) => row(count > 0, `${count} preemptions`));
    case 'kv_pressure':
      return ofEngine(engine, engine?.kvUsageRatio.peak, (peak) =>
        row(peak >= KV_NEAR_FULL_RATIO, `KV cache at most ${percent(peak)} used`),
      );
    case 'queueing':
      return ofEngine(engine, engine?.waitingShare, (share) =>
        row(
          share >= WAITING_SHARE,
          `requests waiting in ${percent(share)} of the polls, at most ${engine?.waiting.peak ?? 0}`,
        ),
      );
    case 'prefill_contention':
      return prefill(requests);
    case 'buffering':
      return buffering(requests);
    case 'output_length':
      return outputLength(input);
  }
}

/**
 * The table of elimination: for each thing that can spoil or explain the figures of a run, whether it was there. What is
 * cleared needs no further look; what remains is where to look first.
 */
export const eliminate = (causes: readonly EliminationCause[], input: EliminationInput): Elimination[] =>
  causes.map((cause) => ({ cause, ...rowOf(cause, input) }));

import { increaseOf } from '../engine/increase.ts';
import type { EngineSample } from '../engine/types.ts';
import { decideZone } from '../engine/zone.ts';
import { monotonicInstant } from '../units.ts';
import { mean } from './statistics.ts';
import { ownLatencies } from './summary-own.ts';
import type { EngineFigures, GaugeFigures } from './summary-types.ts';
import type { EngineRecord, RequestRecord } from './types.ts';
import { inside, type Span, tokensBetween } from './window.ts';

type Counter = 'preemptions' | 'promptTokens' | 'generationTokens' | 'prefixQueries' | 'prefixHits' | 'restarts';
type Gauge = 'kvUsageRatio' | 'running' | 'waiting';

const known = (records: readonly EngineRecord[], gauge: Gauge): number[] =>
  records.flatMap((record) => record[gauge] ?? []);

/** Not Math.max(...values): a long run has more values than a call may have arguments. */
const largest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);

export const peakOf = (records: readonly EngineRecord[], gauge: Gauge): number | null => largest(known(records, gauge));

function gaugeFigures(records: readonly EngineRecord[], gauge: Gauge): GaugeFigures {
  const values = known(records, gauge);
  return { peak: largest(values), mean: mean(values) };
}

/**
 * Good polls of the span with the last one before it: an increase needs the value from which it rose. Polls are a second
 * apart, so that a counter's increase is about a span that may be off by that much at each end.
 */
export function pollsOf(records: readonly EngineRecord[], span: Span): EngineRecord[] {
  const good = records.filter((record) => record.up);
  const before = good.findLast((record) => record.atSeconds <= span.fromSeconds);
  return [...(before === undefined ? [] : [before]), ...good.filter(({ atSeconds }) => inside(span, atSeconds))];
}

/** See `increaseOf`. */
export const increase = (polls: readonly EngineRecord[], counter: Counter): number | null =>
  increaseOf(polls.map((record) => record[counter]));

const toSample = (record: EngineRecord): EngineSample => ({
  at: monotonicInstant(record.atSeconds),
  up: record.up,
  kvUsageRatio: record.kvUsageRatio,
  running: record.running,
  waiting: record.waiting,
  preemptions: record.preemptions,
  generationTokens: record.generationTokens,
  promptTokens: record.promptTokens,
  restarts: record.restarts,
  hung: false,
  asleep: false,
});

function prefixHitRatio(polls: readonly EngineRecord[]): number | null {
  const [queries, hits] = [increase(polls, 'prefixQueries'), increase(polls, 'prefixHits')];
  return queries === null || hits === null || queries === 0 ? null : hits / queries;
}

/** Tokens that arrived here by those that the engine counted between the same two polls; null when that is unknown. */
function ownTokensRatio(polls: readonly EngineRecord[], requests: readonly RequestRecord[]): number | null {
  const [first] = polls;
  const last = polls.findLast((record) => record.generationTokens !== null);
  const generated = increase(polls, 'generationTokens');
  if (first === undefined || last === undefined || generated === null || generated === 0) return null;
  return tokensBetween(requests, { fromSeconds: first.atSeconds, toSeconds: last.atSeconds }) / generated;
}

/** `requests`: all of the run. Null when the engine was not read at all. */
export function engineFigures(
  records: readonly EngineRecord[],
  span: Span,
  requests: readonly RequestRecord[],
): EngineFigures | null {
  const within = records.filter((record) => inside(span, record.atSeconds));
  if (within.length === 0) return null;
  const good = within.filter((record) => record.up);
  const polls = pollsOf(records, span);
  const waiting = known(good, 'waiting');
  return {
    polls: good.length,
    failedPolls: within.length - good.length,
    kvUsageRatio: gaugeFigures(good, 'kvUsageRatio'),
    running: gaugeFigures(good, 'running'),
    waiting: gaugeFigures(good, 'waiting'),
    waitingShare: waiting.length === 0 ? null : waiting.filter((value) => value > 0).length / waiting.length,
    preemptions: increase(polls, 'preemptions'),
    promptTokens: increase(polls, 'promptTokens'),
    generationTokens: increase(polls, 'generationTokens'),
    prefixHitRatio: prefixHitRatio(polls),
    ownTokensRatio: ownTokensRatio(polls, requests),
    ownLatencies: ownLatencies(polls, requests),
    zone: decideZone(polls.map(toSample), null),
  };
}

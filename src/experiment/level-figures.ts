import type { LevelFigures } from './knee.ts';
import { median, repeatSpread } from './statistics.ts';
import type { Summary } from './summary-types.ts';

/** The figures of a run that decide on the knee. */
export function figuresOf(level: number, summary: Summary): LevelFigures {
  const { ttft, tpot, engine, requests, throughput } = summary;
  return {
    level,
    outputTokensPerSecond: throughput.outputTokensPerSecond,
    ttftP99Seconds: ttft.withFailures.p99.seconds,
    ttftP50Seconds: ttft.withFailures.p50.seconds,
    tpotP50Seconds: tpot.withoutFailures.p50.seconds,
    waitingShare: engine?.waitingShare ?? null,
    waitingSamples: engine?.waitingShare == null ? null : Math.round(engine.waitingShare * engine.polls),
    preemptions: engine?.preemptions ?? null,
    failedRatio: requests.failedRatio?.centre ?? 1,
    clientLimited: summary.client.limited,
  };
}

const medianOf = (runs: readonly LevelFigures[], read: (run: LevelFigures) => number | null): number | null =>
  median(runs.flatMap((run) => read(run) ?? []));

/**
 * The repeats of one level as one: the median of each figure. Runs that the client limited are left out; null when no
 * other is there.
 */
export function medianFigures(runs: readonly LevelFigures[]): LevelFigures | null {
  const valid = runs.filter((run) => !run.clientLimited);
  const first = valid[0];
  const tokens = medianOf(valid, (run) => run.outputTokensPerSecond);
  if (first === undefined || tokens === null || tokens <= 0) return null;
  return {
    level: first.level,
    outputTokensPerSecond: tokens,
    ttftP99Seconds: medianOf(valid, (run) => run.ttftP99Seconds),
    ttftP50Seconds: medianOf(valid, (run) => run.ttftP50Seconds),
    tpotP50Seconds: medianOf(valid, (run) => run.tpotP50Seconds),
    waitingShare: medianOf(valid, (run) => run.waitingShare),
    waitingSamples: medianOf(valid, (run) => run.waitingSamples),
    preemptions: medianOf(valid, (run) => run.preemptions),
    failedRatio: medianOf(valid, (run) => run.failedRatio) ?? 1,
    clientLimited: false,
  };
}

export const throughputsOf = (runs: readonly LevelFigures[]): readonly number[] =>
  runs.map((run) => run.outputTokensPerSecond);

/** Of runs that the client did not limit. */
export const throughputSpread = (runs: readonly LevelFigures[]): number | null => repeatSpread(throughputsOf(runs));

import { change } from './noise.ts';

/**
 * Where an engine is used well: the knee of the throughput-latency curve, by what the engine itself says.
 *
 * Axis A (concurrency on a fixed configuration). A level is *saturated* when requests were seen waiting in at least a
 * tenth of the engine's samples and in two of them, or when it preempted: in a short window one sample is a tenth, and a
 * request that arrives waits for the end of a step even in an idle engine. Throughput *flattens* after a level when the step to the next one
 * brings less than half of what the added concurrency asks for (elasticity below 0.5).
 * The knee is the first saturated level at which nothing was preempted and after which throughput flattens. Where that
 * level brings less than 5 % more throughput than the one before, its queue buys nothing, and the knee is the one before.
 * Where preemption comes at once, it is the last level without it. Without any saturated level there is no knee in the
 * range.
 *
 * Axis B (a start parameter under fixed load). A value is past the knee when it brings less than 5 % more throughput
 * than the one before while p99 of TTFT grows by more than 20 %; the knee is the value before.
 */
export interface LevelFigures {
  readonly level: number;
  readonly outputTokensPerSecond: number;
  /** Null when there are too few samples for it. */
  readonly ttftP99Seconds: number | null;
  readonly ttftP50Seconds: number | null;
  readonly tpotP50Seconds: number | null;
  /** Share of the engine's samples in which requests were waiting; null when the engine does not say. */
  readonly waitingShare: number | null;
  /** The same as a number of samples. */
  readonly waitingSamples: number | null;
  /** Null when the engine does not count them. */
  readonly preemptions: number | null;
  readonly failedRatio: number;
  /** The client itself was the limit: not a result. */
  readonly clientLimited: boolean;
}

export type KneeVerdict =
  | { readonly kind: 'found'; readonly level: number; readonly why: string }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'below_range'; readonly why: string };

const WAITING_SHARE = 0.1;
const WAITING_SAMPLES = 2;
const FLAT_ELASTICITY = 0.5;

/** Growth of throughput for growth of concurrency: 1 is linear, 0 is flat. */
export function elasticity(from: LevelFigures, to: LevelFigures): number {
  const levels = Math.log(to.level / from.level);
  const throughput = Math.log(to.outputTokensPerSecond / from.outputTokensPerSecond);
  return levels === 0 ? 0 : throughput / levels;
}

const preempted = (figures: LevelFigures): boolean => (figures.preemptions ?? 0) > 0;
const waits = ({ waitingShare, waitingSamples }: LevelFigures): boolean =>
  (waitingShare ?? 0) >= WAITING_SHARE && (waitingSamples ?? WAITING_SAMPLES) >= WAITING_SAMPLES;

/** An engine that tells nothing of its queue: only the shape of the curve is left. */
const silent = (levels: readonly LevelFigures[]): boolean =>
  levels.every((figures) => figures.waitingShare === null && figures.preemptions === null);

/** Flattening after level `index`; after the last level the step that led to it has to do. */
function flattensAfter(levels: readonly LevelFigures[], index: number): boolean {
  const here = levels[index];
  const next = levels[index + 1];
  const before = levels[index - 1];
  if (here && next) return elasticity(here, next) < FLAT_ELASTICITY;
  return here !== undefined && before !== undefined && elasticity(before, here) < FLAT_ELASTICITY;
}

/** Less than this is not worth the latency that it costs. */
const MIN_THROUGHPUT_GAIN = 0.05;
const gainOf = (from: LevelFigures, to: LevelFigures): number =>
  to.outputTokensPerSecond / from.outputTokensPerSecond - 1;

function kneeByShape(levels: readonly LevelFigures[]): KneeVerdict {
  const index = levels.findIndex((_, at) => at < levels.length - 1 && flattensAfter(levels, at));
  const knee = levels[index];
  return knee
    ? {
        kind: 'found',
        level: knee.level,
        why: 'throughput flattens after it; the engine tells nothing of its queue, so this is from the curve alone',
      }
    : { kind: 'none', why: 'throughput still grows with every level; the engine tells nothing of its queue' };
}

const NOTHING = 'no run gave a valid result';

/** Levels ascending. Levels that the client limited must be left out before. */
export function findKnee(levels: readonly LevelFigures[]): KneeVerdict {
  if (levels.length === 0) return { kind: 'none', why: NOTHING };
  if (levels.length < 2) return { kind: 'none', why: 'a knee needs at least two levels with a valid result' };
  if (silent(levels)) return kneeByShape(levels);
  for (const [index, here] of levels.entries()) {
    if (preempted(here)) {
      const before = levels[index - 1];
      if (!before) return { kind: 'below_range', why: `already at ${here.level} the engine preempts` };
      return {
        kind: 'found',
        level: before.level,
        why: `the last level without preemptions; at ${here.level} there were ${here.preemptions ?? 0}`,
      };
    }
    if (waits(here) && flattensAfter(levels, index)) {
      const before = levels[index - 1];
      if (!before) return { kind: 'below_range', why: `already at ${here.level} requests wait and throughput is flat` };
      const waiting = `${percent(here.waitingShare)} of the samples`;
      const gain = gainOf(before, here);
      if (gain < MIN_THROUGHPUT_GAIN) {
        return {
          kind: 'found',
          level: before.level,
          why: `the last level before requests wait; at ${here.level} they do (${waiting}), for ${change(gain)} of throughput`,
        };
      }
      return {
        kind: 'found',
        level: here.level,
        why: `requests begin to wait (${waiting}), throughput flattens, and nothing is preempted`,
      };
    }
  }
  return {
    kind: 'none',
    why: levels.some(waits)
      ? 'requests wait, but throughput still grows with every level'
      : 'no request waited at any level: the whole range is underload',
  };
}

const MAX_TTFT_GROWTH = 0.2;

/** Axis B: values in the order in which they were tried, the engine started anew for each. */
export function findKneeOfParameter(values: readonly LevelFigures[]): KneeVerdict {
  if (values.length === 0) return { kind: 'none', why: NOTHING };
  if (values.length < 2) return { kind: 'none', why: 'a knee needs at least two values with a valid result' };
  for (let index = 1; index < values.length; index += 1) {
    const before = values[index - 1];
    const here = values[index];
    if (!before || !here || before.ttftP99Seconds === null || here.ttftP99Seconds === null) continue;
    const gain = gainOf(before, here);
    const growth = here.ttftP99Seconds / before.ttftP99Seconds - 1;
    if (gain < MIN_THROUGHPUT_GAIN && growth > MAX_TTFT_GROWTH) {
      return {
        kind: 'found',
        level: before.level,
        why: `${here.level} brings ${percent(gain)} throughput and ${percent(growth)} more TTFT p99`,
      };
    }
  }
  const unknown = values.filter((figures) => figures.ttftP99Seconds === null).map((figures) => figures.level);
  return {
    kind: 'none',
    why:
      unknown.length === 0
        ? 'no value bought less than 5 % throughput with more than 20 % TTFT p99'
        : `p99 of TTFT is not known at ${unknown.join(', ')}: fewer than 100 requests in a window, so lengthen it`,
  };
}

const percent = (ratio: number | null): string => (ratio === null ? 'unknown' : `${(ratio * 100).toFixed(1)} %`);

/** Which level to run at, by what is wanted most. Null where the range holds no such level. */
export interface WorkingPoints {
  /**
   * Left of the knee, with margin: the level before the knee, or the lowest. Of a start parameter, the value with the
   * lowest TTFT: a smaller one may only make more requests wait.
   */
  readonly latencyFirst: number | null;
  /** The knee itself, or the highest sound level where there is none. */
  readonly throughputFirst: number | null;
  /** The highest level that holds the objectives with at most 1 % failures. */
  readonly withinSlo: number | null;
}

export interface SloBounds {
  readonly ttftSeconds: number | null;
  readonly tpotSeconds: number | null;
}

const MAX_FAILED_RATIO = 0.01;
const isSound = (figures: LevelFigures): boolean => !preempted(figures) && figures.failedRatio <= MAX_FAILED_RATIO;

/** Too few samples for a p99 do not prove that the objective holds. */
function holds(figures: LevelFigures, slo: SloBounds): boolean {
  const ttft =
    slo.ttftSeconds === null || (figures.ttftP99Seconds !== null && figures.ttftP99Seconds <= slo.ttftSeconds);
  const tpot =
    slo.tpotSeconds === null || (figures.tpotP50Seconds !== null && figures.tpotP50Seconds <= slo.tpotSeconds);
  return ttft && tpot && figures.failedRatio <= MAX_FAILED_RATIO;
}

/** The value of a start parameter with the lowest TTFT, beyond the knee left out; p50 where not every value has a p99. */
function fastestValue(values: readonly LevelFigures[], knee: KneeVerdict): number | null {
  const sound = values.filter(isSound);
  const end = knee.kind === 'found' ? sound.findIndex((figures) => figures.level === knee.level) : -1;
  const usable = end < 0 ? sound : sound.slice(0, end + 1);
  const hasTail = usable.every((figures) => figures.ttftP99Seconds !== null);
  const ttft = (figures: LevelFigures): number =>
    (hasTail ? figures.ttftP99Seconds : figures.ttftP50Seconds) ?? Number.POSITIVE_INFINITY;
  return usable.toSorted((a, b) => ttft(a) - ttft(b))[0]?.level ?? null;
}

export function workingPoints(
  levels: readonly LevelFigures[],
  knee: KneeVerdict,
  slo: SloBounds | null,
): WorkingPoints {
  const at = knee.kind === 'found' ? levels.findIndex((figures) => figures.level === knee.level) : -1;
  const sound = levels.filter(isSound);
  const within = slo === null ? [] : levels.filter((figures) => holds(figures, slo));
  return {
    latencyFirst: knee.kind === 'found' ? (levels[Math.max(0, at - 1)]?.level ?? null) : (sound[0]?.level ?? null),
    throughputFirst: knee.kind === 'found' ? knee.level : knee.kind === 'none' ? (sound.at(-1)?.level ?? null) : null,
    withinSlo: within.at(-1)?.level ?? null,
  };
}

/** The same of the values of a start parameter. */
export const workingPointsOfParameter = (
  values: readonly LevelFigures[],
  knee: KneeVerdict,
  slo: SloBounds | null,
): WorkingPoints => ({ ...workingPoints(values, knee, slo), latencyFirst: fastestValue(values, knee) });

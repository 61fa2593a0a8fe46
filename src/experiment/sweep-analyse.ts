import {
  findKnee,
  findKneeOfParameter,
  type KneeVerdict,
  type LevelFigures,
  type WorkingPoints,
  workingPoints,
  workingPointsOfParameter,
} from './knee.ts';
import { figuresOf, medianFigures, throughputSpread, throughputsOf } from './level-figures.ts';
import { type Difference, differenceOf } from './noise.ts';
import type { Summary } from './summary-types.ts';
import type { PromptSize, SweepPlan } from './sweep-types.ts';

/** What was measured at one level (or value), whether usable or not. */
export interface MeasuredLevel {
  readonly value: number;
  readonly runs: readonly { readonly repeat: number; readonly summary: Summary; readonly complete: boolean }[];
}

export interface AnalysedLevel {
  readonly value: number;
  /** Complete runs. */
  readonly complete: number;
  /** Of those the ones that the client did not limit: what every figure is made of. */
  readonly summaries: readonly Summary[];
  readonly runs: readonly LevelFigures[];
  /** Median of the valid repeats; null when the client limited all of them, or none got through. */
  readonly figures: LevelFigures | null;
  /** (max - min) / median of the throughput. */
  readonly spread: number | null;
  /** Throughput against the level before, and whether the noise of the repeats lets that be a difference. */
  readonly gain: Difference | null;
  readonly unusable: readonly string[];
}

export interface AnalysedPrompt {
  readonly prompt: PromptSize;
  readonly levels: readonly AnalysedLevel[];
  readonly knee: KneeVerdict;
  /** The knee by each repeat alone; null where that repeat shows none. */
  readonly kneeByRepeat: readonly (number | null)[];
  readonly points: WorkingPoints;
}

const find = (plan: SweepPlan, levels: readonly LevelFigures[]): KneeVerdict =>
  plan.axis.kind === 'concurrency' ? findKnee(levels) : findKneeOfParameter(levels);

function whyUnusable(level: MeasuredLevel): readonly string[] {
  return level.runs.flatMap(({ repeat, summary, complete }) => {
    if (!complete) return [`repeat ${repeat} was cut short`];
    if (summary.client.limited) return [`repeat ${repeat} was limited by the client`];
    return summary.throughput.outputTokensPerSecond > 0 ? [] : [`repeat ${repeat} made no output`];
  });
}

function analyseLevels(levels: readonly MeasuredLevel[]): readonly AnalysedLevel[] {
  const analysed: AnalysedLevel[] = [];
  for (const level of levels) {
    const complete = level.runs.filter((run) => run.complete).map((run) => run.summary);
    const summaries = complete.filter((summary) => !summary.client.limited);
    const runs = summaries.map((summary) => figuresOf(level.value, summary));
    const before = analysed.at(-1);
    analysed.push({
      value: level.value,
      complete: complete.length,
      summaries,
      runs,
      figures: medianFigures(runs),
      spread: throughputSpread(runs),
      gain: before === undefined ? null : differenceOf(throughputsOf(before.runs), throughputsOf(runs)),
      unusable: whyUnusable(level),
    });
  }
  return analysed;
}

function kneesByRepeat(plan: SweepPlan, levels: readonly MeasuredLevel[]): readonly (number | null)[] {
  const knees: (number | null)[] = [];
  for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
    const runs = levels.flatMap((level) =>
      level.runs
        .filter((run) => run.repeat === repeat && run.complete)
        .flatMap((run) => medianFigures([figuresOf(level.value, run.summary)]) ?? []),
    );
    if (runs.length < 2) continue;
    const knee = find(plan, runs);
    knees.push(knee.kind === 'found' ? knee.level : null);
  }
  return knees;
}

/** Levels ascending. */
export function analysePrompt(plan: SweepPlan, prompt: PromptSize, measured: readonly MeasuredLevel[]): AnalysedPrompt {
  const levels = analyseLevels(measured);
  const figures = levels.flatMap((level) => level.figures ?? []);
  const knee = find(plan, figures);
  const { ttftSeconds, tpotSeconds } = plan.load.slo;
  const slo = ttftSeconds === null && tpotSeconds === null ? null : { ttftSeconds, tpotSeconds };
  const pointsOf = plan.axis.kind === 'concurrency' ? workingPoints : workingPointsOfParameter;
  return {
    prompt,
    levels,
    knee,
    kneeByRepeat: kneesByRepeat(plan, measured),
    points: pointsOf(figures, knee, slo),
  };
}

import { sleep } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import { seconds } from '../units.ts';
import type { EngineCommand, RunningEngine } from './engine-process.ts';
import type { ExperimentFolder } from './experiment-folder.ts';
import type { LevelFigures } from './knee.ts';
import { figuresOf } from './level-figures.ts';
import type { LoadRequest } from './load-types.ts';
import { type CellDependencies, measureCell } from './measure-cell.ts';
import { overloadedBy } from './overload.ts';
import { shuffled } from './shuffle.ts';
import { sweepCell } from './sweep-cells.ts';
import type { ConcurrencyAxis, ParameterAxis, PromptSize, SweepPlan } from './sweep-types.ts';

export interface SweepDependencies extends CellDependencies {
  readonly startEngine: (command: EngineCommand) => Promise<RunningEngine>;
}

interface Sweep {
  readonly plan: SweepPlan;
  readonly request: LoadRequest;
  readonly folder: ExperimentFolder;
  readonly deps: SweepDependencies;
}

/** One run: a prompt size at a level, or at the fixed load of axis B. */
async function measure(
  sweep: Sweep,
  prompt: PromptSize,
  value: number,
  repeat: number,
  concurrency: number,
): Promise<LevelFigures | null> {
  const { plan, request, folder, deps } = sweep;
  const summary = await measureCell(
    {
      name: sweepCell(plan, prompt, value, repeat),
      request: {
        ...request,
        promptTokens: prompt.promptTokens,
        arrival: { kind: 'closed', concurrency },
        // The same prompts in each repeat would be in the prefix cache from the second on.
        seed: `${plan.seed}/${prompt.name}/${value}/${repeat}`,
      },
    },
    folder,
    deps,
  );
  return summary === null ? null : figuresOf(value, summary);
}

const coolDown = ({ plan, deps }: Sweep): Promise<void> =>
  sleep(deps.clock, seconds(plan.cooldownSeconds), deps.signal);

/** Levels in ascending order until the list or the engine ends; returns those that were tried. */
async function climb(sweep: Sweep, axis: ConcurrencyAxis, prompt: PromptSize): Promise<readonly number[]> {
  const tried: number[] = [];
  const figures: LevelFigures[] = [];
  const next = (): number | undefined => {
    if (axis.levels !== null) return axis.levels[tried.length];
    const level = axis.from * 2 ** tried.length;
    return level <= axis.to ? level : undefined;
  };
  for (let level = next(); level !== undefined && !sweep.deps.signal.aborted; level = next()) {
    if (tried.length > 0) await coolDown(sweep);
    tried.push(level);
    const found = await measure(sweep, prompt, level, 1, level);
    if (found !== null) figures.push(found);
    const reason = axis.levels === null ? overloadedBy(figures) : null;
    if (reason !== null) {
      sweep.deps.say(`${prompt.name}: no higher level, ${reason}`);
      break;
    }
  }
  return tried;
}

async function sweepConcurrency(sweep: Sweep, axis: ConcurrencyAxis): Promise<void> {
  const { plan, deps } = sweep;
  for (const prompt of plan.prompts) {
    const levels = await climb(sweep, axis, prompt);
    for (let repeat = 2; repeat <= plan.repeats; repeat += 1) {
      // In another order each time, so that a drift of the machine does not look like an effect of the level.
      for (const level of shuffled(levels, `${plan.seed}/${prompt.name}/${repeat}`)) {
        if (deps.signal.aborted) return;
        await coolDown(sweep);
        await measure(sweep, prompt, level, repeat, level);
      }
    }
  }
}

/** One start of the engine: every prompt size is measured under it. */
async function underValue(sweep: Sweep, axis: ParameterAxis, value: number, repeat: number): Promise<void> {
  const { plan, folder, deps } = sweep;
  const name = `value-${value} repeat-${repeat}`;
  deps.say(`${name}: starting the engine`);
  let engine: RunningEngine;
  try {
    engine = await deps.startEngine({
      command: axis.command.replaceAll('{value}', String(value)),
      url: plan.url,
      readySeconds: axis.readySeconds,
      stopSeconds: axis.stopSeconds,
      logFile: `${folder.path}/engine-${value}-${repeat}.log`,
    });
  } catch (error) {
    if (!(error instanceof ProbeExporterError) || error.code !== 'USAGE') throw error;
    if (deps.signal.aborted) return;
    folder.note({ cell: name, message: error.message });
    deps.say(`${name}: ${error.message}`);
    return;
  }
  try {
    for (const prompt of plan.prompts) await measure(sweep, prompt, value, repeat, plan.load.concurrency);
  } finally {
    const ended = engine.ended();
    if (ended !== null) folder.note({ cell: name, message: `the engine ended by itself (${ended})` });
    deps.say(`${name}: stopping the engine`);
    await engine.stop();
  }
}

async function sweepParameter(sweep: Sweep, axis: ParameterAxis, done: (value: number, repeat: number) => boolean) {
  const { plan, deps } = sweep;
  for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
    const order = repeat === 1 ? axis.values : shuffled(axis.values, `${plan.seed}/${repeat}`);
    for (const value of order) {
      if (deps.signal.aborted) return;
      // An engine takes minutes to start: not for cells that are there already.
      if (done(value, repeat)) continue;
      await underValue(sweep, axis, value, repeat);
      await coolDown(sweep);
    }
  }
}

/**
 * Runs a sweep as far as it is not measured yet. Ends early, with what there is, when the signal aborts.
 *
 * @param done whether all cells of a value and repeat are complete
 */
export async function runSweep(
  plan: SweepPlan,
  request: LoadRequest,
  folder: ExperimentFolder,
  deps: SweepDependencies,
  done: (value: number, repeat: number) => boolean,
): Promise<void> {
  const sweep: Sweep = { plan, request, folder, deps };
  if (plan.axis.kind === 'concurrency') await sweepConcurrency(sweep, plan.axis);
  else await sweepParameter(sweep, plan.axis, done);
}

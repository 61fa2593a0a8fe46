import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { analyseLevel, type ComparedLevel, type MeasuredCell } from './compare-analyse.ts';
import { compareCell, setupsOf } from './compare-order.ts';
import type { ComparePlan, Setup } from './compare-types.ts';
import { readRun } from './read-run.ts';
import { summarise } from './summary.ts';
import type { Summary } from './summary-types.ts';
import type { RunMetadata } from './types.ts';

export interface ReadComparison {
  readonly plan: ComparePlan;
  readonly levels: readonly ComparedLevel[];
  readonly measured: number;
  readonly planned: number;
  /** Metadata of one run of each engine. */
  readonly examples: Readonly<Record<string, RunMetadata>>;
}

/** A comparison from the records of its runs, as far as they are there. */
export function readComparison(path: string, plan: ComparePlan): ReadComparison {
  const examples: Record<string, RunMetadata> = {};
  let measured = 0;
  const read = (setup: Setup, level: number): MeasuredCell => {
    const summaries: Summary[] = [];
    for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
      const folder = join(path, 'runs', compareCell(setup, level, repeat));
      if (!existsSync(join(folder, 'metadata.json'))) continue;
      const run = readRun(folder);
      if (run.metadata.ended !== 'complete') continue;
      examples[setup.engine.name] ??= run.metadata;
      summaries.push(summarise(run));
      measured += 1;
    }
    return { engine: setup.engine.name, states: setup.states, summaries };
  };
  const setups = setupsOf(plan);
  const levels = plan.levels.map((level) =>
    analyseLevel(
      plan,
      level,
      setups.map((setup) => read(setup, level)),
    ),
  );
  return { plan, levels, measured, planned: setups.length * plan.levels.length * plan.repeats, examples };
}

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readMetadata, readRun } from './read-run.ts';
import { summarise } from './summary.ts';
import { type AnalysedPrompt, analysePrompt, type MeasuredLevel } from './sweep-analyse.ts';
import { sweepCell, triedValues } from './sweep-cells.ts';
import type { PromptSize, SweepPlan } from './sweep-types.ts';
import type { RunMetadata } from './types.ts';

export interface ReadSweep {
  readonly plan: SweepPlan;
  readonly prompts: readonly AnalysedPrompt[];
  /** Metadata of the run that began first: engine, machine, versions. */
  readonly example: RunMetadata | null;
}

function readLevel(path: string, plan: SweepPlan, prompt: PromptSize, value: number): MeasuredLevel {
  const runs: MeasuredLevel['runs'][number][] = [];
  for (let repeat = 1; repeat <= plan.repeats; repeat += 1) {
    const folder = join(path, 'runs', sweepCell(plan, prompt, value, repeat));
    if (!existsSync(join(folder, 'metadata.json'))) continue;
    const run = readRun(folder);
    runs.push({ repeat, summary: summarise(run), complete: run.metadata.ended === 'complete' });
  }
  return { value, runs };
}

function firstMetadata(path: string): RunMetadata | null {
  const all = readdirSync(join(path, 'runs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => basename(name) === 'metadata.json')
    .map((name) => readMetadata(dirname(join(path, 'runs', name))));
  return all.reduce<RunMetadata | null>(
    (first, one) => (first === null || one.origin < first.origin ? one : first),
    null,
  );
}

/** A sweep from the records of its runs, as far as they are there. */
export function readSweep(path: string, plan: SweepPlan): ReadSweep {
  const prompts = plan.prompts.map((prompt) =>
    analysePrompt(
      plan,
      prompt,
      triedValues(path, prompt)
        .map((value) => readLevel(path, plan, prompt, value))
        .filter((level) => level.runs.length > 0),
    ),
  );
  return { plan, prompts, example: firstMetadata(path) };
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptSize, SweepPlan } from './sweep-types.ts';

/** Name of the folder of one run. */
export const sweepCell = (plan: SweepPlan, prompt: PromptSize, value: number, repeat: number): string =>
  `${prompt.name}/${plan.axis.kind === 'concurrency' ? 'level' : 'value'}-${value}/repeat-${repeat}`;

/** The levels or values that were tried with a prompt size, ascending: those of the folders that are there. */
export function triedValues(path: string, prompt: PromptSize): readonly number[] {
  try {
    return readdirSync(join(path, 'runs', prompt.name))
      .flatMap((name) => {
        const value = /^(?:level|value)-(-?\d+(?:\.\d+)?)$/.exec(name)?.[1];
        return value === undefined ? [] : [Number(value)];
      })
      .sort((a, b) => a - b);
  } catch {
    return [];
  }
}

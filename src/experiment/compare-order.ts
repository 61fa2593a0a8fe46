import type { ComparePlan, Setup, SwitchStates } from './compare-types.ts';
import { shuffled } from './shuffle.ts';

/** Every combination of the switches; all off first. */
function combinations(switches: readonly string[]): readonly SwitchStates[] {
  return switches.reduce<readonly SwitchStates[]>(
    (before, name) => before.flatMap((states) => [false, true].map((on) => ({ ...states, [name]: on }))),
    [{}],
  );
}

export const setupsOf = (plan: ComparePlan): readonly Setup[] =>
  plan.engines.flatMap((engine) => combinations(plan.switches).map((states) => ({ engine, states })));

export const statesText = (states: SwitchStates): string =>
  Object.entries(states)
    .map(([name, on]) => `${name}-${on ? 'on' : 'off'}`)
    .join('_');

/** Name of the folder of one run. */
export const compareCell = ({ engine, states }: Setup, level: number, repeat: number): string => {
  const text = statesText(states);
  return `${engine.name}${text === '' ? '' : `/${text}`}/level-${level}/repeat-${repeat}`;
};

/** The start command of a setup: the arguments of its switches at `{switches}`, else at the end. */
export function startCommand({ engine, states }: Setup): string | null {
  if (engine.start === null) return null;
  const given = Object.entries(states)
    .map(([name, on]) => engine.switches[name]?.[on ? 'on' : 'off'] ?? '')
    .filter((text) => text !== '')
    .join(' ');
  if (engine.start.includes('{switches}')) return engine.start.replaceAll('{switches}', given);
  return given === '' ? engine.start : `${engine.start} ${given}`;
}

export interface Turn {
  readonly repeat: number;
  readonly setup: Setup;
  readonly levels: readonly number[];
}

/**
 * Everything is measured once before anything is measured again, each time in another order that follows from the seed:
 * what drifts with time (temperature, neighbours) then meets all sides alike.
 */
export function turnsOf(plan: ComparePlan): readonly Turn[] {
  const setups = setupsOf(plan);
  return Array.from({ length: plan.repeats }, (_, index) => index + 1).flatMap((repeat) =>
    shuffled(setups, `${plan.seed}/setups/${repeat}`).map((setup) => ({
      repeat,
      setup,
      levels: shuffled(plan.levels, `${plan.seed}/levels/${repeat}/${compareCell(setup, 0, 0)}`),
    })),
  );
}

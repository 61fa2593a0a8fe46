import { compareWork, type Misalignment } from './compare-align.ts';
import { type Drift, driftOf } from './compare-drift.ts';
import { setupsOf } from './compare-order.ts';
import type { ComparePlan, SwitchStates } from './compare-types.ts';
import { type Cell, type Effect, effects } from './effects.ts';
import { median, repeatSpread } from './statistics.ts';
import type { Summary } from './summary-types.ts';

/** What is compared, and which way is better. */
export const QUANTITIES = [
  { key: 'throughput', name: 'output tokens/s', unit: 'tokens', higherIsBetter: true },
  { key: 'ttft', name: 'TTFT p50', unit: 'seconds', higherIsBetter: false },
  { key: 'tpot', name: 'TPOT p50', unit: 'seconds', higherIsBetter: false },
] as const;
export type Quantity = (typeof QUANTITIES)[number];

const READ: Readonly<Record<Quantity['key'], (summary: Summary) => number | null>> = {
  throughput: (summary) => summary.throughput.outputTokensPerSecond,
  ttft: (summary) => summary.ttft.withFailures.p50.seconds,
  tpot: (summary) => summary.tpot.withoutFailures.p50.seconds,
};

/** Repeats of a cell may differ by this much of their median; more, and the cell is not repeatable. */
export const REPEATABLE = 0.05;

/** A run as it was read: null where it was not measured, or not to its end. */
export interface ComparedCell {
  readonly engine: string;
  readonly states: SwitchStates;
  /** Valid runs: complete, and not limited by the client. */
  readonly summaries: readonly Summary[];
  readonly clientLimited: number;
  /** Median of the repeats, and their spread, by quantity. */
  readonly medians: Readonly<Record<Quantity['key'], number | null>>;
  readonly spread: number | null;
}

export interface ComparedQuantity {
  readonly key: Quantity['key'];
  /** Main effects and interactions of the engines (where there are two) and of all switches. */
  readonly effects: readonly Effect[];
  /** Effect of the second engine for each switch, with it off and with it on; null entries where it cannot be told. */
  readonly sides: readonly {
    readonly name: string;
    readonly off: Effect | null;
    readonly on: Effect | null;
    /** What the switch does within each engine. */
    readonly within: readonly { readonly engine: string; readonly effect: Effect | null }[];
  }[];
}

export interface ComparedLevel {
  readonly level: number;
  readonly cells: readonly ComparedCell[];
  readonly quantities: readonly ComparedQuantity[];
  readonly misalignments: readonly Misalignment[];
  /** Null: the set-ups did not become faster or slower together. */
  readonly drift: Drift | null;
  /** Cells without any valid run. */
  readonly missing: number;
}

export interface MeasuredCell {
  readonly engine: string;
  readonly states: SwitchStates;
  readonly summaries: readonly Summary[];
}

const values = (cell: ComparedCell, key: Quantity['key']): number[] =>
  cell.summaries.flatMap((summary) => READ[key](summary) ?? []);

function compared(cell: MeasuredCell): ComparedCell {
  const valid = cell.summaries.filter((summary) => !summary.client.limited);
  const of = (key: Quantity['key']): number | null => median(valid.flatMap((summary) => READ[key](summary) ?? []));
  return {
    ...cell,
    summaries: valid,
    clientLimited: cell.summaries.length - valid.length,
    medians: { throughput: of('throughput'), ttft: of('ttft'), tpot: of('tpot') },
    spread: repeatSpread(valid.map((summary) => summary.throughput.outputTokensPerSecond)),
  };
}

/** Name of the factor "the second engine and not the first". */
export const engineFactor = (plan: ComparePlan): string | null => {
  const [first, second, third] = plan.engines;
  return first && second && !third ? `${second.name} instead of ${first.name}` : null;
};

/** Every cell has at least one value: what a factorial needs. */
function factorial(cells: readonly Cell[]): readonly Effect[] {
  return cells.length < 2 || cells.some((cell) => cell.values.length === 0) ? [] : effects(cells);
}

function asCells(
  plan: ComparePlan,
  cells: readonly ComparedCell[],
  key: Quantity['key'],
  without: string | null,
): readonly Cell[] {
  const factor = engineFactor(plan);
  const second = plan.engines[1]?.name;
  return cells.map((cell) => {
    const states = Object.entries(cell.states).filter(([name]) => name !== without);
    const engine: [string, boolean][] = factor === null ? [] : [[factor, cell.engine === second]];
    return { switches: Object.fromEntries([...engine, ...states]), values: values(cell, key) };
  });
}

/** Cells of one engine: the switches are the only factors. */
const within = (cells: readonly ComparedCell[], engine: string, key: Quantity['key']): readonly Cell[] =>
  cells.filter((cell) => cell.engine === engine).map((cell) => ({ switches: cell.states, values: values(cell, key) }));

function sidesOf(plan: ComparePlan, cells: readonly ComparedCell[], key: Quantity['key']): ComparedQuantity['sides'] {
  const factor = engineFactor(plan);
  const engineEffect = (name: string, on: boolean): Effect | null => {
    if (factor === null) return null;
    const half = cells.filter((cell) => cell.states[name] === on);
    return factorial(asCells(plan, half, key, name)).find((effect) => effect.name === factor) ?? null;
  };
  return plan.switches.map((name) => ({
    name,
    off: engineEffect(name, false),
    on: engineEffect(name, true),
    within: plan.engines.map(({ name: engine }) => ({
      engine,
      effect: factorial(within(cells, engine, key)).find((effect) => effect.name === name) ?? null,
    })),
  }));
}

/** Only set-ups whose every repeat is valid: in the others nothing says which repeat a value belongs to. */
const throughputs = ({ repeats }: ComparePlan, cells: readonly ComparedCell[]): readonly (readonly number[])[] =>
  cells
    .filter(({ summaries, clientLimited }) => clientLimited === 0 && summaries.length === repeats)
    .map(({ summaries }) => summaries.map((summary) => summary.throughput.outputTokensPerSecond));

export function analyseLevel(plan: ComparePlan, level: number, measured: readonly MeasuredCell[]): ComparedLevel {
  const cells = measured.map(compared);
  const bySide = plan.engines.map(
    ({ name }) => [name, cells.filter((cell) => cell.engine === name).flatMap((cell) => cell.summaries)] as const,
  );
  // Three engines are no two-level factor: then each engine has only its own switches.
  const whole = (key: Quantity['key']): readonly Effect[] =>
    plan.engines.length > 2 ? [] : factorial(asCells(plan, cells, key, null));
  return {
    level,
    cells,
    quantities: QUANTITIES.map(({ key }) => ({ key, effects: whole(key), sides: sidesOf(plan, cells, key) })),
    misalignments: compareWork(bySide),
    drift: driftOf(throughputs(plan, cells)),
    missing: setupsOf(plan).length - cells.filter((cell) => cell.summaries.length > 0).length,
  };
}

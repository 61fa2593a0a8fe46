import {
  type ComparedCell,
  type ComparedLevel,
  type ComparedQuantity,
  engineFactor,
  type Quantity,
  REPEATABLE,
} from './compare-analyse.ts';
import type { Drift } from './compare-drift.ts';
import type { ComparePlan } from './compare-types.ts';
import type { Effect } from './effects.ts';
import { asChange, asPercent } from './report-format.ts';
import { repeatSpread } from './statistics.ts';
import type { Summary } from './summary-types.ts';

const interval = (effect: Effect): string =>
  effect.low === null || effect.high === null ? '' : `, ${asChange(effect.low)} to ${asChange(effect.high)}`;

/** How much, or that the noise does not allow to say. */
function amount(effect: Effect | null): string {
  if (effect === null) return 'cannot be told';
  if (effect.significant === null) return `${asChange(effect.ratio)} (one repeat: noise unknown)`;
  return effect.significant
    ? `${asChange(effect.ratio)} (95 % interval${interval(effect)})`.replace('interval, ', 'interval ')
    : `within the noise (${asChange(effect.ratio)}${interval(effect)})`;
}

const isDifference = (effect: Effect | null): boolean => effect !== null && effect.significant !== false;

const UNTOLD = 'cannot be told, for want of valid runs';

/** What the switch does on each engine: an effect, none beyond the noise, or not known. */
function ofSwitch(side: ComparedQuantity['sides'][number]): string {
  if (side.within.every(({ effect }) => effect === null)) return `what ${side.name} does ${UNTOLD}`;
  const gives = side.within.map(({ engine, effect }) => `${engine} ${amount(effect)}`).join(' and ');
  if (side.within.some(({ effect }) => isDifference(effect))) return `${side.name} gives ${gives}`;
  const known = side.within.every(({ effect }) => effect !== null);
  return known ? `${side.name} changes nothing beyond the noise: ${gives}` : `of ${side.name}: ${gives}`;
}

const difference = (effect: Effect | null): string => (effect === null ? 'cannot be told' : `is ${amount(effect)}`);

function ofEngines(side: ComparedQuantity['sides'][number], quantity: Quantity, factor: string): string {
  const apart =
    side.off === null && side.on === null
      ? `what lies between the engines ${UNTOLD}`
      : `with ${side.name} off the difference ${difference(side.off)}, with it on it ${difference(side.on)}`;
  return `${quantity.name}, ${factor}: ${apart}; ${ofSwitch(side)}.`;
}

function ofOneEngine(side: ComparedQuantity['sides'][number], quantity: Quantity): string {
  return side.within
    .map(({ engine, effect }) =>
      effect === null
        ? `${quantity.name} of ${engine}: what ${side.name} does ${UNTOLD}.`
        : `${quantity.name} of ${engine}: ${side.name} gives ${amount(effect)}.`,
    )
    .join(' ');
}

/** To what a difference is due, one sentence a switch; without switches, the difference itself. */
export function attribution(plan: ComparePlan, compared: ComparedQuantity, quantity: Quantity): readonly string[] {
  const factor = engineFactor(plan);
  if (compared.sides.length === 0) {
    const effect = compared.effects.find((one) => one.name === factor) ?? null;
    return factor === null ? [] : [`${quantity.name}, ${factor}: ${amount(effect)}.`];
  }
  return compared.sides.map((side) =>
    factor === null ? ofOneEngine(side, quantity) : ofEngines(side, quantity, factor),
  );
}

export const isRepeatable = (cell: ComparedCell): boolean | null =>
  cell.spread === null ? null : cell.spread <= REPEATABLE;

const spreadOf = (cell: ComparedCell, read: (summary: Summary) => number | null): number =>
  repeatSpread(cell.summaries.flatMap((summary) => read(summary) ?? [])) ?? 0;

const anyOf = (cell: ComparedCell, test: (summary: Summary) => boolean): boolean => cell.summaries.some(test);

interface Suspect {
  readonly applies: (cell: ComparedCell) => boolean;
  readonly words: (cell: ComparedCell) => string;
}

const range = (values: readonly number[], format: (value: number) => string): string =>
  values.length === 0 ? '' : `${format(Math.min(...values))} to ${format(Math.max(...values))}`;

/** What spoils repeatability, most frequent and easiest to look at first. Only what the records show is listed. */
const SUSPECTS: readonly Suspect[] = [
  {
    applies: (cell) => cell.clientLimited > 0,
    words: (cell) =>
      `the client was the limit in ${cell.clientLimited} run(s): give it a core of its own, or --workers`,
  },
  {
    applies: (cell) => anyOf(cell, (summary) => (summary.client.disturbedRatio ?? 0) > 0.01),
    words: () =>
      'the machine of the client was busy (requests were disturbed by its event loop): what else runs there?',
  },
  {
    applies: (cell) => anyOf(cell, (summary) => (summary.engine?.ownTokensRatio ?? 1) < 0.95),
    words: () => 'somebody else uses the engine: it generated more tokens than this run asked for',
  },
  {
    applies: (cell) => anyOf(cell, (summary) => summary.requests.failed > 0),
    words: () => 'requests failed: see the reasons in the reports of the runs',
  },
  {
    applies: (cell) => {
      // Not by their ratio: the median may be 0.
      const counts = cell.summaries.flatMap((summary) => summary.engine?.preemptions ?? []);
      return new Set(counts).size > 1;
    },
    words: (cell) =>
      `preemptions differ between the repeats (${range(
        cell.summaries.flatMap((summary) => summary.engine?.preemptions ?? []),
        String,
      )}): the level lies at the edge of the KV cache`,
  },
  {
    applies: (cell) => spreadOf(cell, (summary) => summary.output.meanTokens) > 0.02,
    words: () => 'output lengths differ between the repeats: fix them (respect_eos: false)',
  },
  {
    applies: (cell) => spreadOf(cell, (summary) => summary.prompt.meanTokens) > 0.02,
    words: () => 'prompt lengths differ between the repeats',
  },
  {
    applies: (cell) => {
      const hits = cell.summaries.flatMap((summary) => summary.engine?.prefixHitRatio ?? []);
      return hits.length > 1 && Math.max(...hits) - Math.min(...hits) > 0.05;
    },
    words: () => 'the prefix cache hit differently often: was it warm from an earlier run?',
  },
  {
    applies: (cell) => anyOf(cell, (summary) => summary.timeline.some((slot) => slot.flagged)),
    words: () => 'single slots of the time line are far below the mean: look at what happened at that time',
  },
];

function isFirstSlow({ summaries }: ComparedCell): boolean {
  const [first, ...rest] = summaries.map((summary) => summary.throughput.outputTokensPerSecond);
  return first !== undefined && rest.length > 1 && first < Math.min(...rest) * 0.97;
}

const MACHINE = 'clock and temperature of the processor or GPU, and other programs on the machine of the engine';

/** What is the same for all set-ups is told once, before what is to be looked at for each. */
export const driftInWords = ({ slower, faster, ratio }: Drift): string =>
  `The set-ups together were slower in repeat ${slower} than in repeat ${faster}, by ${asPercent(ratio)} on average. Not one of them changed then, but what they ran on: ${MACHINE}.`;

/** What to look at first when the repeats of a cell differ by more than they may. */
export function lookAt(cell: ComparedCell, drift: Drift | null): readonly string[] {
  const found = SUSPECTS.filter((suspect) => suspect.applies(cell)).map((suspect) => suspect.words(cell));
  // Where the first repeat was slow for all, a longer warm-up of one would not help.
  const warmUp = drift === null && isFirstSlow(cell) ? ['the first repeat is the slow one: a longer warm-up'] : [];
  const requests = cell.summaries.map((summary) => summary.requests.sent);
  const few = `few requests in a window (${range(requests, String)}): a longer window, or more repeats`;
  return [...found, ...warmUp, few, ...(drift === null ? [MACHINE] : [])];
}

export function repeatabilityText(cell: ComparedCell): string {
  if (cell.spread !== null) return asPercent(cell.spread);
  return cell.summaries.length === 0 ? 'no valid run' : 'one valid run';
}

/** Levels whose work differed between the sides. */
export const misaligned = (levels: readonly ComparedLevel[]): readonly string[] => [
  ...new Set(levels.flatMap((level) => level.misalignments.map((one) => `${one.message} (at level ${level.level})`))),
];

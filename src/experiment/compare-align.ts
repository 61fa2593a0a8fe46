import type { Alignment, ComparePlan } from './compare-types.ts';
import type { PreparedLoad } from './load-types.ts';
import { mean } from './statistics.ts';
import type { Summary } from './summary-types.ts';

/** Value of the first of these flags in a command line: `--flag value` or `--flag=value`. */
function flagValue(command: string, flags: readonly string[]): string | null {
  const tokens = command.split(/\s+/);
  for (const [index, token] of tokens.entries()) {
    const [flag, value] = token.split('=', 2);
    if (flag !== undefined && flags.includes(flag)) return value ?? tokens[index + 1] ?? null;
  }
  return null;
}

const PARALLELISM = [
  ['--tensor-parallel-size', '--tp-size', '--tp', '-tp'],
  ['--pipeline-parallel-size', '--pp-size', '--pp', '-pp'],
  ['--data-parallel-size', '--dp-size', '--dp', '-dp'],
] as const;

/** `tensor x pipeline x data`, each 1 where it is not given. */
export const parallelismOf = (command: string): string =>
  PARALLELISM.map((flags) => flagValue(command, flags) ?? '1').join(' x ');

export const sequenceLimitOf = (command: string): string | null =>
  flagValue(command, ['--max-model-len', '--context-length']);

/** What an endpoint tells of itself before anything is generated. */
export interface EndpointFacts {
  readonly model: string;
  readonly maxModelLength: number | null;
}

export const factsOf = (prepared: PreparedLoad): EndpointFacts => ({
  model: prepared.plan.model,
  maxModelLength: prepared.discovery?.maxModelLength ?? null,
});

export interface Misalignment {
  readonly what: Alignment;
  readonly message: string;
}

/** What sets two endpoints apart before a token is made. What one of them does not tell is not held against it. */
export function compareFacts(
  names: readonly [string, string],
  first: EndpointFacts,
  second: EndpointFacts,
): readonly Misalignment[] {
  const found: Misalignment[] = [];
  if (first.model !== second.model) {
    const message = `the model is ${first.model} at ${names[0]} and ${second.model} at ${names[1]}`;
    found.push({ what: 'model', message });
  }
  const [a, b] = [first.maxModelLength, second.maxModelLength];
  if (a !== null && b !== null && a !== b) {
    const message = `the sequence limit is ${a} tokens at ${names[0]} and ${b} at ${names[1]}`;
    found.push({ what: 'sequence_limit', message });
  }
  return found;
}

/** A difference of the work itself above which a difference of its speed says nothing. */
const SAME_WORK = 0.02;

function differs(
  what: Alignment,
  words: string,
  sides: readonly (readonly [string, readonly Summary[]])[],
  read: (summary: Summary) => number | null,
): readonly Misalignment[] {
  const means = sides.flatMap(([name, summaries]) => {
    const value = mean(summaries.flatMap((summary) => read(summary) ?? []));
    return value === null ? [] : [{ name, value }];
  });
  const low = means.toSorted((a, b) => a.value - b.value)[0];
  const high = means.toSorted((a, b) => b.value - a.value)[0];
  if (low === undefined || high === undefined || high.value <= low.value * (1 + SAME_WORK)) return [];
  const message = `${words} is ${low.value.toFixed(1)} tokens at ${low.name} and ${high.value.toFixed(1)} at ${high.name}`;
  return [{ what, message }];
}

/** What the measured runs say of the work that each side did. */
export const compareWork = (sides: readonly (readonly [string, readonly Summary[]])[]): readonly Misalignment[] => [
  ...differs('prompt_tokens', 'the mean prompt', sides, (summary) => summary.prompt.meanTokens),
  ...differs('output_length', 'the mean output', sides, (summary) => summary.output.meanTokens),
];

export const forbidden = (plan: ComparePlan, found: readonly Misalignment[]): readonly Misalignment[] =>
  found.filter((one) => !plan.allow.includes(one.what));

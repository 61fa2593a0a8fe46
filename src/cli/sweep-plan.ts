import { wrongUsage } from '../errors.ts';
import type { LoadRequest } from '../experiment/load-types.ts';
import type { ConcurrencyAxis, ParameterAxis, PromptSize, SweepPlan } from '../experiment/sweep-types.ts';
import { anyNumbers, secondsOf, wholeNumber, wholeNumbers } from './experiment-values.ts';
import type { LoadFlags } from './load-flags.ts';

/** Flags of `sweep`, as commander gives them: those of `load`, and what is swept. */
export interface SweepFlags extends LoadFlags {
  readonly levels?: string;
  readonly from?: string;
  readonly to?: string;
  readonly start?: string;
  readonly values?: string;
  readonly readyTimeout?: string;
  readonly stopTimeout?: string;
  readonly repeats?: string;
  readonly cooldown?: string;
}

function parameterAxis(flags: SweepFlags, command: string): ParameterAxis {
  if (!command.includes('{value}')) wrongUsage('--start has no {value} in it: write it where the parameter goes');
  if (flags.levels !== undefined) wrongUsage('--start sweeps a parameter under fixed load: give -c, not --levels');
  return {
    kind: 'parameter',
    command,
    values: anyNumbers('--values', flags.values ?? wrongUsage('--start needs --values, such as --values 4,8,16')),
    readySeconds: secondsOf('--ready-timeout', flags.readyTimeout ?? '600'),
    stopSeconds: secondsOf('--stop-timeout', flags.stopTimeout ?? '30'),
  };
}

function concurrencyAxis(flags: SweepFlags): ConcurrencyAxis {
  if (flags.values !== undefined) wrongUsage('--values needs --start with {value} in it');
  if (flags.concurrency !== undefined) wrongUsage('-c is for --start: without it the levels are swept, see --levels');
  const levels = flags.levels === undefined ? null : wholeNumbers('--levels', flags.levels);
  const from = wholeNumber('--from', flags.from ?? '1');
  const to = wholeNumber('--to', flags.to ?? '256');
  if (levels === null && to < from) wrongUsage('--to lies below --from');
  return { kind: 'concurrency', levels, from, to };
}

function promptSizes(flags: SweepFlags): readonly PromptSize[] {
  const sizes = wholeNumbers('--in-tokens', flags.inTokens ?? '128,1024');
  const names = sizes.length === 2 ? ['short', 'long'] : [];
  return sizes.map((promptTokens, index) => ({ name: names[index] ?? `tokens-${promptTokens}`, promptTokens }));
}

/** The flags as those of one run: what is swept is put in later. */
export function singleRunFlags(flags: SweepFlags): LoadFlags {
  if (flags.rate !== undefined || flags.prompts !== undefined)
    wrongUsage('a sweep is a closed loop with prompts of fixed sizes: --rate and --prompts are for load');
  const sizes = promptSizes(flags);
  return { ...flags, inTokens: String(sizes.at(-1)?.promptTokens ?? 1) };
}

/**
 * What a sweep is to do.
 *
 * @param request what the flags of `load` among them ask for
 * @throws ProbeExporterError USAGE for flags that contradict each other or are no values
 */
export function sweepPlan(flags: SweepFlags, request: LoadRequest): SweepPlan {
  const { arrival } = request;
  return {
    format: 1,
    kind: 'sweep',
    axis: flags.start === undefined ? concurrencyAxis(flags) : parameterAxis(flags, flags.start),
    prompts: promptSizes(flags),
    repeats: wholeNumber('--repeats', flags.repeats ?? '3'),
    cooldownSeconds: secondsOf('--cooldown', flags.cooldown ?? '5'),
    seed: request.seed,
    url: request.target.url.href,
    load: {
      concurrency: arrival.kind === 'closed' ? arrival.concurrency : arrival.maxInFlight,
      windowSeconds: request.windowSeconds,
      trimSeconds: request.trimSeconds,
      warmupMaxSeconds: request.warmupMaxSeconds,
      maxOutputTokens: request.maxOutputTokens,
      prefix: request.prefix,
      respectEos: request.respectEos,
      slo: request.slo,
    },
  };
}

import { ProbeExporterError } from '../errors.ts';
import { checkLevels } from '../experiment/check-numbers.ts';
import { portAnswers } from '../experiment/engine-process.ts';
import { isComplete, openExperiment, readManifest } from '../experiment/experiment-folder.ts';
import type { LoadRequest } from '../experiment/load-types.ts';
import { prepareLoad } from '../experiment/prepare-load.ts';
import { plural } from '../experiment/report-format.ts';
import { sweepVerdicts } from '../experiment/report-sweep.ts';
import { writeSweepReport } from '../experiment/report-write.ts';
import { sweepCell } from '../experiment/sweep-cells.ts';
import { type ReadSweep, readSweep } from '../experiment/sweep-read.ts';
import { runSweep } from '../experiment/sweep-run.ts';
import type { SweepPlan } from '../experiment/sweep-types.ts';
import { createLogger, type Logger } from '../log.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';
import { createDiskGuard } from './disk-guard.ts';
import { datedFolder, experimentDependencies, experimentLog } from './experiment-deps.ts';
import { confirmPlan, createProgressLine, planLength } from './experiment-terminal.ts';
import { readLoadRequest } from './load-request.ts';
import { humanCount } from './style.ts';
import { type SweepFlags, singleRunFlags, sweepPlan } from './sweep-plan.ts';

/** Most levels that a sweep can have. */
function mostLevels({ axis }: SweepPlan): number {
  if (axis.kind === 'parameter') return axis.values.length;
  return axis.levels?.length ?? Math.floor(Math.log2(axis.to / axis.from)) + 1;
}

function levelsInWords({ axis, load }: SweepPlan): string {
  if (axis.kind === 'parameter')
    return `values ${axis.values.join(', ')} under ${load.concurrency} requests in flight, of: ${axis.command}`;
  return axis.levels === null
    ? `levels from ${axis.from}, doubled until overload, at most ${axis.to}`
    : `levels ${axis.levels.join(', ')}`;
}

/** Levels that will be measured whatever is found: one that is reached by doubling may never be. */
const certainLevels = ({ axis, load }: SweepPlan): readonly number[] =>
  axis.kind === 'parameter' ? [load.concurrency] : (axis.levels ?? [axis.from]);

/** What it will be, and what it may cost, before it is. */
function planLines(plan: SweepPlan, folder: string): readonly string[] {
  const { axis, load, prompts, repeats, cooldownSeconds } = plan;
  const runs = mostLevels(plan) * prompts.length * repeats;
  const loaded = runs * (load.windowSeconds + load.warmupMaxSeconds);
  const perRequest = prompts.map((prompt) => humanCount(prompt.promptTokens + load.maxOutputTokens)).join(' or ');
  return [
    `Plan   sweep of ${plan.url}: ${levelsInWords(plan)}`,
    `       prompts of ${prompts.map((prompt) => prompt.promptTokens).join(' and ')} tokens, ${load.maxOutputTokens} output tokens; ${plural(repeats, 'repeat')}, at most ${runs} runs of ${load.windowSeconds} s`,
    `       up to ${planLength(loaded + runs * cooldownSeconds)}, and on top ${axis.kind === 'parameter' ? 'the starts of the engine and ' : ''}what is under way at the end of each run`,
    `       cost: up to ${perRequest} tokens a request; an engine that generates 1,000 a second will generate up to ${humanCount(loaded * 1000)}`,
    `       folder: ${folder}`,
  ];
}

/** Whether the endpoint can be measured at all is known before anything is generated. */
async function checkEndpoint(plan: SweepPlan, request: LoadRequest, log: Logger, context: CliContext): Promise<void> {
  if (plan.axis.kind === 'parameter') {
    if (!(await portAnswers(plan.url))) return;
    throw new ProbeExporterError(
      'USAGE',
      `something already listens at ${plan.url}, where the start command is to serve: end it, or use another port`,
    );
  }
  for (const { promptTokens } of plan.prompts) {
    const prepared = await prepareLoad(
      { ...request, promptTokens },
      { clock: context.clock, log, signal: context.stop },
    );
    for (const warning of prepared.warnings) context.err(`note   ${warning}`);
  }
}

/** A sweep that goes on keeps the seed that it began with. */
function seedOf(flags: SweepFlags): string | undefined {
  const before = flags.out === undefined ? null : (readManifest(flags.out) as { readonly seed?: unknown } | null);
  return flags.seed ?? (typeof before?.seed === 'string' ? before.seed : undefined);
}

function tell(found: ReadSweep, path: string, json: boolean, context: CliContext): ExitCode {
  if (json) context.out(JSON.stringify({ format: 1, prompts: found.prompts }));
  else {
    for (const verdict of sweepVerdicts(found)) context.out(verdict);
    context.out(`records and report: ${path}`);
  }
  const nothing = found.prompts.every((prompt) => prompt.levels.every((level) => level.figures === null));
  if (nothing) context.err('nothing could be measured: the report says why');
  if (context.stop.aborted) context.err(`partial; the same command with --out ${path} goes on`);
  return nothing || context.stop.aborted ? EXIT.failed : EXIT.ok;
}

/** `sweep`: where the knee lies, over concurrency or over a start parameter of the engine. */
export async function sweep(flags: SweepFlags, context: CliContext): Promise<ExitCode> {
  const log = flags.verbose === true ? createLogger({ level: 'debug', format: 'logfmt' }) : experimentLog();
  const seed = seedOf(flags);
  const request = readLoadRequest({ ...singleRunFlags(flags), ...(seed !== undefined && { seed }) }, context, log);
  const plan = sweepPlan(flags, request);
  const path = flags.out ?? datedFolder('sweep', context.clock.unix());
  checkLevels(request, certainLevels(plan));
  await checkEndpoint(plan, request, log, context);
  await confirmPlan(planLines(plan, path), flags.yes === true, context);
  const folder = openExperiment(path, plan);
  if (folder.resumed) context.err(`going on with ${path}: what is complete is kept`);
  const done = (value: number, repeat: number): boolean =>
    plan.prompts.every((prompt) => isComplete(folder.cell(sweepCell(plan, prompt, value, repeat))));
  const line = createProgressLine(context);
  const disk = createDiskGuard(path, context);
  try {
    await disk.run(() => runSweep(plan, request, folder, experimentDependencies(log, line, context), done));
  } finally {
    line.end();
    await disk.run(() => writeSweepReport(path, plan));
    folder.close();
  }
  const code = tell(readSweep(path, plan), path, flags.json === true, context);
  return disk.failed() ? EXIT.failed : code;
}

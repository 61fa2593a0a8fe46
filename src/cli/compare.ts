import { readFileSync } from 'node:fs';
import { isNodeError } from '../config/node-error.ts';
import { wrongUsage } from '../errors.ts';
import { checkLevels } from '../experiment/check-numbers.ts';
import { readExperimentFile } from '../experiment/compare-file.ts';
import { setupsOf } from '../experiment/compare-order.ts';
import { readComparison } from '../experiment/compare-read.ts';
import { runComparison } from '../experiment/compare-run.ts';
import type { CompareEngine, ComparePlan } from '../experiment/compare-types.ts';
import { portAnswers } from '../experiment/engine-process.ts';
import { openExperiment } from '../experiment/experiment-folder.ts';
import type { LoadRequest } from '../experiment/load-types.ts';
import { comparisonVerdicts } from '../experiment/report-compare.ts';
import { plural } from '../experiment/report-format.ts';
import { writeCompareReport } from '../experiment/report-write.ts';
import { createLogger, type Logger } from '../log.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';
import { createDiskGuard } from './disk-guard.ts';
import { datedFolder, experimentDependencies, experimentLog } from './experiment-deps.ts';
import { confirmPlan, createProgressLine, planLength } from './experiment-terminal.ts';
import { readLoadRequest } from './load-request.ts';
import { humanCount } from './style.ts';

/** Flags of `compare`, as commander gives them. */
export interface CompareFlags {
  readonly out?: string;
  readonly workers?: string;
  readonly timeout?: string;
  readonly yes?: true;
  readonly verbose?: true;
}

function readPlan(file: string): ComparePlan {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const why = isNodeError(error) && error.code === 'ENOENT' ? 'is not there' : 'cannot be read';
    return wrongUsage(`the experiment file ${file} ${why}`, error);
  }
  return readExperimentFile(file, bytes);
}

/** The same reading of what is asked of an endpoint as that of `load`. */
function requestOf(
  plan: ComparePlan,
  engine: CompareEngine,
  flags: CompareFlags,
  log: Logger,
  context: CliContext,
): LoadRequest {
  const { load } = plan;
  const request = readLoadRequest(
    {
      url: engine.url,
      metrics: true,
      seed: plan.seed,
      ...(engine.model !== null && { model: engine.model }),
      ...(engine.api !== null && { api: engine.api }),
      ...(engine.engine !== null && { engine: engine.engine }),
      ...(engine.metricsUrl !== null && { metricsUrl: engine.metricsUrl }),
      ...(engine.apiKeyFile !== null && { apiKeyFile: engine.apiKeyFile }),
      ...(flags.workers !== undefined && { workers: flags.workers }),
      ...(flags.timeout !== undefined && { timeout: flags.timeout }),
    },
    context,
    log,
  );
  return { ...request, ...load };
}

function planLines(plan: ComparePlan, folder: string): readonly string[] {
  const setups = setupsOf(plan);
  const { load } = plan;
  const runs = setups.length * plan.levels.length * plan.repeats;
  const loaded = runs * (load.windowSeconds + load.warmupMaxSeconds);
  const starts = setups.filter((setup) => setup.engine.start !== null).length * plan.repeats;
  return [
    `Plan   ${plan.name}: ${plan.engines.map((engine) => engine.name).join(', ')}; switches: ${plan.switches.join(', ') || 'none'}`,
    `       ${setups.length} set-ups at ${plan.levels.join(', ')} in flight, ${plural(plan.repeats, 'repeat')}: ${plural(runs, 'run')} of ${load.windowSeconds} s, ${plural(starts, 'start')} of an engine`,
    `       up to ${planLength(loaded + runs * plan.cooldownSeconds)}, and on top the starts of engines and what is under way at the end of each run`,
    `       cost: up to ${humanCount(load.promptTokens + load.maxOutputTokens)} tokens a request; an engine that generates 1,000 a second will generate up to ${humanCount(loaded * 1000)}`,
    `       folder: ${folder}`,
  ];
}

/** What can be known before anything is started: an engine that must run already, a port that must be free. */
async function checkEndpoints(plan: ComparePlan): Promise<void> {
  for (const { name, url, start } of plan.engines) {
    const answers = await portAnswers(url);
    if (start === null && !answers)
      wrongUsage(`nothing answers at ${url} (${name}): start it, or give it a start command`);
    if (start !== null && answers)
      wrongUsage(`something already listens at ${url}, where ${name} is to be started: end it, or use another port`);
  }
}

/** `compare`: engines and switches against each other, as an experiment file says. 0: each cell has a valid run. */
export async function compare(file: string, flags: CompareFlags, context: CliContext): Promise<ExitCode> {
  const log = flags.verbose === true ? createLogger({ level: 'debug', format: 'logfmt' }) : experimentLog();
  const plan = readPlan(file);
  const path = flags.out ?? datedFolder('compare', context.clock.unix());
  const requests = new Map(
    plan.engines.map((engine) => [engine.name, requestOf(plan, engine, flags, log, context)] as const),
  );
  for (const request of requests.values()) checkLevels(request, plan.levels);
  await checkEndpoints(plan);
  await confirmPlan(planLines(plan, path), flags.yes === true, context);
  const folder = openExperiment(path, plan);
  if (folder.resumed) context.err(`going on with ${path}: what is complete is kept`);
  const line = createProgressLine(context);
  const disk = createDiskGuard(path, context);
  const deps = {
    ...experimentDependencies(log, line, context),
    requestOf: (engine: CompareEngine) => requests.get(engine.name) ?? requestOf(plan, engine, flags, log, context),
  };
  try {
    await disk.run(() => runComparison(plan, folder, deps));
  } finally {
    line.end();
    await disk.run(() => writeCompareReport(path, plan));
    folder.close();
  }
  const found = readComparison(path, plan);
  for (const verdict of comparisonVerdicts(found)) context.out(verdict);
  context.out(`records and report: ${path}`);
  if (found.measured === found.planned) {
    const missing = found.levels.reduce((sum, level) => sum + level.missing, 0);
    if (missing > 0) context.err(`${plural(missing, 'cell')} without any valid run: the report says why`);
    return missing > 0 || disk.failed() ? EXIT.failed : EXIT.ok;
  }
  context.err(
    `partial: ${found.measured} of ${found.planned} runs are complete; the same command with --out ${path} goes on`,
  );
  return EXIT.failed;
}

import { ConfigurationError } from '../config/report.ts';
import { ProbeExporterError } from '../errors.ts';
import { calibrateLoad } from '../experiment/calibrate-load.ts';
import type { LoadDependencies, LoadRequest, LoadResult } from '../experiment/load-types.ts';
import { checkSamples, prepareLoad } from '../experiment/prepare-load.ts';
import { writeRunReport } from '../experiment/report-write.ts';
import { checkRunFolder } from '../experiment/run-folder.ts';
import { runLoad } from '../experiment/run-load.ts';
import type { Summary } from '../experiment/summary-types.ts';
import { createLogger, type Logger } from '../log.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';
import type { LoadFlags } from './load-flags.ts';
import { isResult, planLines, renderProgress, renderSummary } from './load-render.ts';
import { readLoadRequest } from './load-request.ts';
import { ownScript } from './own-script.ts';

/** Folder of a run that was not named: by its date, below the current one. */
export const defaultFolder = (kind: string, context: Pick<CliContext, 'clock'>): string =>
  `${kind}-${new Date(context.clock.unix() * 1000).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

/** What every command that loads an endpoint hands to the experiment. */
export function loadDependencies(log: Logger, context: CliContext): LoadDependencies {
  return {
    clock: context.clock,
    log,
    signal: context.stop,
    workerScript: ownScript(),
    onProgress: (progress) => context.status?.(renderProgress(progress, context.terminal.columns)),
  };
}

export function readRequest(flags: LoadFlags, context: CliContext, log: Logger): LoadRequest {
  try {
    return readLoadRequest(flags, context, log);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ProbeExporterError('USAGE', error.message);
  }
}

/** Nobody is asked where nobody could answer. */
async function agreed(lines: readonly string[], flags: LoadFlags, context: CliContext): Promise<boolean> {
  for (const line of lines) context.err(line);
  if (flags.yes === true || context.confirm === undefined) return true;
  return await context.confirm('Start? [y/N] ');
}

export const exitCodeOf = (summary: Summary): ExitCode => (isResult(summary) ? EXIT.ok : EXIT.failed);

/** Writes the report. Where the disk does not take it, the figures are still those that were measured. */
function reported({ folder, summary, diskFault }: LoadResult, context: CliContext): Summary {
  try {
    const written = writeRunReport(folder);
    if (diskFault === null) return written;
    context.err(`inference-probe: ${diskFault}: the run was ended early`);
  } catch (error) {
    if (!(error instanceof ProbeExporterError)) throw error;
    context.err(`inference-probe: ${error.message}. The figures below are complete; the folder is not`);
  }
  return summary;
}

/**
 * Loads an endpoint and says how it fared. 0: a result; 1: a partial one, none (also where every
 * request failed), or one that the client limited, or a disk that is full; 2: a wrong command line, or an endpoint that cannot be loaded.
 */
export async function load(flags: LoadFlags, context: CliContext): Promise<ExitCode> {
  const log = createLogger({ level: flags.verbose === true ? 'debug' : 'error', format: 'logfmt' });
  const request = readRequest(flags, context, log);
  const deps = loadDependencies(log, context);
  const folder = flags.out ?? defaultFolder('load', context);
  const checked = await prepareLoad(request, deps);
  await checkRunFolder(folder);
  const prepared = await calibrateLoad(checked, deps);
  checkSamples(prepared);
  if (!(await agreed(planLines(prepared), flags, context))) {
    context.err('not started');
    return EXIT.failed;
  }
  const result = await runLoad(prepared, folder, deps).finally(() => context.status?.(null));
  const summary = reported(result, context);
  context.out(flags.json === true ? JSON.stringify(summary) : renderSummary(summary, folder, context.terminal.colour));
  return exitCodeOf(summary);
}

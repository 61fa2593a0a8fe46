import { type EngineCommand, type RunningEngine, startEngine } from '../experiment/engine-process.ts';
import { listsAModel } from '../experiment/engine-ready.ts';
import type { CellDependencies } from '../experiment/measure-cell.ts';
import { prepareLoad } from '../experiment/prepare-load.ts';
import { summaryOf, writeRunReport } from '../experiment/report-write.ts';
import { runLoad } from '../experiment/run-load.ts';
import { createLogger, type Logger } from '../log.ts';
import type { CliContext } from './context.ts';
import type { ProgressLine } from './experiment-terminal.ts';
import { ownScript } from './own-script.ts';

/** Experiments speak for themselves; only what is wrong is logged. */
export const experimentLog = (): Logger => createLogger({ level: 'error', format: 'logfmt' });

export interface ExperimentDependencies extends CellDependencies {
  readonly startEngine: (command: EngineCommand) => Promise<RunningEngine>;
}

/** What sweep and compare have in common. */
export function experimentDependencies(log: Logger, line: ProgressLine, context: CliContext): ExperimentDependencies {
  const { clock, stop: signal } = context;
  return {
    clock,
    log,
    signal,
    prepare: prepareLoad,
    run: runLoad,
    summaryOf,
    report: (folder) => void writeRunReport(folder),
    workerScript: ownScript(),
    say: line.say,
    onProgress: line.update,
    startEngine: (command) => startEngine(command, { clock, signal, isReady: (url) => listsAModel(url, clock) }),
  };
}

/** `sweep-20260131-154500`, in UTC. */
export const datedFolder = (kind: string, unixSeconds: number): string =>
  `${kind}-${new Date(unixSeconds * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;

import { parentPort, workerData } from 'node:worker_threads';
import { ProbeExporterError } from '../errors.ts';
import { serveLoadThread, type ThreadData } from '../experiment/load-thread.ts';
import { createLogger } from '../log.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';

/** This program as a worker of itself: only in a thread that `load` has started. */
export async function loadWorker(_: unknown, { clock }: CliContext): Promise<ExitCode> {
  if (parentPort === null) throw new ProbeExporterError('USAGE', 'load-worker is started by load, not by people');
  const log = createLogger({ level: 'error', format: 'logfmt' });
  await serveLoadThread(parentPort, workerData as ThreadData, { clock, log });
  return EXIT.ok;
}

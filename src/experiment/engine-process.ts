import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { connect } from 'node:net';
import { type Clock, sleep } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import { elapsed, seconds } from '../units.ts';
import { diskError } from './disk-error.ts';
import { endGroup, groupLives, guardGroup } from './process-group.ts';

export interface EngineCommand {
  /** A line for the shell, complete. */
  readonly command: string;
  readonly url: string;
  readonly readySeconds: number;
  /** From SIGTERM until whatever is left is killed. */
  readonly stopSeconds: number;
  /** Gets everything that the engine prints. */
  readonly logFile: string;
}

export interface EngineDependencies {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True once the engine can be used. Must not make it generate. */
  readonly isReady: (url: string) => Promise<boolean>;
}

export interface RunningEngine {
  /** SIGTERM to the whole process group, then SIGKILL; resolves when nothing of it is left. Safe to call twice. */
  stop(): Promise<void>;
  /** How it ended by itself; null while it runs. */
  ended(): string | null;
}

const POLL_SECONDS = seconds(0.3);
const LOG_LINES = 15;

const failed = (message: string, cause?: unknown): ProbeExporterError =>
  new ProbeExporterError('USAGE', message, cause === undefined ? {} : { cause });

/** Whether something accepts connections there. */
export function portAnswers(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      timeout: 2000,
    });
    const done = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', done(true));
    socket.once('error', done(false));
    socket.once('timeout', done(false));
  });
}

/** Enough for the last lines of any log; the whole of one may be longer than a string can be. */
const LOG_TAIL_BYTES = 64 * 1024;

function lastBytes(file: string): string {
  const log = openSync(file, 'r');
  try {
    const { size } = fstatSync(log);
    const tail = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES));
    return tail.toString('utf8', 0, readSync(log, tail, 0, tail.length, size - tail.length));
  } finally {
    closeSync(log);
  }
}

/** The end of what the engine printed, for the message that says it died. */
function logTail(file: string): string {
  try {
    const lines = lastBytes(file).trimEnd().split('\n').slice(-LOG_LINES);
    return lines.map((line) => `  ${line.slice(0, 300)}`).join('\n');
  } catch {
    return '  (nothing was printed)';
  }
}

const endOf = (child: ChildProcess): string | null =>
  child.exitCode !== null ? `exit code ${child.exitCode}` : child.signalCode;

function start(options: EngineCommand): ChildProcess {
  let log: number;
  try {
    log = openSync(options.logFile, 'a');
  } catch (error) {
    throw diskError(error, options.logFile);
  }
  try {
    // A group of its own: Ctrl-C on the terminal must not reach it before the window is closed in order.
    return spawn('/bin/sh', ['-c', options.command], { detached: true, stdio: ['ignore', log, log] });
  } finally {
    closeSync(log);
  }
}

async function waitReady(child: ChildProcess, options: EngineCommand, deps: EngineDependencies): Promise<void> {
  const began = deps.clock.monotonic();
  for (;;) {
    if (deps.signal.aborted) throw failed('stopped while the engine was starting');
    const over = endOf(child);
    if (over !== null)
      throw failed(`the start command ended (${over}) before the engine was ready:\n${logTail(options.logFile)}`);
    if (await deps.isReady(options.url)) return;
    if (elapsed(began, deps.clock.monotonic()) > options.readySeconds)
      throw failed(
        `the engine was not ready at ${options.url} after ${options.readySeconds} s; does the command serve that address? It printed last:\n${logTail(options.logFile)}`,
      );
    await sleep(deps.clock, POLL_SECONDS, deps.signal);
  }
}

/**
 * Starts an engine in a process group of its own and waits until it can be used. Whatever happens, nothing is left
 * running when this rejects, and a guard ends the group should this program be killed.
 *
 * @throws ProbeExporterError USAGE: the port is taken, the command dies or never gets ready; DISK_FAILED: no log
 */
export async function startEngine(options: EngineCommand, deps: EngineDependencies): Promise<RunningEngine> {
  if (await portAnswers(options.url))
    throw failed(`something already listens at ${options.url}: end it, or give the start command another port`);
  const child = start(options);
  const broken = new Promise<never>((_, reject) => child.once('error', reject));
  broken.catch(() => undefined);
  const group = child.pid ?? (await broken);
  const guard = guardGroup(group, options.stopSeconds);
  let stopping: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    const gone = endOf(child) === null ? once(child, 'exit') : Promise.resolve();
    await endGroup(group, options.stopSeconds, deps.clock);
    await gone;
    guard.release();
  };
  const stop = (): Promise<void> => {
    stopping ??= end();
    return stopping;
  };
  try {
    await waitReady(child, options, deps);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop, ended: () => (groupLives(group) ? null : (endOf(child) ?? 'ended')) };
}

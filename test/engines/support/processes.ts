import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessOptions {
  /** For messages and the name of the log file. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** True as soon as the program can be used. Asked again and again; must not make an engine generate. */
  readonly ready: () => Promise<boolean>;
  readonly readySeconds: number;
  /** How long the program may take to end after SIGTERM before its whole group is killed. */
  readonly stopSeconds?: number;
}

export interface RunningProcess {
  readonly pid: number;
  /** What it printed, standard output and error together; only the end of very much. */
  log(): string;
  /** Null while it runs. */
  exitCode(): number | null;
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL to the whole process group; resolves when the program is gone. Safe to call twice. */
  stop(): Promise<void>;
}

// A group is remembered in this folder while it runs, so that whoever started the tests can end what a killed
// test run left behind (run.sh does).
const groupsFolder = process.env.PROBE_TEST_GROUPS;
const liveGroups = new Set<number>();
// Where the output of the programs is kept for looking at afterwards; without it only the tail in memory exists.
const logsFolder = process.env.PROBE_TEST_LOGS;
const KEPT_OUTPUT_CHARACTERS = 2_000_000;

process.once('exit', () => {
  for (const group of liveGroups) killGroup(group, 'SIGKILL');
});

function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Already gone: what was wanted.
  }
}

function remember(group: number, name: string): void {
  liveGroups.add(group);
  if (groupsFolder !== undefined) writeFileSync(join(groupsFolder, String(group)), name);
}

function forget(group: number): void {
  liveGroups.delete(group);
  if (groupsFolder !== undefined) rmSync(join(groupsFolder, String(group)), { force: true });
}

/** Keeps the end of everything that a program prints. */
function collectOutput(child: ChildProcess, name: string): () => string {
  let text = '';
  const take = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-KEPT_OUTPUT_CHARACTERS);
    if (logsFolder !== undefined) appendFileSync(join(logsFolder, `${name}.${child.pid}.log`), chunk);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => text;
}

function tail(text: string, lines: number): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

async function isReady(options: ProcessOptions): Promise<boolean> {
  try {
    return await options.ready();
  } catch {
    return false;
  }
}

async function waitReady(child: ChildProcess, options: ProcessOptions, log: () => string): Promise<void> {
  const deadline = performance.now() + options.readySeconds * 1000;
  while (!(await isReady(options))) {
    const over = child.exitCode ?? child.signalCode;
    if (over !== null) throw new Error(`${options.name} ended with ${over} before it was ready:\n${tail(log(), 40)}`);
    if (performance.now() > deadline) {
      throw new Error(`${options.name} was not ready after ${options.readySeconds} s:\n${tail(log(), 40)}`);
    }
    await sleep(200);
  }
}

/**
 * Starts a program in a process group of its own and waits until it is ready.
 * Rejects with the end of its output when it dies or does not get ready; nothing is left running then.
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  const failedToSpawn = new Promise<never>((_, reject) => child.once('error', reject));
  failedToSpawn.catch(() => undefined);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pid = child.pid ?? (await failedToSpawn);
  remember(pid, options.name);
  const log = collectOutput(child, options.name);
  const end = async (): Promise<void> => {
    killGroup(pid, 'SIGTERM');
    const stopMs = (options.stopSeconds ?? 20) * 1000;
    await Promise.race([exited, sleep(stopMs, undefined, { ref: false })]);
    // Also after a clean end: engines have children of their own, which may outlive them.
    killGroup(pid, 'SIGKILL');
    await exited;
    forget(pid);
  };
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= end();
    return stopping;
  };

  try {
    await waitReady(child, options, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid, log, exitCode: () => child.exitCode, signal: (signal) => child.kill(signal), stop };
}

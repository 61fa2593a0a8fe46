import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = 'node_modules/.cache/inference-probe-tests';

/** Changes whenever a source file does. */
function sourcesId(): string {
  const hash = createHash('sha256');
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((file) => join('src', file));
  for (const file of [...files.sort(), 'scripts/build.mjs', 'package.json']) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** Path of the shipped program, built from the sources as they are; built once for all test files. */
export async function bundle(): Promise<string> {
  const folder = resolve(CACHE, sourcesId());
  const path = join(folder, 'inference-probe.mjs');
  if (existsSync(path)) return path;
  // Another worker may be building the same: each into a folder of its own, and whoever is first gives it its name.
  const own = resolve(CACHE, `building-${process.pid}`);
  mkdirSync(own, { recursive: true });
  await run(process.execPath, ['scripts/build.mjs', join(own, 'inference-probe.mjs')]);
  try {
    if (!existsSync(folder)) renameSync(own, folder);
  } catch (error) {
    // The other one was first between the question and the renaming.
    if (!existsSync(path)) throw error;
  }
  return path;
}

export interface Finished {
  /** Null: ended by a signal. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A program that runs beside the test. */
export interface Running {
  readonly pid: number;
  /** What it has said so far on both outputs. */
  said(): string;
  /** Waits until it has said something; fails when it ends without. */
  saying(what: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  finished(): Promise<Finished>;
  /** Kills it if it is still there. */
  dispose(): void;
}

export type ProcessEnvironment = Readonly<Record<string, string>>;

/** Starts a program with nothing of the test's own environment but the path. */
export function start(command: string, args: readonly string[], environment: ProcessEnvironment = {}): Running {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  let ended = false;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of [...waiting]) look();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    wake();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    wake();
  });
  const closed = once(child, 'close').then(([code]: readonly (number | null)[]): Finished => {
    ended = true;
    wake();
    return { code: code ?? null, out, err };
  });
  return {
    pid: child.pid ?? -1,
    said: () => out + err,
    saying: (what) =>
      new Promise((resolved, rejected) => {
        const look = (): void => {
          const match = what.exec(out) ?? what.exec(err);
          if (match === null && !ended) return;
          waiting.delete(look);
          if (match === null) rejected(new Error(`ended without saying ${what}: ${out}${err}`));
          else resolved(match);
        };
        waiting.add(look);
        look();
      }),
    signal: (name) => void child.kill(name),
    finished: () => closed,
    dispose: () => void child.kill('SIGKILL'),
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';

/** A child of the bench that talks in lines of JSON on its standard output. */
export interface LineChild {
  readonly pid: number;
  /** The next line, parsed. Rejects when the child ends before it. */
  next<T>(): Promise<T>;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

export function startChild(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): LineChild {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    next: async <T>() => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${command} ${args.join(' ')} ended early`);
      return JSON.parse(value) as T;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await gone(child);
      process.removeListener('exit', kill);
    },
  };
}

const path = (name: string): string => new URL(name, import.meta.url).pathname;
const built = new Map<string, string>();

/** Bundled like the shipped program, so that nobody measures the TypeScript loader. */
function bundleTool(name: string): string {
  const known = built.get(name);
  if (known !== undefined) return known;
  const outfile = join(mkdtempSync(join(tmpdir(), 'inference-probe-bench-')), `${name}.mjs`);
  buildSync({
    entryPoints: [path(`./${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  process.once('exit', () => rmSync(dirname(outfile), { recursive: true, force: true }));
  built.set(name, outfile);
  return outfile;
}

/** One of the TypeScript programs of this folder, in a process of its own. */
export function startTool(name: string, ...args: readonly string[]): LineChild {
  return startChild(process.execPath, [bundleTool(name), ...args]);
}

/** The scripted server, with its address. */
export async function startServer(
  firstTokenMs: number,
  gapMs: number,
  page?: string,
): Promise<LineChild & { readonly url: string }> {
  const child = startTool(
    'scripted-server',
    String(firstTokenMs),
    String(gapMs),
    ...(page === undefined ? [] : [page]),
  );
  const { port } = await child.next<{ port: number }>();
  return { ...child, url: `http://127.0.0.1:${port}` };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../child.ts';
import type { ServerStamps } from '../stamps.ts';
import type { Distribution } from '../statistics.ts';
import { type Outcome, type Peer, type PeerLoad, type Reported, temporary } from './clients.ts';
import { eventsOf, type Truth, truthOf, ttftErrors } from './truth.ts';

/** One run of one client against a server of its own. */
export interface PeerRun {
  readonly streams: number;
  readonly seconds: number;
  /** User and system time of everything that the client started. */
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  /** Tokens that the server streamed to it, whether it counts them or not. */
  readonly events: number;
  readonly reported: Reported | null;
  /** What the server saw of the requests that it counts. */
  readonly truth: Truth;
  readonly ttftErrorMs: Distribution;
}

const FIRST_TOKEN_MS = 100;
const GAP_MS = 20;
/** Beyond its window: start, warm-up, evaluation. */
const GRACE_MS = 180_000;
const measurer = new URL('./measure.py', import.meta.url).pathname;

interface Usage {
  readonly code: number;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

/** Runs a command to its end; its standard output and what it used. */
async function used(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  folder: string,
  longestMs: number,
): Promise<Usage & { readonly out: string }> {
  const file = join(folder, 'usage.json');
  const log = createWriteStream(join(folder, 'stderr.log'));
  const child = spawn('python3', [measurer, file, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd: folder,
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  const timer = setTimeout(kill, longestMs);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.pipe(log);
  await once(child, 'close');
  clearTimeout(timer);
  process.removeListener('exit', kill);
  try {
    return { ...(JSON.parse(readFileSync(file, 'utf8')) as Usage), out };
  } catch {
    throw new Error(`${command[0]} did not end in time`);
  }
}

async function stampsOf(url: string): Promise<ServerStamps> {
  return (await (await fetch(`${url}/stamps`)).json()) as ServerStamps;
}

interface ClientRun extends Usage {
  readonly outcome: Outcome;
}

/** Runs a client to its end. `folder` is its own. */
export async function runPeer(peer: Peer, load: PeerLoad, folder: string): Promise<ClientRun> {
  const results = join(folder, 'results');
  mkdirSync(results);
  const longestMs = load.seconds * 1000 + GRACE_MS;
  const { out, ...usage } = await used(peer.command(load, results), peer.environment, folder, longestMs);
  try {
    return { ...usage, outcome: peer.read(results, out) };
  } catch (error) {
    const said = readFileSync(join(folder, 'stderr.log'), 'utf8').slice(-1500);
    throw new Error(`${peer.name} left nothing to read (exit code ${usage.code}): ${said}`, { cause: error });
  }
}

export function measurePeer(peer: Peer, load: Omit<PeerLoad, 'url'>): Promise<PeerRun> {
  return temporary(async (folder) => {
    const server = await startServer(FIRST_TOKEN_MS, GAP_MS);
    try {
      const { outcome, cpuSeconds, wallSeconds } = await runPeer(peer, { ...load, url: server.url }, folder);
      const stamps = await stampsOf(server.url);
      const pairs = outcome.pairs(stamps);
      return {
        streams: load.streams,
        seconds: load.seconds,
        cpuSeconds,
        wallSeconds,
        events: eventsOf(stamps),
        reported: outcome.reported,
        truth: truthOf(
          stamps,
          pairs.map(({ id }) => id),
        ),
        ttftErrorMs: ttftErrors(pairs, stamps),
      };
    } finally {
      await server.stop();
    }
  });
}

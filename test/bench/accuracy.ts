import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ApiName } from '../../src/probe/outcome.ts';
import { startChild, startServer, startTool } from './child.ts';
import { type Accuracy, type ClientResult, compareStamps, type ServerStamps } from './stamps.ts';

export interface Load {
  readonly streams: number;
  readonly seconds: number;
  readonly tokens: number;
  readonly firstTokenMs: number;
  readonly gapMs: number;
}

const DEFAULT_API: ApiName = 'chat';

async function fetchStamps(url: string): Promise<ServerStamps> {
  return (await (await fetch(`${url}/stamps`)).json()) as ServerStamps;
}

function argumentsOf(load: Load): string[] {
  return [load.streams, load.seconds, load.tokens].map(String);
}

/** Our prober against the scripted server. `page`: also poll it as the engine's page and be scraped, every second. */
export async function measureOurs(load: Load, api: ApiName = DEFAULT_API, page?: string): Promise<Accuracy> {
  const server = await startServer(load.firstTokenMs, load.gapMs, page);
  const mode = page === undefined ? 'quiet' : 'scraped';
  const client = startTool('probe-client', server.url, ...argumentsOf(load), api, mode);
  let scraper: NodeJS.Timeout | null = null;
  try {
    if (page !== undefined) {
      const { port } = await client.next<{ port: number }>();
      const scrape = (): Promise<string> =>
        fetch(`http://127.0.0.1:${port}/metrics`).then(
          (response) => response.text(),
          () => '',
        );
      scraper = setInterval(scrape, 1000);
    }
    return compareStamps(await client.next<ClientResult>(), await fetchStamps(server.url));
  } finally {
    if (scraper !== null) clearInterval(scraper);
    await client.stop();
    await server.stop();
  }
}

export const PYTHON_CLIENTS = ['aiohttp', 'httpx'] as const;
export type PythonClient = (typeof PYTHON_CLIENTS)[number];

/** Installs the Python clients on first use; the path of their virtual environment. */
export function pythonClients(): string {
  const script = new URL('./install/python-clients.sh', import.meta.url).pathname;
  return execFileSync('bash', [script], { encoding: 'utf8' }).trim();
}

/** A plain Python client doing the same work against the same server. */
export async function measurePython(venv: string, name: PythonClient, load: Load): Promise<Accuracy> {
  const server = await startServer(load.firstTokenMs, load.gapMs);
  const script = new URL(`./python/${name}_client.py`, import.meta.url).pathname;
  const client = startChild(join(venv, 'bin', 'python'), [script, server.url, ...argumentsOf(load)]);
  try {
    return compareStamps(await client.next<ClientResult>(), await fetchStamps(server.url));
  } finally {
    await client.stop();
    await server.stop();
  }
}

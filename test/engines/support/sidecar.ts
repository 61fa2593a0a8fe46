import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { fetchPage, type MetricsPage } from './metrics-page.ts';
import { type RunningProcess, startProcess } from './processes.ts';

/** The shipped bundle: what users run is what these suites test. Another build of it can be named. */
export const bundle =
  process.env.PROBE_TEST_BUNDLE ?? new URL('../../../dist/inference-probe.mjs', import.meta.url).pathname;

export interface Sidecar {
  readonly url: string;
  readonly process: RunningProcess;
  page(): Promise<MetricsPage>;
  /** GET of a path of the sidecar as JSON. */
  json<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

export interface SidecarOptions {
  /** Configuration by environment only, as in a Pod without a file. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text of a configuration file; without it there is none. */
  readonly config?: string;
}

/** `inference-probe serve` as a child process, ready when its own readiness endpoint says so. */
export async function startSidecar(options: SidecarOptions): Promise<Sidecar> {
  if (!existsSync(bundle)) throw new Error(`${bundle} is not there: run npm run build`);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-sidecar-'));
  const args = [bundle, 'serve', `--web.listen-address=127.0.0.1:${port}`];
  if (options.config !== undefined) {
    writeFileSync(join(folder, 'config.yml'), options.config);
    args.push(`--config.file=${join(folder, 'config.yml')}`);
  }
  const process = await startProcess({
    name: 'sidecar',
    command: globalThis.process.execPath,
    args,
    ...(options.env === undefined ? {} : { env: options.env }),
    ready: async () => (await fetch(`${url}/-/healthy`)).ok,
    readySeconds: 20,
    stopSeconds: 8,
  });
  return {
    url,
    process,
    page: () => fetchPage(`${url}/metrics`),
    json: async <T>(path: string): Promise<T> => {
      const response = await fetch(`${url}${path}`, { headers: { accept: 'application/json' } });
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return (await response.json()) as T;
    },
    stop: async () => {
      await process.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

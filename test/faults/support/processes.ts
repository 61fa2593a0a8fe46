import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle, type ProcessEnvironment, type Running, start } from '../../support/bundle.ts';

/** The shipped program: built from the sources, or the file that PROBE_TEST_PROGRAM names. */
export const program = async (): Promise<string> => process.env.PROBE_TEST_PROGRAM ?? bundle();

/** Runs `look` again until `check` holds; fails with what was seen last. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  check: (value: T) => boolean,
  withinSeconds = 30,
): Promise<T> {
  const deadline = performance.now() + withinSeconds * 1000;
  for (;;) {
    let seen: T | undefined;
    let problem = '';
    try {
      seen = await look();
      if (check(seen)) return seen;
    } catch (error) {
      problem = String(error);
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${withinSeconds} s; last seen: ${problem || JSON.stringify(seen)}`);
    }
    await pause(0.15);
  }
}

export const pause = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

export interface SimulatedEngine {
  readonly port: number;
  readonly process: Running;
  fault(fault: object): Promise<void>;
}

/** The shipped simulator as a process of its own. */
export async function startEngine(args: readonly string[] = [], port = 0): Promise<SimulatedEngine> {
  const fast = ['--step-seconds', '0.005', '--prefill-token-seconds', '0.00001'];
  const process_ = start(process.execPath, [
    await program(),
    'simulate',
    '--port',
    String(port),
    '--model',
    'sim',
    ...fast,
    ...args,
  ]);
  const [, found = ''] = await process_.saying(/simulated engine: http:\/\/127\.0\.0\.1:(\d+)/);
  return {
    port: Number(found),
    process: process_,
    async fault(fault) {
      const response = await fetch(`http://127.0.0.1:${found}/sim/fault`, {
        method: 'POST',
        body: JSON.stringify(fault),
        headers: { connection: 'close' },
      });
      if (!response.ok) throw new Error(`fault ${JSON.stringify(fault)}: ${await response.text()}`);
    },
  };
}

/** Values by series, as one scrape saw them. */
export type Page = ReadonlyMap<string, number>;

export interface Exporter {
  readonly process: Running;
  readonly base: string;
  readonly folder: string;
  page(): Promise<Page>;
  get(path: string): Promise<Response>;
  /** Rewrites the configuration file; it is read again after `reload`. */
  configure(text: string): void;
  reload(): Promise<number>;
  /** Puts the hook's control in force, waits until it is, and says how many timers were armed then. */
  control(control: object): Promise<number>;
  /** Open descriptors now. */
  descriptors(): number;
  stop(): Promise<number | null>;
}

function parsePage(text: string): Page {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

/** The shipped exporter as a process, with the hook of this folder in it. */
export async function startExporter(
  config: (folder: string) => string,
  environment: ProcessEnvironment = {},
): Promise<Exporter> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-faults-'));
  const configFile = join(folder, 'config.yml');
  const controlFile = join(folder, 'control.json');
  writeFileSync(configFile, config(folder));
  const process_ = start(
    process.execPath,
    ['--import', resolve('test/faults/support/hook.mjs'), await program(), 'serve', '--config.file', configFile],
    { FAULTS_CONTROL: controlFile, ...environment },
  );
  const [, port] = await process_.saying(/"port":(\d+).*"listening"/);
  const base = `http://127.0.0.1:${port}`;
  // Connections of the test must not count among the descriptors of the program.
  const get: Exporter['get'] = (path) =>
    fetch(base + path, { headers: { connection: 'close' }, signal: AbortSignal.timeout(60_000) });
  let order = 0;
  return {
    process: process_,
    base,
    folder,
    get,
    page: async () => parsePage(await (await get('/metrics')).text()),
    configure: (text) => writeFileSync(configFile, text),
    reload: async () => (await fetch(`${base}/-/reload`, { method: 'POST', headers: { connection: 'close' } })).status,
    async control(control) {
      order += 1;
      const content = { dnsDown: false, clockStepSeconds: 0, blockSeconds: 0, ...control, order };
      writeFileSync(controlFile, JSON.stringify(content));
      process_.signal('SIGUSR2');
      const [, timers] = await process_.saying(new RegExp(`control ${order} is in force, timers: (\\d+)`));
      return Number(timers);
    },
    descriptors: () => readdirSync(`/proc/${process_.pid}/fd`).length,
    async stop() {
      process_.signal('SIGTERM');
      const { code } = await process_.finished();
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/** Kilobytes of memory that only this process has. */
export const anonymousKilobytes = (pid: number): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN);

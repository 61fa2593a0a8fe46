import { afterEach } from 'vitest';
import { type App, type AppDependencies, createApp } from '../../../src/app.ts';
import { systemClock } from '../../../src/clock.ts';
import type { Config, ScheduledProfile, TargetConfig } from '../../../src/config/types.ts';
import type { LogFields, Logger } from '../../../src/log.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_SIMULATOR, type SimulatorOptions } from '../../../src/sim/options.ts';
import { type Simulator, startSimulator } from '../../../src/sim/server.ts';
import { seconds } from '../../../src/units.ts';
import { sampleConfig, sampleProfile, sampleTarget } from '../../support/sample-config.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A simulated engine with steps of 2 ms on a free port. */
export async function simulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const cost = {
    stepSeconds: seconds(0.002),
    prefillTokenSeconds: seconds(0),
    decodeSequenceSeconds: seconds(0),
    kvTokenSeconds: seconds(0),
  };
  const engine = { ...DEFAULT_SIMULATOR.engine, cost };
  const started = await startSimulator(
    { ...DEFAULT_SIMULATOR, engine, model: 'sim', ...options, port: 0 },
    { clock: systemClock(), log: silentLogger() },
  );
  open.push(() => started.close());
  return started;
}

/** A profile that is due every 0.3 s; the deadlines leave room for a machine that is busy with other tests. */
export const quickProfile = (name: string, everySeconds = 0.3, firstTokenSeconds = 8): ScheduledProfile => {
  const { profile } = sampleProfile(name, {
    promptTokens: 32,
    maxTokens: 8,
    deadlines: {
      connectSeconds: seconds(5),
      headersSeconds: seconds(8),
      firstTokenSeconds: seconds(firstTokenSeconds),
      betweenTokensSeconds: seconds(8),
      totalSeconds: seconds(firstTokenSeconds + 8),
    },
  });
  return { profile, timetable: { everySeconds: seconds(everySeconds), cron: null, jitterSeconds: seconds(0) } };
};

/** A target of which nothing but its address is known. */
export function quickTarget(url: URL, overrides: Partial<TargetConfig> = {}): TargetConfig {
  const { metrics, slo } = sampleTarget();
  return sampleTarget({
    url,
    model: 'auto',
    api: 'auto',
    engine: 'auto',
    profiles: [quickProfile('cold')],
    warmupProbes: 0,
    // Nothing is slow here, however busy the machine is.
    slo: {
      ...slo,
      ttft: { ...slo.ttft, thresholdSeconds: seconds(30) },
      tpot: { ...slo.tpot, thresholdSeconds: seconds(30) },
    },
    metrics: { ...metrics, everySeconds: seconds(0.1), hangAfterSeconds: seconds(1), maxBytes: 8_000_000 },
    ...overrides,
  });
}

export const quickConfig = (...targets: readonly TargetConfig[]): Config => sampleConfig({ targets });

interface Line {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

function recorder(lines: Line[], context: LogFields = {}): Logger {
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields: { ...context, ...fields }, message });
  return {
    debug: () => {},
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recorder(lines, { ...context, ...fields }),
  };
}

/** The whole exporter on a free port, with what it logged. */
export interface Running {
  readonly app: App;
  readonly lines: Line[];
  get(path: string): Promise<{ readonly status: number; readonly body: string }>;
  post(path: string): Promise<number>;
  /** Value of a series by the start of its line, labels included; null when there is none. */
  metric(series: string): Promise<number | null>;
  page(): Promise<string>;
}

export async function exporter(config: Config, deps: Partial<AppDependencies> = {}): Promise<Running> {
  const lines: Line[] = [];
  const app = createApp({ config, podName: 'pod-a' }, { clock: systemClock(), log: recorder(lines), ...deps });
  open.push(() => app.close());
  await app.start();
  const base = `http://127.0.0.1:${app.address()?.port}`;
  // Connections are not kept, so that closing is not held up by the test's own.
  const headers = { connection: 'close' };
  const get = async (path: string) => {
    const response = await fetch(base + path, { headers });
    return { status: response.status, body: await response.text() };
  };
  const page = async (): Promise<string> => (await get('/metrics')).body;
  return {
    app,
    lines,
    get,
    page,
    post: async (path) => (await fetch(base + path, { method: 'POST', headers })).status,
    async metric(series) {
      const line = (await page()).split('\n').find((text) => text.startsWith(`${series} `));
      return line === undefined ? null : Number(line.split(' ').at(-1));
    },
  };
}

/** Looks again until `check` holds; fails with what was seen last. */
export async function until<T>(look: () => Promise<T>, check: (value: T) => boolean, within = 12): Promise<T> {
  const deadline = performance.now() + within * 1000;
  let seen = await look();
  while (!check(seen)) {
    if (performance.now() > deadline) throw new Error(`not within ${within} s; last seen: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
    seen = await look();
  }
  return seen;
}

import { createApp } from '../app.ts';
import { loadConfigFile } from '../config/load.ts';
import { createLogger } from '../log.ts';
import { simulatorOptions } from '../sim/flags.ts';
import { DEFAULT_SIMULATOR, type SimulatorOptions } from '../sim/options.ts';
import { type Simulator, startSimulator } from '../sim/server.ts';
import { seconds } from '../units.ts';
import { aborted, type CliContext, EXIT, type ExitCode } from './context.ts';

/** Flags of `demo`: where to listen, and those of the simulated engine that are worth playing with. */
export interface DemoFlags {
  readonly 'web.listenAddress'?: string;
  readonly 'log.level'?: string;
  readonly sim: Readonly<Record<string, string | undefined>>;
}

/** A wave that goes through underload, knee and overload every four minutes. */
export const DEMO_SIMULATOR: SimulatorOptions = {
  ...DEFAULT_SIMULATOR,
  // A free port, so that the demo runs beside a real engine.
  port: 0,
  load: { ...DEFAULT_SIMULATOR.load, shape: 'wave', periodSeconds: seconds(240) },
};

/** Probes often, because somebody is watching and the engine is free. */
export const DEMO_CONFIG = `web: { listen_address: '127.0.0.1:20061' }
profiles:
  - { name: cold, every: 5s, prefix: unique, prompt_tokens: 256 }
  - { name: warm, every: 5s, prefix: shared, prompt_tokens: 256 }
slo:
  availability: { objective: 0.99 }
  ttft: { threshold: 1s, objective: 0.95 }
  tpot: { threshold: 50ms, objective: 0.95 }
budget: { tokens_per_hour: 1000000, tokens_per_day: 24000000 }
targets:
  - name: demo
    url: http://127.0.0.1:8000
    vantage: demo
    metrics: { histograms: true }
`;

function demoConfig(simulator: Simulator, flags: DemoFlags, context: CliContext) {
  const given = [
    { path: ['targets', 0, 'url'], value: simulator.url.origin, place: 'demo' },
    { path: ['web', 'listen_address'], value: flags['web.listenAddress'], place: '--web.listen-address' },
    { path: ['log', 'level'], value: flags['log.level'], place: '--log.level' },
  ];
  const bytes = new TextEncoder().encode(DEMO_CONFIG);
  const { config } = loadConfigFile('demo', {
    environment: {},
    overrides: given.filter(({ value }) => value !== undefined),
    files: { read: () => bytes, version: () => 'fixed' },
    log: createLogger({ level: 'warn', format: 'logfmt' }),
  });
  return { config, log: createLogger({ ...config.log, format: 'logfmt' }), clock: context.clock };
}

const at = (address: string): string =>
  address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;

/** A simulated engine under changing load with the exporter beside it; ends both when the process is told to stop. */
export async function demo(flags: DemoFlags, context: CliContext): Promise<ExitCode> {
  const log = createLogger({ level: 'warn', format: 'logfmt' });
  const options = simulatorOptions(flags.sim, DEMO_SIMULATOR);
  const simulator = await startSimulator(options, { clock: context.clock, log });
  try {
    const { config, ...deps } = demoConfig(simulator, flags, context);
    const app = createApp({ config }, deps);
    try {
      await app.start();
      const address = app.address();
      const base = address === null ? '' : `http://${at(address.address)}:${address.port}`;
      context.out(
        [
          '',
          `  live page          ${base}/`,
          `  metrics            ${base}/metrics`,
          `  recent probes      ${base}/probes`,
          `  simulated engine   ${simulator.url.origin}  (a wave of load: calm, busy, too much, every ${options.load.periodSeconds} s)`,
          '',
          '  Ctrl-C ends both.',
          '',
        ].join('\n'),
      );
      await aborted(context.stop);
    } finally {
      await app.close();
    }
  } finally {
    await simulator.close();
  }
  return EXIT.ok;
}

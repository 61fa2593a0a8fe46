import { type Clock, systemClock, type Timer } from '../../src/clock.ts';
import { type Logger, silentLogger } from '../../src/log.ts';
import type { FailedProbe, GoodProbe, ProbeOutcome } from '../../src/probe/outcome.ts';
import { createProber, type ProbeOptions, type Prober, type ProberDependencies } from '../../src/probe/prober.ts';
import type { ConnectionSettings, Deadlines, ProbeProfile, ProbeTarget } from '../../src/probe/profile.ts';
import { type Seconds, seconds } from '../../src/units.ts';
import { type ScriptedServer, type ScriptedServerOptions, startScriptedServer } from './scripted-server.ts';

/** Long enough for a busy machine, short enough for a test that forgets the server's answer. */
export const DEADLINES: Deadlines = {
  connectSeconds: seconds(5),
  headersSeconds: seconds(5),
  firstTokenSeconds: seconds(6),
  betweenTokensSeconds: seconds(5),
  totalSeconds: seconds(10),
};

const CONNECTION: ConnectionSettings = {
  family: 'auto',
  addressAttemptSeconds: seconds(0.25),
  caFile: null,
  certFile: null,
  keyFile: null,
  serverName: null,
  insecureSkipVerify: false,
  proxyUrl: null,
};

export type ProfileOverrides = Partial<Omit<ProbeProfile, 'deadlines'>> & { readonly deadlines?: Partial<Deadlines> };

export function sampleProfile(overrides: ProfileOverrides = {}): ProbeProfile {
  return {
    name: 'cold',
    prefix: 'unique',
    connection: 'reuse',
    promptTokens: 64,
    prompt: null,
    maxTokens: 16,
    ignoreEos: 'auto',
    temperature: 0,
    expect: { minTokens: null, pattern: null, answer: null, detectDegenerate: false },
    extraBody: {},
    ...overrides,
    deadlines: { ...DEADLINES, ...overrides.deadlines },
  };
}

export type TargetOverrides = Partial<Omit<ProbeTarget, 'connection' | 'url'>> & {
  readonly url?: string;
  readonly connection?: Partial<ConnectionSettings>;
};

export function sampleTarget({ url, connection, ...overrides }: TargetOverrides = {}): ProbeTarget {
  return {
    name: 'engine',
    url: new URL(url ?? 'http://127.0.0.1:1'),
    model: 'm',
    api: 'chat',
    engine: null,
    apiKey: () => null,
    headers: {},
    ...overrides,
    connection: { ...CONNECTION, ...connection },
  };
}

/** The machine's clock, which knows how many timers are armed. */
function countingClock(inner: Clock = systemClock()): Clock & { armed(): number } {
  const armed = new Set<object>();
  return {
    ...inner,
    setTimer(delay: Seconds, callback: () => void): Timer {
      const key = {};
      armed.add(key);
      const timer = inner.setTimer(delay, () => {
        armed.delete(key);
        callback();
      });
      return {
        cancel: () => {
          armed.delete(key);
          timer.cancel();
        },
      };
    },
    armed: () => armed.size,
  };
}

/** A logger that keeps its lines as text. */
export function recordingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { lines, debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}

export interface RigOptions extends ScriptedServerOptions {
  readonly profile?: ProfileOverrides;
  readonly target?: TargetOverrides;
  readonly dependencies?: Partial<ProberDependencies>;
  readonly disturbedAfterSeconds?: number;
  readonly figuresOnly?: boolean;
  /** Path below the server's address; `/v1` is added by the API. */
  readonly path?: string;
}

/** A scripted server and a prober for it. */
export interface Rig {
  readonly server: ScriptedServer;
  readonly prober: Prober;
  readonly clock: ReturnType<typeof countingClock>;
  probe(options?: Partial<ProbeOptions>): Promise<ProbeOutcome>;
  good(): Promise<GoodProbe>;
  failed(): Promise<FailedProbe>;
  /** Closes the prober and proves that it left nothing behind; then closes the server. */
  close(): Promise<void>;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const server = await startScriptedServer(options);
  const clock = countingClock();
  const target = sampleTarget({ url: `${server.url}${options.path ?? ''}`, ...options.target });
  const prober = createProber(
    {
      target,
      profile: sampleProfile(options.profile),
      disturbedAfterSeconds: seconds(options.disturbedAfterSeconds ?? 0.02),
      figuresOnly: options.figuresOnly ?? false,
    },
    { clock, log: silentLogger(), environment: {}, ...options.dependencies },
  );
  const probe = async (how: Partial<ProbeOptions> = {}): Promise<ProbeOutcome> => {
    const outcome = await prober.probe({ traceparent: false, ...how });
    if (outcome === null) throw new Error('the probe was aborted');
    return outcome;
  };
  return {
    server,
    prober,
    clock,
    probe,
    async good() {
      const outcome = await probe();
      if (outcome.outcome !== 'good') throw new Error(`${outcome.failure.reason}: ${outcome.failure.message}`);
      return outcome;
    },
    async failed() {
      const outcome = await probe();
      if (outcome.outcome !== 'failed') throw new Error('the probe was good');
      return outcome;
    },
    async close() {
      await prober.close();
      await server.quiet();
      await server.close();
      if (clock.armed() > 0) throw new Error(`${clock.armed()} timers were left behind`);
    },
  };
}

/** Runs `use` with a rig of its own, and proves afterwards that nothing was left behind. */
export async function withRig<T>(options: RigOptions, use: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = await startRig(options);
  try {
    const result = await use(rig);
    await rig.close();
    return result;
  } catch (error) {
    await rig.prober.close();
    await rig.server.close();
    throw error;
  }
}

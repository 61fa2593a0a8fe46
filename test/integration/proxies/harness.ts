import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';
import { createProber } from '../../../src/probe/prober.ts';
import { DEFAULT_SIMULATOR } from '../../../src/sim/options.ts';
import { type Simulator, startSimulator } from '../../../src/sim/server.ts';
import { seconds } from '../../../src/units.ts';
import { type ProfileOverrides, sampleProfile, sampleTarget } from '../../support/probe-rig.ts';
import { type RealProxy, startProxy } from '../../support/real-proxy.ts';
import { type Script, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function closedAfterwards<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  open.push(() => started.close());
  return started;
}

export const TOKENS = 24;
export const STEP_SECONDS = 0.012;

/** An engine that decodes a token every 12 ms, as a small model does. */
export const startEngine = (): Promise<Simulator> => {
  const cost = { ...DEFAULT_SIMULATOR.engine.cost, stepSeconds: seconds(STEP_SECONDS) };
  const options = { ...DEFAULT_SIMULATOR, model: 'm', port: 0, engine: { ...DEFAULT_SIMULATOR.engine, cost } };
  return closedAfterwards(startSimulator(options, { clock: systemClock(), log: silentLogger() }));
};

/** Waits until the engine has sent a dozen tokens, and the proxy has had its time to pass the first of them on. */
export async function flowing({ engine }: Simulator): Promise<void> {
  while (engine.statistics().counters.generationTokens < 12) await sleep(5);
  await sleep(300);
}

export const startServer = (script: Script): Promise<ScriptedServer> =>
  closedAfterwards(startScriptedServer({ script }));

export const inFront = (...how: Parameters<typeof startProxy>): Promise<RealProxy> =>
  closedAfterwards(startProxy(...how));

/** A function that probes `url` once a call. */
export function probing(
  url: string,
  { headers = {}, ...profile }: ProfileOverrides & { readonly headers?: Readonly<Record<string, string>> } = {},
): () => Promise<ProbeOutcome> {
  const prober = createProber(
    {
      target: sampleTarget({ url, api: 'completions', engine: 'vllm', headers }),
      profile: sampleProfile({ maxTokens: TOKENS, ...profile }),
      // The machine of a test may be slow: nothing here is judged by a sample that must not be disturbed.
      disturbedAfterSeconds: seconds(10),
    },
    { clock: systemClock(), log: silentLogger(), environment: {} },
  );
  open.push(() => prober.close());
  return async () => {
    const outcome = await prober.probe({ traceparent: false });
    if (outcome === null) throw new Error('the probe was aborted');
    return outcome;
  };
}

/** The verdict of a probe in one word. */
export const reasonOf = (outcome: ProbeOutcome): string =>
  outcome.outcome === 'good' ? 'good' : outcome.failure.reason;

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { LoadDependencies, LoadRequest } from '../../../src/experiment/load-types.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_SIMULATOR, type SimulatorOptions } from '../../../src/sim/options.ts';
import { type Simulator, startSimulator } from '../../../src/sim/server.ts';
import { seconds } from '../../../src/units.ts';
import { sampleTarget } from '../../support/sample-config.ts';

const open: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A simulated engine whose step takes 10 ms, whatever is in it. */
export async function loadedSimulator(
  engine: Partial<SimulatorOptions['engine']> = {},
  server: Partial<SimulatorOptions> = {},
): Promise<Simulator> {
  const cost = {
    stepSeconds: seconds(0.01),
    prefillTokenSeconds: seconds(0),
    decodeSequenceSeconds: seconds(0),
    kvTokenSeconds: seconds(0),
  };
  const started = await startSimulator(
    {
      ...DEFAULT_SIMULATOR,
      engine: { ...DEFAULT_SIMULATOR.engine, cost, ...engine },
      model: 'sim',
      port: 0,
      ...server,
    },
    { clock: systemClock(), log: silentLogger() },
  );
  open.push(() => started.close());
  return started;
}

/** Waits until the load that runs has made the engine generate so many tokens more. */
export async function generated({ engine }: Simulator, tokens: number): Promise<void> {
  const now = (): number => engine.statistics().counters.generationTokens;
  const wanted = now() + tokens;
  while (now() < wanted) await sleep(10);
}

export function newFolder(): string {
  const base = mkdtempSync(join(tmpdir(), 'load-'));
  open.push(() => rmSync(base, { recursive: true, force: true }));
  return join(base, 'run');
}

const DEADLINE = seconds(10);

/** Four requests in flight for two seconds. */
export function aLoad(url: URL, changes: Partial<LoadRequest> = {}): LoadRequest {
  const target = sampleTarget({ url, model: 'auto', api: 'auto', engine: 'auto' });
  return {
    target: { ...target, metrics: { ...target.metrics, everySeconds: seconds(0.2), maxBytes: 8_000_000 } },
    deadlines: {
      connectSeconds: DEADLINE,
      headersSeconds: DEADLINE,
      firstTokenSeconds: DEADLINE,
      betweenTokensSeconds: DEADLINE,
      totalSeconds: DEADLINE,
    },
    metrics: true,
    arrival: { kind: 'closed', concurrency: 4 },
    windowSeconds: 2,
    trimSeconds: 0.25,
    warmupMaxSeconds: 0.6,
    drainMaxSeconds: 5,
    promptTokens: 64,
    maxOutputTokens: 16,
    prefix: 'unique',
    respectEos: false,
    promptsFile: null,
    seed: 'a seed',
    workers: 1,
    slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
    ...changes,
  };
}

export const loadDeps = (signal: AbortSignal = new AbortController().signal): LoadDependencies => ({
  clock: systemClock(),
  log: silentLogger(),
  signal,
});

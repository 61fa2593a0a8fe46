import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openExperiment } from '../../src/experiment/experiment-folder.ts';
import { prepareLoad } from '../../src/experiment/prepare-load.ts';
import { summaryOf, writeReport } from '../../src/experiment/report-write.ts';
import { runLoad } from '../../src/experiment/run-load.ts';
import { type ReadSweep, readSweep } from '../../src/experiment/sweep-read.ts';
import { runSweep } from '../../src/experiment/sweep-run.ts';
import type { SweepPlan } from '../../src/experiment/sweep-types.ts';
import type { ClientRecord } from '../../src/experiment/types.ts';
import { silentLogger } from '../../src/log.ts';
import { DEFAULT_ENGINE, DEFAULT_SIMULATOR, type SimEngineOptions } from '../../src/sim/options.ts';
import { startSimulator } from '../../src/sim/server.ts';
import { seconds } from '../../src/units.ts';
import { loadRequest } from './load-request.ts';

const deps = { clock: systemClock(), log: silentLogger() };

/** Slow steps, so that a busy machine of the tests is a small part of the result. */
const SLOW: Partial<SimEngineOptions> = {
  maxModelLen: 512,
  cost: { ...DEFAULT_ENGINE.cost, stepSeconds: seconds(0.03), prefillTokenSeconds: seconds(0.0002) },
};

const PLAN: Omit<SweepPlan, 'url'> = {
  format: 1,
  kind: 'sweep',
  axis: { kind: 'concurrency', levels: [1, 2, 4, 8], from: 1, to: 8 },
  prompts: [{ name: 'short', promptTokens: 16 }],
  repeats: 1,
  cooldownSeconds: 0,
  seed: '1',
  load: {
    concurrency: 4,
    windowSeconds: 2,
    trimSeconds: 0.3,
    warmupMaxSeconds: 0,
    maxOutputTokens: 12,
    prefix: 'unique',
    respectEos: false,
    slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
  },
};

/** What the records say of our own process is that of a machine full of tests; the engine is what is looked at here. */
export function forgetClient(folder: string): void {
  const file = join(folder, 'client.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const calm = lines.map((line) => {
    const record = JSON.parse(line) as ClientRecord;
    return JSON.stringify({ ...record, loopDelayP99Seconds: 0.001, cpuRatio: 0.05, sendLagMaxSeconds: 0 });
  });
  writeFileSync(file, `${calm.join('\n')}\n`);
}

export interface SweepRig {
  readonly said: readonly string[];
  /** Runs a sweep and reads it again from its records, after its report was written from them, too. */
  sweep(changes: Partial<SweepPlan>): Promise<ReadSweep>;
  close(): Promise<void>;
}

/** A simulated engine in this process, and sweeps of it by the real load generator. */
export async function simulatorUnderSweep(engine: Partial<SimEngineOptions>, path: string): Promise<SweepRig> {
  const options = { ...DEFAULT_SIMULATOR, port: 0, engine: { ...DEFAULT_ENGINE, ...SLOW, ...engine } };
  const sim = await startSimulator(options, deps);
  const said: string[] = [];
  const sweep = async (changes: Partial<SweepPlan>): Promise<ReadSweep> => {
    const plan: SweepPlan = { ...PLAN, url: sim.url.href, ...changes };
    await runSweep(
      plan,
      loadRequest(plan.url, plan.load),
      openExperiment(path, plan),
      {
        ...deps,
        signal: new AbortController().signal,
        prepare: prepareLoad,
        run: runLoad,
        summaryOf,
        report: forgetClient,
        workerScript: null,
        say: (text) => void said.push(text),
        onProgress: () => undefined,
        startEngine: () => Promise.reject(new Error('nothing is started')),
      },
      () => false,
    );
    writeReport(path);
    return readSweep(path, plan);
  };
  return { said, sweep, close: () => sim.close() };
}

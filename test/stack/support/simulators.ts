import { renameSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_ENGINE, DEFAULT_LOAD, DEFAULT_SIMULATOR, type SimulatorOptions } from '../../../src/sim/options.ts';
import { startSimulator } from '../../../src/sim/server.ts';
import { seconds } from '../../../src/units.ts';

/**
 * A process of its own with one simulated engine a scenario; writes their addresses to the file it is given.
 * All carry a light steady load, so that none is idle and a lone slow moment is normal.
 */
const SCENARIOS = ['healthy', 'preempted', 'stalled', 'refusing', 'buffered', 'hung'] as const;

const load = {
  ...DEFAULT_LOAD,
  shape: 'steady',
  ratePerSecond: 0.5,
  promptTokens: 120,
  outputTokens: 60,
} as const;

/** Few blocks: a burst fills them within seconds, and the batch limit does not hide that. */
const small = { ...DEFAULT_ENGINE, numGpuBlocks: 160, maxModelLen: 2048, maxNumSeqs: 64 };

const optionsOf = (name: string): SimulatorOptions => ({
  ...DEFAULT_SIMULATOR,
  port: 0,
  model: `model-${name}`,
  engine: name === 'preempted' ? small : DEFAULT_ENGINE,
  load: { ...load, patienceSeconds: seconds(60) },
});

const addresses: Record<string, string> = {};
for (const name of SCENARIOS) {
  const simulator = await startSimulator(optionsOf(name), { clock: systemClock(), log: silentLogger() });
  addresses[name] = simulator.url.href.replace(/\/$/, '');
}
// Renamed into place, so that a reader never sees half of it.
const path = process.argv[2] ?? 'addresses.json';
writeFileSync(`${path}.part`, JSON.stringify(addresses));
renameSync(`${path}.part`, path);

import type { CompareEngine, ComparePlan } from '../../src/experiment/compare-types.ts';

const engine = (name: string, port: number): CompareEngine => ({
  name,
  url: `http://127.0.0.1:${port}`,
  model: 'tiny',
  api: null,
  engine: null,
  metricsUrl: null,
  apiKeyFile: null,
  start: `serve ${name}`,
  readySeconds: 10,
  stopSeconds: 5,
  switches: { cache: { on: '--cache', off: '--no-cache' }, chunked: { on: '--chunked', off: '--no-chunked' } },
});

/** Two engines, two switches. */
export const samplePlan = (changes: Partial<ComparePlan> = {}): ComparePlan => ({
  format: 1,
  kind: 'compare',
  name: 'a comparison',
  seed: '1',
  repeats: 3,
  cooldownSeconds: 0,
  levels: [4],
  switches: ['cache', 'chunked'],
  engines: [engine('a', 8000), engine('b', 8001)],
  allow: [],
  load: {
    windowSeconds: 12,
    trimSeconds: 1,
    warmupMaxSeconds: 2,
    promptTokens: 256,
    maxOutputTokens: 64,
    prefix: 'shared',
    respectEos: false,
    slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
  },
  ...changes,
});

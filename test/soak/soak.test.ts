import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  anonymousKilobytes,
  type Exporter,
  pause,
  type SimulatedEngine,
  startEngine,
  startExporter,
} from '../faults/support/processes.ts';
import { imageEnvironment } from '../support/image.ts';

/** Three minutes at 75 times the usual rate are almost four hours of a sidecar; SOAK_MINUTES=576 is a month. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 3);
const SAMPLES = Math.max(12, Math.round(MINUTES * 6));

interface Sample {
  readonly descriptors: number;
  readonly series: number;
  readonly timers: number;
  readonly heapBytes: number;
  readonly anonymousKilobytes: number;
  readonly attempts: number;
  readonly failures: number;
}

let engine: SimulatedEngine;
let exporter: Exporter;

beforeAll(async () => {
  engine = await startEngine();
  const target = (name: string, connection: string): string =>
    `  - {name: ${name}, url: "http://127.0.0.1:${engine.port}", warmup_probes: 0, profiles: [{name: cold, every: 200ms, allow_overlap: true, connection: ${connection}, prompt_tokens: 32, max_tokens: 16}]}\n`;
  exporter = await startExporter(
    () => `
web: {listen_address: "127.0.0.1:0"}
metrics: {every: 100ms}
budget: {tokens_per_hour: 1000000000, tokens_per_day: 10000000000}
targets:
${target('reused', 'reuse')}${target('fresh', 'fresh')}${'  - {name: away, url: "http://127.0.0.1:1", model: m, api: chat, profiles: [{name: cold, every: 200ms, allow_overlap: true}]}\n'}`,
    imageEnvironment(),
  );
});
afterAll(() => {
  exporter?.process.dispose();
  engine?.process.dispose();
});

async function sample(): Promise<Sample> {
  const page = await exporter.page();
  const sum = (start: string): number =>
    [...page].reduce((total, [series, value]) => (series.startsWith(start) ? total + value : total), 0);
  return {
    descriptors: exporter.descriptors(),
    series: page.size,
    timers: await exporter.control({}),
    heapBytes: sum('nodejs_heap_size_used_bytes'),
    anonymousKilobytes: anonymousKilobytes(exporter.process.pid),
    attempts: sum('inference_probe_attempts_total{'),
    failures:
      sum('inference_probe_failures_total{target="reused"') + sum('inference_probe_failures_total{target="fresh"'),
  };
}

/** Smallest of a third of the samples: what is left when garbage has been collected. */
const floor = (samples: readonly Sample[], of: (sample: Sample) => number): number => Math.min(...samples.map(of));
const ceiling = (samples: readonly Sample[], of: (sample: Sample) => number): number => Math.max(...samples.map(of));

it(`after ${MINUTES} minutes at 75 times the rate nothing has grown`, async () => {
  await pause(10);
  const samples: Sample[] = [];
  for (let taken = 0; taken < SAMPLES; taken += 1) {
    await pause((MINUTES * 60) / SAMPLES);
    samples.push(await sample());
  }
  const third = Math.floor(samples.length / 3);
  // The first third fills what is bounded: recent probes, history, pools.
  const [early, late] = [samples.slice(third, 2 * third), samples.slice(-third)];
  console.info(JSON.stringify({ first: samples[0], last: samples.at(-1) }));

  expect(ceiling(late, (seen) => seen.descriptors)).toBeLessThanOrEqual(ceiling(early, (seen) => seen.descriptors) + 2);
  expect(ceiling(late, (seen) => seen.timers)).toBeLessThanOrEqual(ceiling(early, (seen) => seen.timers) + 4);
  expect(ceiling(late, (seen) => seen.series)).toBe(ceiling(early, (seen) => seen.series));
  expect(floor(late, (seen) => seen.heapBytes)).toBeLessThan(floor(early, (seen) => seen.heapBytes) * 1.2 + 1e6);
  expect(floor(late, (seen) => seen.anonymousKilobytes)).toBeLessThan(
    floor(early, (seen) => seen.anonymousKilobytes) * 1.25 + 2048,
  );
  expect(ceiling(late, (seen) => seen.timers)).toBeGreaterThan(0);
  const attempts = (late.at(-1)?.attempts ?? 0) - (early[0]?.attempts ?? 0);
  expect(attempts).toBeGreaterThan(MINUTES * 60);
  expect(late.at(-1)?.failures).toBe(0);
  expect(exporter.process.said()).not.toMatch(/MaxListeners|UnhandledPromise|uncaught/i);
  expect(await exporter.stop()).toBe(0);
});

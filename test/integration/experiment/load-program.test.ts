import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { readRun } from '../../../src/experiment/read-run.ts';
import { summarise } from '../../../src/experiment/summary.ts';
import { bundle, type Running, start } from '../../support/bundle.ts';
import { loadedSimulator, newFolder } from './load-rig.ts';

let program = '';
beforeAll(async () => {
  program = await bundle();
}, 60_000);

const started: Running[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.dispose();
});

/** `inference-probe load` as people run it. */
async function load(folder: string, ...args: readonly string[]): Promise<Running> {
  const simulator = await loadedSimulator();
  const common = ['load', '--url', simulator.url.href, '--in-tokens', '64', '--max-out', '16', '--out', folder];
  const running = start(process.execPath, [program, ...common, ...args]);
  started.push(running);
  return running;
}

const lines = (path: string): number => readFileSync(path, 'utf8').split('\n').length;

it('leaves records that can be read after kill -9, and loses at most the last second', async () => {
  const folder = newFolder();
  const running = await load(folder, '-c', '4', '-d', '60', '--warmup', '0');
  await running.saying(/cost:/);
  let seen = 0;
  while (seen < 30) {
    await sleep(100);
    try {
      seen = lines(`${folder}/requests.jsonl`);
    } catch {
      // Not there yet.
    }
  }
  running.signal('SIGKILL');
  const killedAt = Date.now() / 1000;
  expect((await running.finished()).code).toBeNull();

  const run = readRun(folder);
  expect(run.metadata.ended).toBe('running');
  expect(run.damagedLines).toBeLessThanOrEqual(3);
  const newest = run.requests.reduce((last, { endedAtSeconds }) => Math.max(last, endedAtSeconds), 0);
  const lost = killedAt - (Date.parse(run.metadata.origin) / 1000 + newest);
  // A second, and what a request takes on a machine that has other work.
  expect(lost).toBeLessThan(3);
  const summary = summarise(run);
  expect(summary.verdict).not.toBe('result');
  expect(summary.throughput.outputTokensPerSecond).toBeGreaterThan(0);
});

it('shares the load between threads of the one program, and exits by the verdict', async () => {
  const folder = newFolder();
  const running = await load(folder, '-c', '6', '-d', '2', '--warmup', '0', '--workers', '2', '--json');
  const { code, out, err } = await running.finished();
  const summary = JSON.parse(out) as { verdict: string; requests: { failed: number; sent: number } };
  expect(err).toContain('2 workers');
  expect(summary.requests.failed).toBe(0);
  expect(code).toBe(summary.verdict === 'result' ? 0 : 1);

  const requests = readRun(folder).requests.filter(({ phase }) => phase === 'window');
  expect(new Set(requests.map(({ worker }) => worker))).toEqual(new Set([0, 1]));
  // Every request has an index of its own, whichever thread sent it.
  expect(new Set(requests.map(({ index }) => index)).size).toBe(requests.length);
  // The threads agree on the zero of the run: the first requests of all slots are spread over the ramp, not apart.
  const first = requests.map(({ worker, beganAtSeconds }) => ({ worker, at: beganAtSeconds }));
  const firstOf = (worker: number): number =>
    Math.min(...first.filter((one) => one.worker === worker).map(({ at }) => at));
  expect(Math.abs(firstOf(0) - firstOf(1))).toBeLessThan(0.5);
});

it('ends in good order on SIGINT, with a partial result and its report', async () => {
  const folder = newFolder();
  const running = await load(folder, '-c', '2', '-d', '60', '--warmup', '0');
  await running.saying(/cost:/);
  await sleep(1800);
  running.signal('SIGINT');
  const { code, out } = await running.finished();
  expect(code).toBe(1);
  expect(out).toContain('interrupted: the result is partial');
  expect(readRun(folder).metadata.ended).toBe('partial');
  expect(readFileSync(`${folder}/report.md`, 'utf8')).toContain('interrupted: the result is partial');
});

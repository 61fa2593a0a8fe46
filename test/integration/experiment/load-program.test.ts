import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { readRun } from '../../../src/experiment/read-run.ts';
import { summarise } from '../../../src/experiment/summary.ts';
import type { Summary } from '../../../src/experiment/summary-types.ts';
import { bundle, type Running, start } from '../../support/bundle.ts';
import { loadedSimulator, newFolder } from './load-rig.ts';

// Whole programs and real windows: some seconds each, and more on a busy machine.
vi.setConfig({ testTimeout: 40_000 });

let program = '';
beforeAll(async () => {
  program = await bundle();
}, 60_000);

const started: Running[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.dispose();
});

async function command(folder: string): Promise<readonly string[]> {
  const simulator = await loadedSimulator();
  const target = ['--url', simulator.url.href, '--in-tokens', '64', '--max-out', '16', '--out', folder];
  return [process.execPath, program, 'load', ...target];
}

function begin([name = '', ...args]: readonly string[]): Running {
  const running = start(name, args);
  started.push(running);
  return running;
}

/** `inference-probe load` as people run it. */
const load = async (folder: string, ...args: readonly string[]): Promise<Running> =>
  begin([...(await command(folder)), ...args]);

/** Waits until the records of so many requests are on the disk. */
async function recorded(folder: string, requests: number): Promise<void> {
  for (let seen = 0; seen < requests; ) {
    await sleep(100);
    try {
      seen = readFileSync(`${folder}/requests.jsonl`, 'utf8').split('\n').length;
    } catch {
      // Not there yet.
    }
  }
}

it('leaves records that can be read after kill -9, and loses at most the last second', async () => {
  const folder = newFolder();
  const running = await load(folder, '-c', '4', '-d', '60', '--warmup', '0');
  await recorded(folder, 30);
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
  await recorded(folder, 15);
  running.signal('SIGINT');
  const { code, out } = await running.finished();
  expect(code).toBe(1);
  expect(out).toContain('interrupted: the result is partial');
  expect(readRun(folder).metadata.ended).toBe('partial');
  expect(readFileSync(`${folder}/report.md`, 'utf8')).toContain('interrupted: the result is partial');
});

// No file of the process may grow beyond the limit, which fails a write as a full disk does, and needs no privilege.
it('prints every figure when the disk takes no more, says so, and exits with 1', async () => {
  const folder = newFolder();
  const flags = ['-c', '8', '-d', '30', '--trim', '0.5', '--warmup', '0', '--json'];
  const limited = ['sh', '-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', '24', ...(await command(folder)), ...flags];
  const { code, out, err } = await begin(limited).finished();
  expect(code).toBe(1);
  expect(err).toMatch(/has reached the size limit of this process/);
  const summary = JSON.parse(out) as Summary;
  expect(['partial', 'client_limited']).toContain(summary.verdict);
  expect(summary.notes.join()).toContain('the run was ended early');
  expect(summary.window.lengthSeconds).toBeLessThan(25);
  // The figures are of all that was measured, also of what lies only in the memory of the run.
  const kept = readRun(folder);
  const missing = Number(/(\d+) records are not in the folder/.exec(summary.notes.join())?.[1]);
  expect(missing).toBeGreaterThan(0);
  expect(kept.damagedLines).toBe(0);
  expect(kept.requests.length).toBeGreaterThan(0);
  expect(kept.metadata.ended).toBe('partial');
  expect(summary.throughput.outputTokens).toBeGreaterThan(summarise(kept).throughput.outputTokens);
  expect(summary.requests.failed).toBe(0);
});

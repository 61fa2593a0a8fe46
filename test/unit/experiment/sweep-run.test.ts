import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProbeExporterError } from '../../../src/errors.ts';
import type { EngineCommand } from '../../../src/experiment/engine-process.ts';
import { openExperiment, readNotes } from '../../../src/experiment/experiment-folder.ts';
import type { LoadRequest } from '../../../src/experiment/load-types.ts';
import { writeReport } from '../../../src/experiment/report-write.ts';
import { readSweep } from '../../../src/experiment/sweep-read.ts';
import { runSweep } from '../../../src/experiment/sweep-run.ts';
import type { SweepPlan } from '../../../src/experiment/sweep-types.ts';
import { type FakeLoad, type FakeOptions, fakeLoad } from '../../support/fake-load.ts';
import { loadRequest } from '../../support/load-request.ts';
import type { SampleRun } from '../../support/sample-run.ts';

const PLAN: SweepPlan = {
  format: 1,
  kind: 'sweep',
  axis: { kind: 'concurrency', levels: [1, 2, 4, 8, 16], from: 1, to: 64 },
  prompts: [
    { name: 'short', promptTokens: 64 },
    { name: 'long', promptTokens: 1024 },
  ],
  repeats: 2,
  cooldownSeconds: 0,
  seed: '1',
  url: 'http://127.0.0.1:8000/',
  load: {
    concurrency: 8,
    windowSeconds: 12,
    trimSeconds: 1,
    warmupMaxSeconds: 0,
    maxOutputTokens: 32,
    prefix: 'unique',
    respectEos: false,
    slo: { ttftSeconds: 0.2, tpotSeconds: null, e2eSeconds: null },
  },
};

/** An engine whose batch holds `capacity`; what is beyond waits, and from four times as many it preempts. */
function engineOf(capacity: number, level: number): SampleRun {
  const waiting = Math.max(0, level - capacity);
  return {
    concurrency: level,
    windowSeconds: 12,
    trimSeconds: 1,
    outputTokens: 32,
    ttftSeconds: waiting > 0 ? 0.05 + 0.3 * (level / capacity - 1) : 0.05,
    tpotSeconds: 0.01 * Math.max(1, level / capacity),
    waiting,
    preemptionsPerSecond: level >= 4 * capacity ? 1 : 0,
  };
}

const levelOf = ({ arrival }: LoadRequest): number => (arrival.kind === 'closed' ? arrival.concurrency : 0);

describe('a sweep', () => {
  let path = '';
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'inference-probe-sweep-')), 'sweep');
  });
  afterEach(() => rmSync(join(path, '..'), { recursive: true, force: true }));

  const byCapacity: FakeOptions = {
    engine: (request) => engineOf(request.promptTokens === 64 ? 8 : 4, levelOf(request)),
  };

  async function sweep(
    plan: SweepPlan,
    load: FakeLoad,
    startEngine: (command: EngineCommand) => Promise<never> | Promise<{ stop(): Promise<void>; ended(): null }> = () =>
      Promise.reject(new Error('nothing is started')),
  ) {
    const folder = openExperiment(path, plan);
    await runSweep(plan, loadRequest(plan.url), folder, { ...load.deps, startEngine }, () => false);
    return readSweep(path, plan);
  }

  it('finds the knee where the engine is full, for short and for long prompts', async () => {
    const found = await sweep(PLAN, fakeLoad(byCapacity));
    expect(found.prompts.map((prompt) => prompt.knee)).toMatchObject([
      { kind: 'found', level: 8 },
      { kind: 'found', level: 4 },
    ]);
    expect(found.prompts.map((prompt) => prompt.kneeByRepeat)).toEqual([
      [8, 8],
      [4, 4],
    ]);
    expect(found.prompts[0]?.points).toEqual({ latencyFirst: 4, throughputFirst: 8, withinSlo: 8 });
  });

  it('is reported from its records alone, the same as before', async () => {
    const found = await sweep(PLAN, fakeLoad(byCapacity));
    writeReport(path);
    expect(readSweep(path, PLAN)).toEqual(found);
  });

  it('climbs first, and takes the levels in another order when it repeats them', async () => {
    const load = fakeLoad(byCapacity);
    await sweep({ ...PLAN, prompts: PLAN.prompts.slice(0, 1), repeats: 3 }, load);
    const order = load.measured.map((folder) => relative(join(path, 'runs'), folder).split('/')[1]);
    const first = ['level-1', 'level-2', 'level-4', 'level-8', 'level-16'];
    expect(order.slice(0, 5)).toEqual(first);
    expect(order.slice(5, 10)).not.toEqual(first);
    expect([...order.slice(5, 10)].sort()).toEqual([...first].sort());
  });

  it('doubles until the engine preempts', async () => {
    const load = fakeLoad({ engine: (request) => engineOf(2, levelOf(request)) });
    const found = await sweep(
      { ...PLAN, axis: { kind: 'concurrency', levels: null, from: 1, to: 64 }, repeats: 1 },
      load,
    );
    expect(found.prompts[0]?.levels.map((level) => level.value)).toEqual([1, 2, 4, 8]);
    expect(load.said).toContain('short: no higher level, the engine preempts at 8');
  });

  it('calls underload by its name', async () => {
    const found = await sweep(
      { ...PLAN, repeats: 1 },
      fakeLoad({ engine: (request) => engineOf(64, levelOf(request)) }),
    );
    expect(found.prompts[0]?.knee).toMatchObject({ kind: 'none' });
    expect(found.prompts[0]?.knee.why).toContain('underload');
  });

  it('measures nothing twice when it is started again after a stop', async () => {
    const stop = new AbortController();
    const cut = fakeLoad({
      ...byCapacity,
      signal: stop.signal,
      before: (folder) => {
        if (folder.endsWith('short/level-4/repeat-1')) stop.abort();
      },
    });
    await sweep(PLAN, cut);
    expect(cut.measured).toHaveLength(3);
    const rest = fakeLoad(byCapacity);
    const found = await sweep(PLAN, rest);
    // The one that was cut short is measured anew.
    expect(rest.measured).toHaveLength(5 * 2 * 2 - 2);
    expect(found.prompts.every((prompt) => prompt.levels.every((level) => level.summaries.length === 2))).toBe(true);
  });

  it('notes a level that cannot be measured, and goes on', async () => {
    const load = fakeLoad({
      ...byCapacity,
      before: (folder) => {
        if (folder.includes('level-2')) throw new ProbeExporterError('USAGE', 'a parameter was refused');
      },
    });
    const found = await sweep({ ...PLAN, repeats: 1 }, load);
    expect(found.prompts[0]?.levels.map((level) => level.value)).toEqual([1, 4, 8, 16]);
    expect(readNotes(path)[0]).toEqual({ cell: 'short/level-2/repeat-1', message: 'a parameter was refused' });
  });

  it('starts and stops the engine for each value of a parameter, and finds where more of it costs latency', async () => {
    const plan: SweepPlan = {
      ...PLAN,
      axis: {
        kind: 'parameter',
        command: 'serve --max-num-seqs {value}',
        values: [2, 4, 8, 16],
        readySeconds: 1,
        stopSeconds: 1,
      },
      prompts: PLAN.prompts.slice(0, 1),
      load: { ...PLAN.load, concurrency: 16, windowSeconds: 24 },
      repeats: 1,
    };
    const events: string[] = [];
    let value = 0;
    const load = fakeLoad({
      engine: () => {
        events.push('run');
        // Up to 8 the engine makes more of it; 16 only lets everybody wait.
        const lanes = Math.min(value, 8);
        const ttft = value <= 8 ? 0.2 : 0.4;
        return { ...engineOf(64, 16), windowSeconds: 24, ttftSeconds: ttft, tpotSeconds: (16 / lanes) * 0.004 };
      },
    });
    const found = await sweep(plan, load, ({ command }) => {
      value = Number(/(\d+)$/.exec(command)?.[1]);
      events.push(command);
      return Promise.resolve({ stop: () => Promise.resolve(void events.push('stop')), ended: () => null });
    });
    expect(events.slice(0, 3)).toEqual(['serve --max-num-seqs 2', 'run', 'stop']);
    expect(events).toHaveLength(12);
    expect(found.prompts[0]?.knee).toMatchObject({ kind: 'found', level: 8 });
  });

  it('goes on with the next value when an engine does not start', async () => {
    const plan: SweepPlan = {
      ...PLAN,
      axis: { kind: 'parameter', command: 'serve {value}', values: [1, 2], readySeconds: 1, stopSeconds: 1 },
      prompts: PLAN.prompts.slice(0, 1),
      repeats: 1,
    };
    const found = await sweep(plan, fakeLoad(byCapacity), ({ command }) =>
      command.endsWith('1')
        ? Promise.reject(new ProbeExporterError('USAGE', 'the start command ended (exit code 1)'))
        : Promise.resolve({ stop: () => Promise.resolve(), ended: () => null }),
    );
    expect(found.prompts[0]?.levels.map((level) => level.value)).toEqual([2]);
    expect(readNotes(path)[0]?.message).toContain('exit code 1');
  });

  it('ends when the disk takes no more, and goes on where it ended once there is room', async () => {
    let full = true;
    const load = fakeLoad({
      ...byCapacity,
      diskFault: () => (full && load.measured.length === 3 ? 'the disk is full' : null),
    });
    await expect(sweep(PLAN, load)).rejects.toMatchObject({
      code: 'DISK_FAILED',
      message: expect.stringContaining('the disk is full'),
    });
    expect(load.measured).toHaveLength(3);
    full = false;
    const found = await sweep(PLAN, load);
    // Two sizes at five levels, twice; what was complete is not measured again.
    expect(load.measured).toHaveLength(20);
    expect(found.prompts.map((prompt) => prompt.levels.length)).toEqual([5, 5]);
  });
});

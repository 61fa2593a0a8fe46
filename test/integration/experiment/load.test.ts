import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createVariableSecret } from '../../../src/config/secret.ts';
import { calibrateLoad } from '../../../src/experiment/calibrate-load.ts';
import { checkSamples, prepareLoad } from '../../../src/experiment/prepare-load.ts';
import { readRun } from '../../../src/experiment/read-run.ts';
import { runLoad } from '../../../src/experiment/run-load.ts';
import { summarise } from '../../../src/experiment/summary.ts';
import { silentLogger } from '../../../src/log.ts';
import { seconds } from '../../../src/units.ts';
import { aLoad, generated, loadDeps, loadedSimulator, newFolder } from './load-rig.ts';

describe('a load run against the simulated engine', () => {
  it('records every request, and its tokens are those of the engine', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const folder = newFolder();
    const { summary, metadata } = await runLoad(await prepareLoad(aLoad(simulator.url), deps), folder, deps);

    const run = readRun(folder);
    expect(run.damagedLines).toBe(0);
    expect(metadata.ended).toBe('complete');
    // Calibration, warm-up and window together are all that the engine ever generated.
    const tokens = run.requests.reduce((sum, request) => sum + (request.outputTokens ?? 0), 0);
    expect(tokens).toBe(simulator.engine.statistics().counters.generationTokens);
    expect(run.requests.every((request) => request.outcome === 'good')).toBe(true);
    const sizes = new Set(
      run.requests.filter(({ phase }) => phase === 'window').map(({ promptTokens }) => promptTokens),
    );
    expect([...sizes]).toEqual([64]);
    expect(metadata.measuredPromptTokens).toEqual({ min: 64, median: 64, max: 64 });

    // Four streams of a token each 10 ms at most; a busy machine makes steps longer, never shorter.
    const { outputTokensPerSecond, outputTokens } = summary.throughput;
    expect(outputTokensPerSecond).toBeCloseTo(outputTokens / summary.window.lengthSeconds, 9);
    expect(outputTokensPerSecond).toBeLessThan(400);
    expect(outputTokensPerSecond).toBeGreaterThan(0);
    expect(summary.requests.failed).toBe(0);
    expect(summary.output).toMatchObject({ meanTokens: 16, varianceTokens: 0 });
    expect(summary.tpot.withoutFailures.p50.seconds).toBeGreaterThan(0.0095);

    const { engine } = summary;
    expect(engine?.running.peak).toBeLessThanOrEqual(4);
    expect(engine?.running.peak).toBeGreaterThanOrEqual(1);
    expect(engine?.preemptions).toBe(0);
    // The tokens of its counter between two polls, and those that arrived here meanwhile.
    expect(engine?.ownTokensRatio).toBeGreaterThan(0.75);
    expect(engine?.ownTokensRatio).toBeLessThan(1.25);
    expect(metadata.engine).toMatchObject({ name: 'vllm', kvCapacityTokens: expect.any(Number) });

    // What is written is what was given, and the records alone say the same.
    expect(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'))).toEqual(summary);
    expect(summarise(run)).toEqual(summary);
  });

  it('begins the window on an idle engine, after a warm-up with other prompts', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const { summary, metadata } = await runLoad(
      await prepareLoad(aLoad(simulator.url, { windowSeconds: 1.5 }), deps),
      newFolder(),
      deps,
    );
    const { warmup, drain, window, cooldown } = metadata.phases;
    expect([warmup.from, warmup.to, drain.to, window.from, window.to, cooldown.to]).toEqual(
      [warmup.from, warmup.to, drain.to, window.from, window.to, cooldown.to].sort((a, b) => Number(a) - Number(b)),
    );
    expect((window.to ?? 0) - (window.from ?? 0)).toBeCloseTo(1.5, 3);
    expect(metadata.notes.join()).not.toContain('not idle');
    expect(summary.prompt.cachedRatio).toBe(0);
  });

  it('sees the prefix cache when the prompt is shared', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const load = aLoad(simulator.url, { prefix: 'shared', windowSeconds: 1 });
    const { summary } = await runLoad(await prepareLoad(load, deps), newFolder(), deps);
    // Three of four blocks; the last token is always computed.
    expect(summary.prompt.cachedRatio).toBeCloseTo(48 / 64, 2);
    expect(summary.engine?.prefixHitRatio).toBeGreaterThan(0.7);
  });

  it('keeps an open loop on its timetable and counts what it could not start', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const arrival = { kind: 'open', ratePerSecond: 20, process: 'constant', maxInFlight: 2 } as const;
    const load = aLoad(simulator.url, {
      arrival,
      maxOutputTokens: 40,
      warmupMaxSeconds: 0,
      windowSeconds: 2,
      trimSeconds: 0.25,
    });
    const folder = newFolder();
    const { summary } = await runLoad(await prepareLoad(load, deps), folder, deps);
    // Requests of 0.4 s, two at a time: five a second of the twenty that are due.
    expect(summary.requests.notStarted).toBeGreaterThan(summary.requests.sent);
    const scheduled = readRun(folder).requests.flatMap(({ phase, scheduledAtSeconds: at }) =>
      phase === 'window' ? [at ?? Number.NaN] : [],
    );
    const from = Math.min(...scheduled);
    for (const at of scheduled) expect(Math.abs((at - from) * 20 - Math.round((at - from) * 20))).toBeLessThan(1e-3);
    expect(summary.fromScheduled?.ttft.withoutFailures.samples).toBe(summary.requests.good);
    expect(summary.notes.join()).toContain('were not started when they were due');
  });

  it('flags a stretch in which the engine stood still, and keeps it in the figures', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const load = aLoad(simulator.url, { warmupMaxSeconds: 0, windowSeconds: 3 });
    const prepared = await calibrateLoad(await prepareLoad(load, deps), deps);
    const running = runLoad(prepared, newFolder(), deps);
    // Well into the window: four streams of at most a hundred tokens a second.
    await generated(simulator, 240);
    simulator.fault({ kind: 'hang', forSeconds: seconds(0.8) });
    const { summary } = await running;
    const flagged = summary.timeline.filter((slot) => slot.flagged);
    expect(flagged.length).toBeGreaterThanOrEqual(2);
    expect(Math.min(...flagged.map((slot) => slot.outputTokens))).toBe(0);
    const kept = summary.timeline.filter((slot) => slot.inFigures).reduce((sum, slot) => sum + slot.outputTokens, 0);
    expect(summary.throughput.outputTokens).toBeCloseTo(kept, 6);
    expect(summary.verdict).not.toBe('partial');
  });

  it('gives a valid partial result when it is interrupted', async () => {
    const simulator = await loadedSimulator();
    const stop = new AbortController();
    const deps = loadDeps(stop.signal);
    const load = aLoad(simulator.url, { warmupMaxSeconds: 0, windowSeconds: 60, trimSeconds: 5 });
    const prepared = await calibrateLoad(await prepareLoad(load, deps), deps);
    const folder = newFolder();
    const began = performance.now();
    const running = runLoad(prepared, folder, deps);
    await generated(simulator, 600);
    stop.abort();
    const lastedSeconds = (performance.now() - began) / 1000;
    const { summary, metadata } = await running;
    expect(metadata.ended).toBe('partial');
    expect(['partial', 'client_limited']).toContain(summary.verdict);
    expect(summary.notes.join()).toContain('interrupted');
    expect(summary.window.lengthSeconds).toBeLessThanOrEqual(lastedSeconds);
    expect(summary.throughput.outputTokensPerSecond).toBeGreaterThan(0);
    // Whatever was in flight was waited for.
    expect(readRun(folder).requests.every((request) => request.outcome === 'good')).toBe(true);
    expect(simulator.engine.state().running).toBe(0);
  });

  it('has failures first, and quantiles that know of them', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const load = aLoad(simulator.url, { warmupMaxSeconds: 0, windowSeconds: 3 });
    const prepared = await calibrateLoad(await prepareLoad(load, deps), deps);
    const running = runLoad(prepared, newFolder(), deps);
    await generated(simulator, 240);
    simulator.fault({ kind: 'error', where: 'http', afterTokens: 0, requests: 6, forSeconds: null });
    const { summary } = await running;
    expect(summary.requests.failures).toEqual([{ reason: 'server_error', side: 'endpoint', requests: 6 }]);
    expect(summary.ttft.withFailures.samples).toBe(summary.ttft.withoutFailures.samples + 6);
    expect(summary.elimination.find(({ cause }) => cause === 'failures')?.verdict).toBe('remains');
    expect(summary.notes.join()).toContain('first server_error');
  });
});

describe('what is refused before the load begins', () => {
  const refused = (message: RegExp) => ({ code: 'USAGE', message: expect.stringMatching(message) });

  it('a model that is not listed, a prompt over the context, a window that the trim eats up', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const load = aLoad(simulator.url);
    await expect(prepareLoad({ ...load, target: { ...load.target, model: 'gpt' } }, deps)).rejects.toMatchObject(
      refused(/does not serve "gpt"; it lists sim/),
    );
    await expect(prepareLoad({ ...load, promptTokens: 9000 }, deps)).rejects.toMatchObject(
      refused(/over the context of the model \(8192\)/),
    );
    await expect(prepareLoad({ ...load, trimSeconds: 1 }, deps)).rejects.toMatchObject(refused(/leaves nothing/));
    await expect(prepareLoad({ ...load, workers: 9 }, deps)).rejects.toMatchObject(refused(/9 workers cannot share 4/));
    expect(simulator.engine.statistics().counters.generationTokens).toBe(0);
  });

  it('more than one machine can have in flight, or send in a second', async () => {
    const simulator = await loadedSimulator();
    const closed = { kind: 'closed', concurrency: 99_999_999 } as const;
    await expect(prepareLoad(aLoad(simulator.url, { arrival: closed }), loadDeps())).rejects.toMatchObject(
      refused(/99999999 requests in flight are more than/),
    );
    const open = { kind: 'open', ratePerSecond: 1e9, process: 'poisson', maxInFlight: 9 } as const;
    await expect(prepareLoad(aLoad(simulator.url, { arrival: open }), loadDeps())).rejects.toMatchObject(
      refused(/1000000000 requests a second are more than/),
    );
  });

  it('an endpoint that wants a key, and a key that cannot be read', async () => {
    const simulator = await loadedSimulator({}, { apiKey: 'a key' });
    const load = aLoad(simulator.url);
    await expect(prepareLoad(load, loadDeps())).rejects.toMatchObject(
      refused(/only to who has a key .*HTTP 401.*give its key with --api-key-file/),
    );
    const wrongKey = {
      ...load,
      target: { ...load.target, apiKey: createVariableSecret('KEY', 'another', { log: silentLogger() }) },
    };
    await expect(prepareLoad(wrongKey, loadDeps())).rejects.toMatchObject(refused(/the key is not the right one/));
    const unreadable = {
      ...load,
      target: { ...load.target, apiKey: createVariableSecret('KEY', undefined, { log: silentLogger() }) },
    };
    await expect(prepareLoad(unreadable, loadDeps())).rejects.toMatchObject(
      refused(/the key cannot be read: secret KEY is not set/),
    );
    await expect(prepareLoad(load, loadDeps(AbortSignal.abort()))).rejects.toMatchObject(
      refused(/interrupted before the run began/),
    );
  });

  it('objectives that the window cannot measure', async () => {
    const simulator = await loadedSimulator();
    const slo = { ttftSeconds: 1, tpotSeconds: 0.1, e2eSeconds: null };
    const arrival = { kind: 'open', ratePerSecond: 2, process: 'poisson', maxInFlight: 9 } as const;
    await expect(prepareLoad(aLoad(simulator.url, { slo, arrival }), loadDeps())).rejects.toMatchObject(
      refused(/cannot be measured: about 3 requests/),
    );
    // Known of a closed loop once a lone request was timed: 160 ms, so at most 9 in a second and a half.
    const few = aLoad(simulator.url, { slo, arrival: { kind: 'closed', concurrency: 1 } });
    const calibrated = await calibrateLoad(await prepareLoad(few, loadDeps()), loadDeps());
    expect(() => checkSamples(calibrated)).toThrow(/a lone request takes .* s, so at most \d fall into the window/);
    expect(() => checkSamples({ ...calibrated, request: { ...few, windowSeconds: 120 } })).not.toThrow();
    const { warnings } = await prepareLoad(aLoad(simulator.url, { slo }), loadDeps());
    expect(warnings.join()).toContain('too few for a p99');
  });

  it('an endpoint that cannot be reached', async () => {
    const simulator = await loadedSimulator();
    const { url } = simulator;
    await simulator.close();
    const deps = loadDeps();
    await expect(prepareLoad(aLoad(url), deps)).rejects.toMatchObject(
      refused(/nothing can be asked of http.*is it running.*connect/),
    );
    const load = aLoad(url);
    const named = { ...load, target: { ...load.target, model: 'sim', api: 'completions' as const } };
    await expect(calibrateLoad(await prepareLoad(named, deps), deps)).rejects.toMatchObject(refused(/connect_refused/));
  });

  it('a prompt of a file that is over the context', async () => {
    const simulator = await loadedSimulator();
    const deps = loadDeps();
    const path = join(newFolder(), '..', 'prompts.txt');
    writeFileSync(path, `short\n${'word '.repeat(9000)}\n`);
    const prepared = await prepareLoad(aLoad(simulator.url, { promptsFile: path }), deps);
    await expect(calibrateLoad(prepared, deps)).rejects.toMatchObject(refused(/bad_request/));
  });
});

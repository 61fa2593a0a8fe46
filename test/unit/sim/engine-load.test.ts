import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLoad, loadRate } from '../../../src/sim/load.ts';
import { DEFAULT_ENGINE, DEFAULT_LOAD } from '../../../src/sim/options.ts';
import { seconds } from '../../../src/units.ts';
import { type Bench, bench, prompt, request, type Tracked } from './helpers.ts';

/** Keeps `level` requests in flight for `span` seconds and gives the tokens a second and the highest queue. */
function closedLoop(level: number, span: number, on: Bench) {
  let tokens = 0;
  let salt = 0;
  let stopped = false;
  let mostWaiting = 0;
  const next = (): void => {
    if (stopped) return;
    salt += 1;
    const onToken = (): void => {
      tokens += 1;
    };
    on.engine.submit(request(prompt(300, salt), 100), { onToken, onEnd: next });
  };
  for (let client = 0; client < level; client += 1) next();
  on.clock.run(5);
  const before = tokens;
  for (let at = 0; at < span; at += 0.5) {
    on.clock.run(0.5);
    mostWaiting = Math.max(mostWaiting, on.engine.state().published.waiting);
  }
  stopped = true;
  return {
    tokensPerSecond: (tokens - before) / span,
    mostWaiting,
    preemptions: on.engine.statistics().counters.preemptions,
  };
}

describe('the simulated engine under load', () => {
  it('has a knee at max_num_seqs: throughput grows before it and is flat behind it, where the queue grows', () => {
    const at = (level: number) =>
      closedLoop(level, 8, bench({ maxNumSeqs: 16, numGpuBlocks: 4097, prefixCaching: false }));
    const [four, sixteen, thirtyTwo, sixtyFour] = [at(4), at(16), at(32), at(64)];
    expect(sixteen.tokensPerSecond).toBeGreaterThan(2 * four.tokensPerSecond);
    expect(four.mostWaiting).toBeLessThanOrEqual(4);
    expect(thirtyTwo.tokensPerSecond / sixteen.tokensPerSecond).toBeLessThan(1.1);
    expect(sixtyFour.tokensPerSecond / thirtyTwo.tokensPerSecond).toBeCloseTo(1, 1);
    expect(thirtyTwo.mostWaiting).toBeGreaterThanOrEqual(12);
    expect(sixtyFour.mostWaiting).toBeGreaterThanOrEqual(44);
    expect(sixtyFour.preemptions).toBe(0);
  });

  it('has a knee at the KV limit: behind it requests wait and are preempted, with sequences to spare', () => {
    // 512 usable blocks hold twenty requests of 400 tokens.
    const at = (level: number) =>
      closedLoop(level, 8, bench({ maxNumSeqs: 256, numGpuBlocks: 513, prefixCaching: false }));
    const [below, beyond] = [at(14), at(56)];
    expect(below.preemptions).toBe(0);
    expect(beyond.preemptions).toBeGreaterThan(0);
    expect(beyond.mostWaiting).toBeGreaterThan(20);
    expect(beyond.tokensPerSecond / below.tokensPerSecond).toBeLessThan(1.5);
  });

  it('survives a preemption storm in a moment of real time, and everybody gets the whole answer', () => {
    const { clock, engine, submit } = bench({ maxNumSeqs: 64, numGpuBlocks: 129, maxModelLen: 2048 });
    const cpu = process.cpuUsage();
    // 40 requests that will each want 31 blocks, in a pool of 128.
    const all = Array.from({ length: 40 }, (_, salt) => submit(request(prompt(100, salt), 390)));
    let highest = 0;
    for (let tick = 0; tick < 2000 && engine.state().running + engine.state().waiting > 0; tick += 1) {
      clock.run(0.1);
      engine.audit();
      highest = Math.max(highest, engine.state().published.kvUsageRatio);
    }
    const { counters, histograms } = engine.statistics();
    expect(counters.preemptions).toBeGreaterThan(30);
    expect(highest).toBeGreaterThan(0.95);
    expect(all.map((one) => one.result?.completionTokens)).toEqual(all.map(() => 390));
    expect(histograms.requestPreemptions.sum).toBe(counters.preemptions);
    // A prompt that was computed twice is still one prompt.
    expect(counters.promptTokens).toBe(4000);
    expect(counters.prefixCacheQueries).toBe(4000);
    expect(process.cpuUsage(cpu).user / 1e6).toBeLessThan(3);
  });

  it('keeps its counters equal to the sums of what it served, whoever leaves and whatever runs out', () => {
    const one = fc.record({
      promptTokens: fc.integer({ min: 1, max: 300 }),
      maxTokens: fc.integer({ min: 1, max: 60 }),
      after: fc.double({ min: 0, max: 0.2, noNaN: true }),
      /** Seconds after which the client leaves; null: it stays. */
      leaves: fc.option(fc.double({ min: 0, max: 2, noNaN: true }), { freq: 3 }),
      salt: fc.nat({ max: 6 }),
      ignoreEos: fc.boolean(),
    });
    const setup = fc.record({
      requests: fc.array(one, { minLength: 1, maxLength: 20 }),
      maxNumSeqs: fc.integer({ min: 1, max: 12 }),
      chunkedPrefill: fc.boolean(),
      freezeAt: fc.option(fc.integer({ min: 0, max: 19 })),
    });
    fc.assert(
      fc.property(setup, ({ requests, maxNumSeqs, chunkedPrefill, freezeAt }) => {
        const options = { maxNumSeqs, chunkedPrefill, maxNumBatchedTokens: 128, maxModelLen: 512, numGpuBlocks: 41 };
        const { clock, engine, submit } = bench({ ...options, naturalOutputTokens: 20 });
        const tracked: Tracked[] = [];
        requests.forEach(({ promptTokens, maxTokens, after, leaves, salt, ignoreEos }, index) => {
          clock.run(after);
          if (index === freezeAt) engine.freeze();
          const sent = submit(request(prompt(promptTokens, salt), maxTokens, { ignoreEos }));
          tracked.push(sent);
          if (leaves !== null) clock.setTimer(seconds(leaves), () => sent.handle.abort());
        });
        clock.run(1);
        engine.thaw();
        clock.runOut();
        engine.audit();
        expect(engine.state()).toMatchObject({ running: 0, waiting: 0, kvUsageRatio: 0 });
        const { counters, histograms } = engine.statistics();
        const finished = tracked.filter((sent) => sent.result !== null);
        const begun = tracked.filter((sent) => sent.at.length > 0);
        const stayed = tracked.filter((_, index) => requests[index]?.leaves === null);
        expect(stayed.every((sent) => sent.result !== null)).toBe(true);
        const sum = (list: readonly Tracked[], of: (sent: Tracked) => number): number =>
          list.reduce((total, sent) => total + of(sent), 0);
        expect(counters.generationTokens).toBe(sum(tracked, (sent) => sent.at.length));
        expect(histograms.ttftSeconds.count).toBe(begun.length);
        expect(histograms.interTokenSeconds.count).toBe(counters.generationTokens - begun.length);
        expect(histograms.e2eSeconds.count).toBe(finished.length);
        expect(counters.finishedLength + counters.finishedStop).toBe(finished.length);
        expect(histograms.requestGenerationTokens.sum).toBe(
          sum(finished, (sent) => sent.result?.completionTokens ?? 0),
        );
        expect(histograms.e2eSeconds.sum).toBeCloseTo(
          sum(finished, (sent) => sent.result?.e2eSeconds ?? 0),
          6,
        );
        expect(histograms.iterationTokens.sum).toBe(counters.generationTokens + counters.promptTokens);
      }),
      { numRuns: 80 },
    );
  });
});

describe('the background load', () => {
  const wave = { ...DEFAULT_LOAD, shape: 'wave' } as const;

  it('rises from the lowest rate to the peak and back once a period', () => {
    expect(loadRate(wave, 0)).toBeCloseTo(wave.ratePerSecond, 9);
    expect(loadRate(wave, wave.periodSeconds / 2)).toBeCloseTo(wave.peakRatePerSecond, 9);
    expect(loadRate(wave, wave.periodSeconds)).toBeCloseTo(wave.ratePerSecond, 9);
    expect(loadRate({ ...wave, shape: 'none' }, 10)).toBe(0);
    expect(loadRate({ ...wave, shape: 'steady' }, 10)).toBe(wave.ratePerSecond);
  });

  it('arrives at the rate it was told, at uneven times', () => {
    const { clock, engine } = bench();
    const load = createLoad(
      { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 2, promptTokens: 20, outputTokens: 1, outputSigma: 0 },
      { engine, clock },
    );
    load.start();
    const perSecond: number[] = [];
    let before = 0;
    for (let second = 0; second < 600; second += 1) {
      clock.run(1);
      perSecond.push(load.state().arrived - before);
      before = load.state().arrived;
    }
    const mean = before / 600;
    const variance = perSecond.reduce((sum, count) => sum + (count - mean) ** 2, 0) / 600;
    // Poisson: the variance of the counts is their mean.
    expect(mean).toBeGreaterThan(1.8);
    expect(mean).toBeLessThan(2.2);
    expect(variance / mean).toBeGreaterThan(0.7);
    expect(variance / mean).toBeLessThan(1.3);
  });

  it('takes the default engine through underload, knee and overload in a period, and costs little', () => {
    const { clock, engine } = bench(DEFAULT_ENGINE);
    const load = createLoad(wave, { engine, clock });
    const cpu = process.cpuUsage();
    load.start();
    const slots = Array.from({ length: 24 }, () => {
      const before = engine.statistics().counters.preemptions;
      let waiting = 0;
      for (let tick = 0; tick < 100; tick += 1) {
        clock.run(0.1);
        waiting = Math.max(waiting, engine.state().published.waiting);
      }
      const preempted = engine.statistics().counters.preemptions - before;
      return { waiting, preempted, kvUsageRatio: engine.state().kvUsageRatio };
    });
    const idle = slots.filter((slot) => slot.waiting === 0 && slot.kvUsageRatio < 0.6);
    const knee = slots.filter((slot) => slot.waiting > 0 && slot.preempted === 0);
    const overload = slots.filter((slot) => slot.preempted > 0);
    expect(idle.length).toBeGreaterThanOrEqual(6);
    expect(knee.length).toBeGreaterThanOrEqual(2);
    expect(overload.length).toBeGreaterThanOrEqual(3);
    // Quiet at both ends of a period.
    expect([slots[0]?.waiting, slots[23]?.waiting]).toEqual([0, 0]);
    // 240 s of its time; the demo may use 15 % of a core.
    const used = process.cpuUsage(cpu);
    expect((used.user + used.system) / 1e6).toBeLessThan(0.15 * 240);
  }, 60_000);

  it('gives up when its patience ends without a token, and stays when tokens come', () => {
    const { clock, engine } = bench();
    const load = createLoad(
      { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 1, patienceSeconds: seconds(3) },
      { engine, clock },
    );
    load.start();
    clock.run(20);
    expect(load.state().gaveUp).toBe(0);
    engine.freeze();
    clock.run(20);
    expect(load.state().gaveUp).toBeGreaterThan(5);
    engine.thaw();
    load.stop();
    clock.run(60);
    const { active, arrived, finished, gaveUp, lost } = load.state();
    expect(active).toBe(0);
    expect(finished + gaveUp + lost).toBe(arrived);
  });

  it('turns clients away beyond its limit, and counts those that a restart lost', () => {
    const { clock, engine } = bench();
    const load = createLoad({ ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 5, maxClients: 3 }, { engine, clock });
    load.start();
    clock.run(10);
    expect(load.state().active).toBeLessThanOrEqual(3);
    const before = load.state().lost;
    expect(before).toBeGreaterThan(0);
    const inside = load.state().active;
    load.stop();
    engine.reset();
    expect(load.state()).toMatchObject({ active: 0, lost: before + inside });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('shares prefixes as often as it was told', () => {
    const { clock, engine } = bench();
    const load = createLoad(
      { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 1, sharedPrefixRatio: 1, sharedPrefixes: 1, promptSigma: 0 },
      { engine, clock },
    );
    load.start();
    clock.run(120);
    const { prefixCacheHits, prefixCacheQueries } = engine.statistics().counters;
    // 256 of 350 prompt tokens are common to all.
    expect(prefixCacheHits / prefixCacheQueries).toBeGreaterThan(0.68);
    expect(prefixCacheHits / prefixCacheQueries).toBeLessThan(256 / 350);
  });
});

import { describe, expect, it } from 'vitest';
import { stepSeconds } from '../../../src/sim/cost.ts';
import { createSimulatedEngine } from '../../../src/sim/engine.ts';
import { DEFAULT_ENGINE } from '../../../src/sim/options.ts';
import { fastClock } from './fast-clock.ts';
import { bench, longestGap, prompt, request } from './helpers.ts';

const { cost } = DEFAULT_ENGINE;

describe('the simulated engine', () => {
  it('gives a lone request exactly the first-token time and token gaps that the cost model states', () => {
    const { clock, submit } = bench();
    const start = clock.monotonic();
    const tracked = submit(request(prompt(512), 10));
    clock.runOut();
    const ttft = stepSeconds(cost, { prefillTokens: 512, decodeSequences: 0, kvTokensRead: 0 });
    expect(tracked.at[0]).toBeCloseTo(start + ttft, 9);
    expect(ttft).toBeCloseTo(0.08256, 9);
    const gaps = tracked.at.slice(1).map((instant, index) => instant - (tracked.at[index] ?? 0));
    const stated = gaps.map((_, index) =>
      stepSeconds(cost, { prefillTokens: 0, decodeSequences: 1, kvTokensRead: 512 + index }),
    );
    gaps.forEach((gap, index) => {
      expect(gap).toBeCloseTo(stated[index] ?? 0, 9);
    });
    expect(gaps).toHaveLength(9);
  });

  it('splits a prompt that is longer than a step holds', () => {
    const { clock, submit } = bench({ maxNumBatchedTokens: 1024 });
    const tracked = submit(request(prompt(2500), 1));
    clock.runOut();
    const stated =
      stepSeconds(cost, { prefillTokens: 1024, decodeSequences: 0, kvTokensRead: 0 }) +
      stepSeconds(cost, { prefillTokens: 1024, decodeSequences: 0, kvTokensRead: 1024 }) +
      stepSeconds(cost, { prefillTokens: 452, decodeSequences: 0, kvTokensRead: 2048 });
    expect(tracked.result?.ttftSeconds).toBeCloseTo(stated, 9);
  });

  it('finds a repeated prompt in the prefix cache, all but its last block', () => {
    const { clock, engine, submit } = bench();
    const first = submit(request(prompt(330), 5));
    clock.runOut();
    const second = submit(request(prompt(330), 5));
    clock.runOut();
    expect(first.result?.cachedTokens).toBe(0);
    expect(second.result?.cachedTokens).toBe(320);
    expect(second.result?.ttftSeconds).toBeCloseTo(
      stepSeconds(cost, { prefillTokens: 10, decodeSequences: 0, kvTokensRead: 320 }),
      9,
    );
    expect(engine.statistics().counters).toMatchObject({
      prefixCacheQueries: 660,
      prefixCacheHits: 320,
      promptTokens: 660,
    });
    expect(second.texts).toEqual(first.texts);
  });

  it('always computes at least the last token, also when every block of the prompt is known', () => {
    const { clock, submit } = bench();
    submit(request(prompt(320), 2));
    clock.runOut();
    const again = submit(request(prompt(320), 2));
    clock.runOut();
    expect(again.result?.cachedTokens).toBe(304);
  });

  it('finds nothing and asks nothing with prefix caching off', () => {
    const { clock, engine, submit } = bench({ prefixCaching: false });
    submit(request(prompt(330), 5));
    clock.runOut();
    const second = submit(request(prompt(330), 5));
    clock.runOut();
    expect(second.result?.cachedTokens).toBe(0);
    expect(engine.statistics().counters).toMatchObject({ prefixCacheQueries: 0, prefixCacheHits: 0 });
  });

  it('loses the least recently used prompt first when the cache is full', () => {
    // 100 usable blocks; each prompt fills 33 of them and a little of another.
    const { clock, submit } = bench({ numGpuBlocks: 101, maxModelLen: 1600 });
    const visit = (salt: number): number => {
      const tracked = submit(request(prompt(530, salt), 2));
      clock.runOut();
      return tracked.result?.cachedTokens ?? -1;
    };
    expect([visit(1), visit(2)]).toEqual([0, 0]);
    expect(visit(1)).toBe(528);
    // The third needs room; the second was used longer ago than the first.
    expect(visit(3)).toBe(0);
    expect(visit(1)).toBe(528);
    expect(visit(2)).toBeLessThan(528);
  });

  it('bounds the gap of running sequences by the size of a chunk, and not without chunked prefill', () => {
    const gapWith = (chunkedPrefill: boolean): number => {
      const { clock, submit } = bench({ chunkedPrefill, maxNumBatchedTokens: 512 });
      const decoding = submit(request(prompt(100, 1), 200));
      clock.run(1);
      submit(request(prompt(6000, 2), 1));
      clock.runOut();
      return longestGap(decoding.at);
    };
    const bound = stepSeconds(cost, { prefillTokens: 511, decodeSequences: 1, kvTokensRead: 6300 });
    expect(gapWith(true)).toBeLessThanOrEqual(bound);
    expect(gapWith(true)).toBeGreaterThan(3 * 0.0163);
    expect(gapWith(false)).toBeGreaterThan(6000 * cost.prefillTokenSeconds);
  });

  it('ends an answer by itself only without ignore_eos, by an empty end mark, and never before min_tokens', () => {
    const { clock, submit } = bench({ naturalOutputTokens: 20, naturalOutputSigma: 0.2 });
    const free = submit(request(prompt(50), 500, { ignoreEos: false }));
    const forced = submit(request(prompt(50), 500));
    const long = submit(request(prompt(50), 500, { ignoreEos: false, minTokens: 100 }));
    const short = submit(request(prompt(50), 3, { ignoreEos: false }));
    clock.runOut();
    expect(free.result).toMatchObject({ finishReason: 'stop' });
    expect(free.texts.length).toBeGreaterThan(8);
    expect(free.texts.length).toBeLessThan(50);
    expect(free.texts.at(-1)).toBe('');
    expect(free.result?.completionTokens).toBe(free.texts.length);
    expect(forced.result).toMatchObject({ finishReason: 'length', completionTokens: 500 });
    expect(long.result).toMatchObject({ finishReason: 'stop', completionTokens: 101 });
    expect(short.result).toMatchObject({ finishReason: 'length', completionTokens: 3 });
  });

  it('does the same again from the same seed, and something else from another', () => {
    const run = (seed: number): readonly string[] => {
      const { clock, submit } = bench({ seed });
      const tracked = submit(request(prompt(64), 500, { ignoreEos: false }));
      clock.runOut();
      return tracked.texts;
    };
    expect(run(7)).toEqual(run(7));
    expect(run(7)).not.toEqual(run(8));
  });

  it('frees everything of a client that leaves, in the queue, in the batch and in the middle of a step', () => {
    const { clock, engine, submit } = bench({ maxNumSeqs: 2 });
    const tracked = [1, 2, 3, 4].map((salt) => submit(request(prompt(200, salt), 400)));
    clock.run(0.5);
    expect(engine.state()).toMatchObject({ running: 2, waiting: 2 });
    tracked[0]?.handle.abort();
    tracked[3]?.handle.abort();
    expect(engine.state()).toMatchObject({ running: 1, waiting: 1, published: { running: 1, waiting: 1 } });
    for (const one of tracked) one.handle.abort();
    const counted = tracked[1]?.at.length;
    clock.runOut();
    engine.audit();
    expect(engine.state()).toMatchObject({ running: 0, waiting: 0, kvUsageRatio: 0 });
    expect(tracked[1]?.at.length).toBe(counted);
    expect(tracked.map((one) => one.result)).toEqual([null, null, null, null]);
    expect(engine.statistics().histograms.e2eSeconds.count).toBe(0);
  });

  it('stands still in the middle of a step while frozen, with its numbers, and goes on from there', () => {
    const { clock, engine, submit } = bench();
    const tracked = submit(request(prompt(100), 50));
    clock.run(0.3);
    const before = tracked.at.length;
    engine.freeze();
    const late = submit(request(prompt(100, 2), 5));
    const gone = submit(request(prompt(100, 3), 5));
    const published = engine.state().published;
    clock.run(10);
    gone.handle.abort();
    expect(tracked.at).toHaveLength(before);
    expect(late.at).toHaveLength(0);
    expect(engine.state().published).toEqual(published);
    engine.thaw();
    clock.runOut();
    expect(tracked.at).toHaveLength(50);
    expect(longestGap(tracked.at)).toBeGreaterThan(10);
    expect(longestGap(tracked.at)).toBeLessThan(10.1);
    expect(late.at).toHaveLength(5);
    expect(gone.at).toHaveLength(0);
    engine.audit();
  });

  it('has the rest of the step before it when it goes on, not a whole one', () => {
    const { clock, engine, submit } = bench();
    const tracked = submit(request(prompt(1000), 1));
    clock.run(0.1);
    engine.freeze();
    clock.run(5);
    engine.thaw();
    clock.runOut();
    // 146 ms of prefill, 100 of them before the freeze.
    expect(tracked.result?.ttftSeconds).toBeCloseTo(0.146 + 5, 9);
  });

  it('hears of clients that left while it was frozen only when it goes on', () => {
    const { clock, engine, submit } = bench();
    const tracked = submit(request(prompt(100), 50));
    clock.run(0.3);
    engine.freeze();
    tracked.handle.abort();
    expect(engine.state().published.running).toBe(1);
    engine.thaw();
    clock.runOut();
    expect(engine.state().published).toEqual({ running: 0, waiting: 0, kvUsageRatio: 0 });
    engine.audit();
  });

  it('ends running requests with abort when put to sleep, and takes up new ones when woken', () => {
    const { clock, engine, submit } = bench();
    const running = submit(request(prompt(100), 50));
    clock.run(0.3);
    engine.sleep();
    expect(running.result).toMatchObject({ finishReason: 'abort' });
    const held = submit(request(prompt(100, 2), 5));
    clock.run(5);
    expect(held.at).toHaveLength(0);
    expect(engine.state()).toMatchObject({ asleep: true, published: { running: 0, waiting: 0 } });
    engine.wake();
    clock.runOut();
    expect(held.result).toMatchObject({ finishReason: 'length', completionTokens: 5 });
    expect(engine.statistics().counters.finishedAbort).toBe(1);
  });

  it('is new after a reset: no request, no cache, counters at 0, another start time', () => {
    const { clock, engine, submit } = bench();
    const startedAt = engine.state().startedAt;
    submit(request(prompt(330), 2));
    clock.runOut();
    const lost = submit(request(prompt(330), 50));
    clock.run(0.2);
    engine.reset();
    expect(lost.result).toMatchObject({ finishReason: null });
    expect(engine.statistics().counters.generationTokens).toBe(0);
    expect(engine.state().startedAt).toBeGreaterThan(startedAt);
    const again = submit(request(prompt(330), 2));
    clock.runOut();
    expect(again.result?.cachedTokens).toBe(0);
    engine.audit();
  });

  it('takes as many times as long as it is slowed', () => {
    const { clock, engine, submit } = bench();
    const tracked = submit(request(prompt(100), 20));
    clock.run(0.15);
    engine.setSlowFactor(4);
    clock.runOut();
    const first = (tracked.at[1] ?? 0) - (tracked.at[0] ?? 0);
    const last = (tracked.at[19] ?? 0) - (tracked.at[18] ?? 0);
    expect(last / first).toBeCloseTo(4, 1);
  });

  it('keeps its timetable when the machine wakes it up late', () => {
    const clock = fastClock();
    const late = {
      ...clock,
      setTimer: (delay: Parameters<typeof clock.setTimer>[0], callback: () => void) =>
        clock.setTimer((delay + 0.0008) as typeof delay, callback),
    };
    const engine = createSimulatedEngine(DEFAULT_ENGINE, { clock: late });
    const at: number[] = [];
    engine.submit(request(prompt(16), 501), { onToken: () => void at.push(clock.monotonic()) });
    clock.runOut();
    const mean = ((at.at(-1) ?? 0) - (at[0] ?? 0)) / 500;
    const stated = stepSeconds(cost, { prefillTokens: 0, decodeSequences: 1, kvTokensRead: 16 + 250 });
    expect(mean / stated).toBeCloseTo(1, 3);
  });

  it('leaves no timer when it has nothing to do, and none when closed at work', () => {
    const { clock, engine, submit } = bench();
    submit(request(prompt(10), 2));
    clock.runOut();
    expect(clock.pendingTimers()).toBe(0);
    submit(request(prompt(10), 200));
    clock.run(0.1);
    engine.close();
    expect(clock.pendingTimers()).toBe(0);
  });

  it('takes a submission and a departure from inside its own callbacks', () => {
    const { clock, engine, submit } = bench();
    const other = submit(request(prompt(50, 2), 100));
    let nested: ReturnType<typeof submit> | null = null;
    engine.submit(request(prompt(50, 3), 3), {
      onToken: (token) => {
        if (token.index === 0) other.handle.abort();
        if (token.finishReason !== null) nested = submit(request(prompt(50, 4), 2));
      },
    });
    clock.runOut();
    expect(other.result).toBeNull();
    expect((nested as ReturnType<typeof submit> | null)?.result).toMatchObject({ completionTokens: 2 });
    engine.audit();
  });

  it('refuses a request that could never fit, and options under which one could not', () => {
    const { engine } = bench();
    const nobody = { onToken: () => {} };
    expect(() => engine.submit(request(prompt(8000), 500), nobody)).toThrow(/do not fit/);
    expect(() => engine.submit(request([], 5), nobody)).toThrow(/do not fit/);
    expect(() => bench({ numGpuBlocks: 100 })).toThrow(/at least 513 blocks/);
    expect(() => bench({ maxNumSeqs: 0 })).toThrow(/maxNumSeqs/);
    expect(() => bench({ cost: { ...cost, stepSeconds: 0 as typeof cost.stepSeconds } })).toThrow(/cost/);
  });
});

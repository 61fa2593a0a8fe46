import { describe, expect, it } from 'vitest';
import type { EngineSample } from '../../../src/engine/types.ts';
import { drainEngine } from '../../../src/experiment/drain.ts';
import { loadCost } from '../../../src/experiment/load-cost.ts';
import type { LoadRequest } from '../../../src/experiment/load-types.ts';
import { groupSize, isSteady } from '../../../src/experiment/warmup.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

const samples = (ttfts: readonly number[]): [number, number, number][] => ttfts.map((ttft, index) => [index, ttft, 1]);

describe('the end of the warm-up', () => {
  it('is when two groups in a row have the same median TTFT, and the first group does not count', () => {
    const cold = [9, 9, 9, 9];
    expect(isSteady(samples([...cold, 1, 1, 1, 1]), 4)).toBe(false);
    expect(isSteady(samples([...cold, 1, 1, 1, 1, 1.05, 1.05, 1.05, 1.05]), 4)).toBe(true);
    expect(isSteady(samples([...cold, 1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2]), 4)).toBe(false);
  });

  it('goes by the order of sending, not of ending', () => {
    const steady = samples([9, 9, 9, 9, 2, 2, 2, 2, 2, 2, 2, 2]);
    expect(isSteady(steady.toReversed(), 4)).toBe(true);
  });

  it('allows a fast engine two milliseconds', () => {
    expect(isSteady(samples([5, 5, 5, 5, ...new Array(4).fill(0.004), ...new Array(4).fill(0.0055)]), 4)).toBe(true);
  });

  it.each([
    { id: 'a closed loop: its concurrency', arrival: { kind: 'closed', concurrency: 12 } as const, size: 12 },
    { id: 'at least 4', arrival: { kind: 'closed', concurrency: 1 } as const, size: 4 },
    { id: 'at most 64', arrival: { kind: 'closed', concurrency: 500 } as const, size: 64 },
    {
      id: 'an open loop: two seconds of it',
      arrival: { kind: 'open', ratePerSecond: 5, process: 'poisson', maxInFlight: 9 } as const,
      size: 10,
    },
  ])('groups $id', ({ arrival, size }) => {
    expect(groupSize(arrival)).toBe(size);
  });
});

describe('the wait for an idle engine', () => {
  const sample = (changes: Partial<EngineSample>): EngineSample =>
    ({ up: true, running: 0, waiting: 0, generationTokens: 0, ...changes }) as EngineSample;

  /** An engine that is seen in these states, one each quarter of a second; the last one stays. */
  async function drain(states: readonly (EngineSample | null)[], longest = 30) {
    const clock = manualClock(0);
    let at = -1;
    const watch = {
      mark: () => {
        at = Math.min(at + 1, states.length - 1);
        return Promise.resolve();
      },
      latest: () => states[at] ?? null,
    };
    const done = drainEngine(watch, seconds(longest), { clock, signal: new AbortController().signal });
    await clock.advance(60);
    expect(clock.pendingTimers()).toBe(0);
    return await done;
  }

  it('is over when nothing runs and nothing waits', async () => {
    expect(await drain([sample({ running: 2, generationTokens: 5 }), sample({ waiting: 1 }), sample({})])).toEqual({
      idle: true,
      note: null,
    });
  });

  it('is bounded, and tells that others use the engine', async () => {
    const busy = Array.from({ length: 100 }, (_, index) => sample({ running: 3, generationTokens: index }));
    const { idle, note } = await drain(busy, 5);
    expect(idle).toBe(false);
    expect(note).toContain('others use it, too');
  });

  it('does not believe gauges that stand still while no token is made', async () => {
    const { idle, note } = await drain([sample({ running: 3, generationTokens: 70 })]);
    expect(idle).toBe(true);
    expect(note).toContain('running 3');
  });

  it('says that it does not know where the engine does not say', async () => {
    expect((await drain([sample({ running: null })])).idle).toBe(false);
    expect((await drain([null])).note).toContain('is not known');
  });

  it('waits for nothing where no engine is watched', async () => {
    const clock = manualClock(0);
    expect(await drainEngine(null, seconds(30), { clock, signal: new AbortController().signal })).toEqual({
      idle: false,
      note: null,
    });
  });
});

describe('the cost of a run', () => {
  const request = { windowSeconds: 100, warmupMaxSeconds: 20, promptTokens: 90, maxOutputTokens: 10 };

  it('is bounded by the timetable of an open loop', () => {
    const arrival = { kind: 'open', ratePerSecond: 2, process: 'poisson', maxInFlight: 9 } as const;
    expect(loadCost({ ...request, arrival } as LoadRequest, null)).toMatchObject({
      mostRequests: 240,
      mostTokens: 24_000,
    });
  });

  it('is bounded by the pace of a lone request in a closed loop, once that is known', () => {
    const closed = { ...request, arrival: { kind: 'closed', concurrency: 4 } } as LoadRequest;
    expect(loadCost(closed, null).mostTokens).toBeNull();
    // 4 slots for 120 s at 2 s a request, and those that are begun last.
    expect(loadCost(closed, 2).mostRequests).toBe(244);
  });
});

import { describe, expect, it } from 'vitest';
import { type ArrivalDependencies, dueOffsets, runArrivals, shareOf } from '../../../src/experiment/arrivals.ts';
import type { Arrival } from '../../../src/experiment/types.ts';
import { type MonotonicInstant, monotonicInstant, seconds } from '../../../src/units.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const open = (changes: Partial<Extract<Arrival, { kind: 'open' }>> = {}) =>
  ({ kind: 'open', ratePerSecond: 4, process: 'constant', maxInFlight: 100, ...changes }) as const;
const closed = (concurrency: number): Arrival => ({ kind: 'closed', concurrency });
const alone = { worker: 0, workers: 1, seed: 's' };

function take(count: number, from: Generator<number>): number[] {
  return Array.from({ length: count }, () => from.next().value as number);
}

describe('the timetable of an open loop', () => {
  it('is an even grid when constant, shared by the workers', () => {
    expect(take(4, dueOffsets(open(), alone))).toEqual([0, 0.25, 0.5, 0.75]);
    expect(take(3, dueOffsets(open(), { worker: 0, workers: 2, seed: 's' }))).toEqual([0, 0.5, 1]);
    expect(take(3, dueOffsets(open(), { worker: 1, workers: 2, seed: 's' }))).toEqual([0.25, 0.75, 1.25]);
  });

  it('is decided by the seed when Poisson', () => {
    const offsets = (seed: string) => take(20, dueOffsets(open({ process: 'poisson' }), { ...alone, seed }));
    expect(offsets('a')).toEqual(offsets('a'));
    expect(offsets('a')).not.toEqual(offsets('b'));
  });

  it('has the wanted rate and the spread of a Poisson process', () => {
    const offsets = take(20_000, dueOffsets(open({ process: 'poisson' }), alone));
    const gaps = offsets.map((at, index) => at - (offsets[index - 1] ?? 0));
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
    // Exponential gaps: mean 0.25 s and a standard deviation as large; 20 000 of them are within 2 % of both.
    expect(mean).toBeCloseTo(0.25, 2);
    expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
  });
});

it('shares a concurrency without losing or adding any', () => {
  const shares = [0, 1, 2].map((worker) => shareOf(8, { worker, workers: 3 }));
  expect(shares).toEqual([3, 3, 2]);
});

interface Sent {
  readonly at: number;
  readonly scheduledAt: number | null;
}

/** Requests that take a fixed time, on a clock that is moved by hand. */
function rig(durationSeconds: number, good = true) {
  const clock: ManualClock = manualClock(0);
  const sent: Sent[] = [];
  let [inFlight, mostInFlight, notStarted] = [0, 0, 0];
  const deps: ArrivalDependencies = {
    clock,
    send: (scheduledAt: MonotonicInstant | null) => {
      sent.push({ at: clock.monotonic(), scheduledAt });
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      return new Promise((resolve) => {
        clock.setTimer(seconds(durationSeconds), () => {
          inFlight -= 1;
          resolve(good);
        });
      });
    },
    notStarted: () => {
      notStarted += 1;
    },
  };
  const span = (until: number, rampSeconds = 0) => ({
    startAt: monotonicInstant(1),
    until: monotonicInstant(until),
    rampSeconds: seconds(rampSeconds),
  });
  return { clock, deps, sent, span, seen: () => ({ inFlight, mostInFlight, notStarted }) };
}

describe('a closed loop', () => {
  it('replaces a request at once, and begins none after the end', async () => {
    const { clock, deps, sent, span, seen } = rig(2);
    const done = runArrivals({ ...alone, arrival: closed(3) }, span(6), deps, new AbortController().signal);
    await clock.advance(20);
    await done;
    // Three at 1, 3 and 5; those of 5 end at 7, which is after the end.
    expect(sent.map(({ at }) => at)).toEqual([1, 1, 1, 3, 3, 3, 5, 5, 5]);
    expect(seen()).toEqual({ inFlight: 0, mostInFlight: 3, notStarted: 0 });
    expect(clock.pendingTimers()).toBe(0);
  });

  it('spreads its first requests over the ramp', async () => {
    const { clock, deps, sent, span } = rig(10);
    const done = runArrivals({ ...alone, arrival: closed(4) }, span(4, 2), deps, new AbortController().signal);
    await clock.advance(20);
    await done;
    expect(sent.map(({ at }) => at)).toEqual([1, 1.5, 2, 2.5]);
  });

  it('does not ask an endpoint that refuses at once thousands of times a second', async () => {
    const { clock, deps, sent, span } = rig(0.01, false);
    const done = runArrivals({ ...alone, arrival: closed(1) }, span(2), deps, new AbortController().signal);
    await clock.advance(5);
    await done;
    expect(sent.map(({ at }) => at)).toEqual([1, 1.25, 1.5, 1.75]);
  });

  it('ends early on a signal, after what is in flight', async () => {
    const { clock, deps, sent, span, seen } = rig(2);
    const stop = new AbortController();
    const done = runArrivals({ ...alone, arrival: closed(2) }, span(100), deps, stop.signal);
    await clock.advance(4);
    stop.abort();
    await clock.advance(4);
    await done;
    expect(sent).toHaveLength(4);
    expect(seen().inFlight).toBe(0);
  });
});

describe('an open loop', () => {
  it('sends on its timetable, whatever the endpoint does', async () => {
    const { clock, deps, sent, span, seen } = rig(60);
    const done = runArrivals({ ...alone, arrival: open() }, span(3), deps, new AbortController().signal);
    await clock.advance(100);
    await done;
    expect(sent.map(({ scheduledAt }) => scheduledAt)).toEqual([1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75]);
    expect(seen().mostInFlight).toBe(8);
  });

  it('bounds what is in flight, and counts what it could not start', async () => {
    const { clock, deps, sent, span, seen } = rig(60);
    const done = runArrivals(
      { ...alone, arrival: open({ maxInFlight: 3 }) },
      span(3),
      deps,
      new AbortController().signal,
    );
    await clock.advance(100);
    await done;
    expect(sent).toHaveLength(3);
    expect(seen()).toMatchObject({ mostInFlight: 3, notStarted: 5 });
  });

  it('is not shifted by being late', async () => {
    const { clock, deps, sent, span } = rig(0.001);
    let late = false;
    const slow: ArrivalDependencies = {
      ...deps,
      clock: {
        ...clock,
        // The loop stands still for 0.6 s once.
        setTimer: (delay, callback) => {
          const extra = !late && clock.monotonic() >= 1.25 ? 0.6 : 0;
          late ||= extra > 0;
          return clock.setTimer(seconds(delay + extra), callback);
        },
      },
    };
    const done = runArrivals({ ...alone, arrival: open() }, span(3), slow, new AbortController().signal);
    await clock.advance(100);
    await done;
    expect(sent.map(({ scheduledAt }) => scheduledAt)).toEqual([1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75]);
    const lags = sent.map(({ at, scheduledAt }) => Math.round((at - (scheduledAt ?? 0)) * 1000) / 1000);
    expect(lags).toEqual([0, 0, 0.6, 0.35, 0.1, 0, 0, 0]);
  });
});

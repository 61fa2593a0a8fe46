import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { createScheduleLoop, type LoopEntry, type LoopEvents } from '../../../src/schedule/loop.ts';
import { phasesOf } from '../../../src/schedule/phase.ts';
import { createTimetable } from '../../../src/schedule/timetable.ts';
import { type MonotonicInstant, monotonicInstant, seconds } from '../../../src/units.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

interface Told {
  readonly starts: { readonly name: string; readonly at: number }[];
  readonly lags: number[];
  readonly overlaps: { readonly name: string; readonly endpointSlow: boolean }[];
  missed: number;
  abandoned: number;
  readonly errors: unknown[];
}

function listen(): { readonly told: Told; readonly events: LoopEvents } {
  const told: Told = { starts: [], lags: [], overlaps: [], missed: 0, abandoned: 0, errors: [] };
  return {
    told,
    events: {
      lag: (_name, lag) => void told.lags.push(lag),
      overlap: (name, endpointSlow) => void told.overlaps.push({ name, endpointSlow }),
      missed: (_name, count) => {
        told.missed += count;
      },
      abandoned: () => {
        told.abandoned += 1;
      },
      threw: (_name, error) => void told.errors.push(error),
    },
  };
}

/** A probe that takes `duration`, as the manual clock has it, and ends at once when aborted. */
const taking = (clock: Clock, duration: number) => (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = clock.setTimer(seconds(duration), resolve);
    signal.addEventListener('abort', () => {
      timer.cancel();
      resolve();
    });
  });

interface EntrySettings {
  readonly name?: string;
  readonly everySeconds?: number;
  readonly cron?: string;
  readonly phase?: number;
  readonly hardDeadline?: number;
  readonly admit?: () => boolean;
  readonly work?: ((signal: AbortSignal) => Promise<void>) | null;
}

function entry(clock: Clock, told: Told, settings: EntrySettings): LoopEntry {
  const name = settings.name ?? 'default';
  const timetable = createTimetable(
    {
      everySeconds: settings.cron === undefined ? seconds(settings.everySeconds ?? 10) : null,
      cron: settings.cron ?? null,
      jitterSeconds: seconds(0),
    },
    seconds(settings.phase ?? 0),
    () => 0,
    { monotonic: clock.monotonic(), unix: clock.unix() },
  );
  return {
    name,
    timetable,
    hardDeadlineSeconds: seconds(settings.hardDeadline ?? 60),
    admit: settings.admit ?? (() => true),
    begin() {
      if (settings.work === null) return null;
      told.starts.push({ name, at: clock.monotonic() - 100 });
      return settings.work ?? (async () => {});
    },
  };
}

const startTimes = (told: Told, name = 'default') =>
  told.starts.filter((start) => start.name === name).map((start) => Math.round(start.at * 1000) / 1000);

/** Adds to the manual clock what passes while the process is stopped: timers learn of it only when they fire. */
function suspendable(clock: ManualClock): Clock & { suspend(duration: number): void } {
  let stopped = 0;
  return {
    monotonic: (): MonotonicInstant => monotonicInstant(clock.monotonic() + stopped),
    unix: clock.unix,
    setTimer: (delay, callback) => clock.setTimer(delay, callback),
    suspend(duration) {
      stopped += duration;
    },
  };
}

describe('schedule loop', () => {
  it('starts a run at each tick, and tells how late', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, { phase: 3 })], { clock, events });
    loop.start();
    await clock.advance(35);
    expect(startTimes(told)).toEqual([3, 13, 23, 33]);
    expect(told.lags).toEqual([0, 0, 0, 0]);
    await loop.close(seconds(1));
  });

  it('a slow run delays no later tick: the ticks it covers are counted, and blamed on the endpoint', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, { work: taking(clock, 24) })], { clock, events });
    loop.start();
    await clock.advance(65);
    expect(startTimes(told)).toEqual([10, 40]);
    expect(told.overlaps).toEqual(new Array(4).fill({ name: 'default', endpointSlow: true }));
    expect(told.missed).toBe(0);
    await loop.close(seconds(1));
  });

  it('two profiles of a target never run together, and a short meeting is not blamed on the endpoint', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const work = taking(clock, 3);
    const loop = createScheduleLoop(
      [entry(clock, told, { name: 'cold', work }), entry(clock, told, { name: 'warm', phase: 1, work })],
      { clock, events },
    );
    loop.start();
    await clock.advance(30.5);
    expect(startTimes(told, 'cold')).toEqual([10, 20, 30]);
    // The first tick of "warm" comes nine seconds before the first of "cold"; later ones meet it.
    expect(startTimes(told, 'warm')).toEqual([1]);
    expect(told.overlaps).toEqual(new Array(2).fill({ name: 'warm', endpointSlow: false }));
    await loop.close(seconds(1));
  });

  it('blames the endpoint when the run of another profile takes longer than its own interval', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loop = createScheduleLoop(
      [
        entry(clock, told, { name: 'cold', work: taking(clock, 15) }),
        entry(clock, told, { name: 'warm', phase: 1, everySeconds: 30, work: taking(clock, 1) }),
        entry(clock, told, { name: 'late', phase: 22, everySeconds: 60, work: taking(clock, 1) }),
      ],
      { clock, events },
    );
    loop.start();
    await clock.advance(23);
    expect(told.overlaps).toContainEqual({ name: 'late', endpointSlow: true });
    await loop.close(seconds(1));
  });

  it('G-158: a run that never settles is given up at its hard deadline, each time, and others run on', async () => {
    const clock = manualClock();
    const stuck = listen();
    const healthy = listen();
    const stuckLoop = createScheduleLoop(
      [entry(clock, stuck.told, { hardDeadline: 15, work: () => new Promise<never>(() => {}) })],
      { clock, events: stuck.events },
    );
    const healthyLoop = createScheduleLoop([entry(clock, healthy.told, { phase: 2 })], {
      clock,
      events: healthy.events,
    });
    stuckLoop.start();
    healthyLoop.start();
    await clock.advance(600);
    expect(stuck.told.starts).toHaveLength(30);
    // The run that began at the last tick is still within its deadline.
    expect(stuck.told.abandoned).toBe(29);
    expect(stuck.told.overlaps.length).toBe(30);
    expect(healthy.told.starts).toHaveLength(60);
    await Promise.all([stuckLoop.close(seconds(0)), clock.advance(1), healthyLoop.close(seconds(0))]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('a run that throws, at once or later, is told of and the timetable goes on', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const failures: (() => Promise<void>)[] = [
      () => {
        throw new Error('at once');
      },
      () => Promise.reject(new Error('later')),
    ];
    const loop = createScheduleLoop([entry(clock, told, { work: () => (failures.shift() ?? (async () => {}))() })], {
      clock,
      events,
    });
    loop.start();
    await clock.advance(35);
    expect(told.starts).toHaveLength(3);
    expect(told.errors.map((error) => (error as Error).message)).toEqual(['at once', 'later']);
    await loop.close(seconds(1));
  });

  it('a tick that is not admitted, or declined at the last moment, starts nothing and blocks nothing', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    let admitted = 0;
    const loop = createScheduleLoop(
      [
        entry(clock, told, {
          name: 'closed',
          admit: () => {
            admitted += 1;
            return false;
          },
        }),
        entry(clock, told, { name: 'declined', work: null, phase: 1 }),
        entry(clock, told, { name: 'open', phase: 2 }),
      ],
      { clock, events },
    );
    loop.start();
    await clock.advance(25);
    expect(admitted).toBe(2);
    expect(startTimes(told)).toEqual([]);
    expect(startTimes(told, 'open')).toEqual([2, 12, 22]);
    expect(told.overlaps).toEqual([]);
    await loop.close(seconds(1));
  });

  it('G-077: a suspended process counts the ticks it slept through, and runs none of them late', async () => {
    const base = manualClock();
    const clock = suspendable(base);
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, {})], { clock, events });
    loop.start();
    await base.advance(25);
    clock.suspend(3600);
    await base.advance(20);
    // Ticks at 30, 40, ... 3620 and 3630 passed; the timer of 30 fires at 3630, right on a tick.
    expect(told.missed).toBe(360);
    expect(startTimes(told)).toEqual([10, 20, 3630, 3640]);
    await loop.close(seconds(1));
  });

  it('a tick that is late by more than half the interval is missed; one that is a little late runs, with its lag', async () => {
    const base = manualClock();
    const clock = suspendable(base);
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, { everySeconds: 4 })], { clock, events });
    loop.start();
    await base.advance(3);
    clock.suspend(2.5);
    await base.advance(1);
    expect(told).toMatchObject({ missed: 1, starts: [] });
    await base.advance(1);
    clock.suspend(0.7);
    await base.advance(2);
    expect(told.missed).toBe(1);
    expect(told.lags).toHaveLength(1);
    expect(told.lags[0]).toBeCloseTo(0.7, 6);
    await loop.close(seconds(1));
  });

  it('a step of the wall clock, in either direction, changes neither the number nor the distance of runs', async () => {
    for (const step of [-3600, 3600]) {
      const clock = manualClock();
      const { told, events } = listen();
      const loop = createScheduleLoop([entry(clock, told, { phase: 2 })], { clock, events });
      loop.start();
      await clock.advance(15);
      clock.stepWallClock(step);
      await clock.advance(30);
      expect(startTimes(told)).toEqual([2, 12, 22, 32, 42]);
      expect(told.missed).toBe(0);
      await loop.close(seconds(1));
    }
  });

  it('a daily job notices within a minute that the wall clock was set, and comes at the right hour', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, { cron: '0 0 2 * * *' })], { clock, events });
    loop.start();
    await clock.advance(600);
    clock.stepWallClock(3000);
    await clock.advance(7200);
    expect(startTimes(told)).toEqual([7200 - 3000]);
    await loop.close(seconds(1));
  });

  it('G-157: 48 hours of a five-minute job keep their count over a change of clocks', async () => {
    const clock = manualClock(100, Date.parse('2026-09-05T12:00:00Z') / 1000);
    const { told, events } = listen();
    const loop = createScheduleLoop([entry(clock, told, { cron: '0 */5 * * * *', phase: 7 })], { clock, events });
    loop.start();
    await clock.advance(48 * 3600);
    expect(told.starts).toHaveLength(576);
    expect(told.missed).toBe(0);
    await loop.close(seconds(1));
  });

  it('G-160: in both hours around a change of clocks a job of every 10 s runs 360 times', async () => {
    for (const from of ['2026-03-29T00:00:00Z', '2026-10-25T00:00:00Z']) {
      const clock = manualClock(100, Date.parse(from) / 1000);
      const { told, events } = listen();
      const loop = createScheduleLoop([entry(clock, told, { cron: '*/10 * * * * *', phase: 1 })], { clock, events });
      loop.start();
      for (let hour = 0; hour < 3; hour += 1) {
        const before = told.starts.length;
        await clock.advance(3600);
        expect(told.starts.length - before).toBe(360);
      }
      await loop.close(seconds(1));
    }
  });

  it('G-163: closing aborts the run in flight, waits for it and leaves no timer', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    let aborted = false;
    const work = async (signal: AbortSignal) => {
      await taking(clock, 50)(signal);
      aborted = signal.aborted;
    };
    const loop = createScheduleLoop([entry(clock, told, { work })], { clock, events });
    loop.start();
    await clock.advance(12);
    await loop.close(seconds(2));
    expect(aborted).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
    await clock.advance(100);
    expect(told.starts).toHaveLength(1);
  });

  it('closing gives up on a run that does not listen, after the grace', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loop = createScheduleLoop(
      [entry(clock, told, { hardDeadline: 1000, work: () => new Promise<never>(() => {}) })],
      { clock, events },
    );
    loop.start();
    await clock.advance(12);
    let closed = false;
    const closing = loop.close(seconds(2)).then(() => {
      closed = true;
    });
    await clock.advance(1.9);
    expect(closed).toBe(false);
    await clock.advance(0.2);
    await closing;
    expect(clock.pendingTimers()).toBe(0);
    expect(told.abandoned).toBe(0);
  });

  it('G-161: each run has a signal of its own, so nothing piles up on a shared one', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const signals = new Set<AbortSignal>();
    const work = async (signal: AbortSignal) => void signals.add(signal);
    const loop = createScheduleLoop([entry(clock, told, { everySeconds: 0.1, work })], { clock, events });
    loop.start();
    await clock.advance(10.05);
    expect(signals.size).toBeGreaterThanOrEqual(100);
    expect(signals.size).toBe(told.starts.length);
    expect(clock.pendingTimers()).toBe(1);
    await loop.close(seconds(1));
  });

  it('G-175: forty targets with 30 s never start more than a few runs in the same second', async () => {
    const clock = manualClock();
    const { told, events } = listen();
    const loops = Array.from({ length: 40 }, (_, index) => {
      const phase = phasesOf(`model-${index}`, '', [{ name: 'default', windowSeconds: seconds(30) }]).get('default');
      const settings = { name: `t${index}`, everySeconds: 30, phase: phase ?? 0, work: taking(clock, 2) };
      return createScheduleLoop([entry(clock, told, settings)], { clock, events });
    });
    for (const loop of loops) loop.start();
    await clock.advance(90);
    expect(told.starts).toHaveLength(120);
    const perSecond = new Map<number, number>();
    for (const { at } of told.starts) perSecond.set(Math.floor(at), (perSecond.get(Math.floor(at)) ?? 0) + 1);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(6);
    await Promise.all(loops.map((loop) => loop.close(seconds(1))));
  });
});

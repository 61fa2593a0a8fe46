import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createTimetable,
  type Now,
  nominalInterval,
  phaseWindow,
  type Tick,
  type Timetable,
} from '../../../src/schedule/timetable.ts';
import { monotonicInstant, seconds, unixTime } from '../../../src/units.ts';

const noJitter = () => 0;
const every = (everySeconds: number, jitterSeconds = 0) => ({
  everySeconds: seconds(everySeconds),
  cron: null,
  jitterSeconds: seconds(jitterSeconds),
});
const cron = (expression: string, jitterSeconds = 0) => ({
  everySeconds: null,
  cron: expression,
  jitterSeconds: seconds(jitterSeconds),
});
/** Both clocks `passed` seconds after monotonic 100 s and 2026-11-29T20:00:03Z, with the wall clock `stepped`. */
const nowAt = (passed: number, stepped = 0): Now => ({
  monotonic: monotonicInstant(100 + passed),
  unix: unixTime(Date.parse('2026-11-29T20:00:03Z') / 1000 + passed + stepped),
});

/** Due instants, in seconds after the start, of the first ticks; each asked for when the one before is due. */
function walk(timetable: Timetable, count: number, stepped: (index: number) => number = () => 0): readonly number[] {
  const due: number[] = [];
  let tick: Tick | null = null;
  let now = nowAt(0);
  for (let index = 0; index < count; index += 1) {
    tick = timetable.next(tick, now);
    if (tick === null) break;
    due.push(Math.round((tick.due - 100) * 1e6) / 1e6);
    now = nowAt(tick.due - 100, stepped(index));
  }
  return due;
}

describe('timetable of an interval', () => {
  it('begins at the first slot of the cron grid plus its phase, wherever the process was started', () => {
    const timetable = createTimetable(every(15), seconds(4), noJitter, nowAt(0));
    // 20:00:00 + 4 s lies one second ahead.
    expect(walk(timetable, 3)).toEqual([1, 16, 31]);
  });

  it('holds intervals that no cron expression can: 7 s and 90 s, the same slots after each restart', () => {
    for (const interval of [7, 90]) {
      const early = walk(createTimetable(every(interval), seconds(3), noJitter, nowAt(0)), 20);
      const late = createTimetable(every(interval), seconds(3), noJitter, nowAt(interval * 4.3));
      const first = late.next(null, nowAt(interval * 4.3));
      expect(early).toContain(Math.round(((first?.due ?? 0) - 100) * 1e6) / 1e6);
      early.slice(1).forEach((due, index) => {
        expect(due - (early[index] ?? 0)).toBeCloseTo(interval, 6);
      });
    }
  });

  it('a step of the wall clock moves no tick', () => {
    const timetable = createTimetable(every(15), seconds(4), noJitter, nowAt(0));
    expect(walk(timetable, 4, (index) => (index === 1 ? -3600 : 7200))).toEqual([1, 16, 31, 46]);
  });

  it('does not accumulate an error: tick 100,000 of 0.1 s is where it belongs', () => {
    const timetable = createTimetable(every(0.1), seconds(0), noJitter, nowAt(0));
    const first = timetable.next(null, nowAt(0));
    const far = timetable.next({ due: monotonicInstant(0), slot: (first?.slot ?? 0) + 99_999 }, nowAt(0));
    expect((far?.due ?? 0) - (first?.due ?? 0)).toBeCloseTo(10_000, 6);
  });

  it('jitter moves a tick later within its bound, and never past the next one', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 1000, noNaN: true }),
        fc.double({ min: 0, max: 2000, noNaN: true }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        (interval, jitter, stream) => {
          const drawn = new Map<number, number>();
          const fraction = (slot: number): number => {
            const known = drawn.get(slot) ?? stream.next().value ?? 0;
            drawn.set(slot, known);
            return known;
          };
          const due = walk(createTimetable(every(interval, jitter), seconds(interval / 3), fraction, nowAt(0)), 12);
          due.slice(1).forEach((instant, index) => {
            const distance = instant - (due[index] ?? 0);
            expect(distance).toBeGreaterThan(interval / 2 - 1e-4);
            expect(distance).toBeLessThan(interval * 1.5 + 1e-4);
          });
        },
      ),
    );
  });
});

describe('timetable of a cron expression', () => {
  it('follows each slot by its phase', () => {
    expect(walk(createTimetable(cron('*/10 * * * * *'), seconds(2.5), noJitter, nowAt(0)), 3)).toEqual([
      9.5, 19.5, 29.5,
    ]);
  });

  it('a clock that reads a millisecond less does not repeat a slot', () => {
    const timetable = createTimetable(cron('*/10 * * * * *'), seconds(3), noJitter, nowAt(0));
    const due = walk(timetable, 6, (index) => (index % 2 === 0 ? -0.001 : 0.001));
    expect(due.map((instant) => Math.round(instant))).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it('a wall clock that goes back a minute, or forward an hour, costs at most one slot and repeats none', () => {
    for (const step of [-60, -63.4, 3600, 3607.2]) {
      const timetable = createTimetable(cron('*/10 * * * * *'), seconds(0), noJitter, nowAt(0));
      const due = walk(timetable, 10, (index) => (index >= 4 ? step : 0));
      due.slice(1).forEach((instant, index) => {
        const distance = instant - (due[index] ?? 0);
        expect(distance).toBeGreaterThanOrEqual(5 - 1e-6);
        expect(distance).toBeLessThan(15 + 1e-6);
      });
    }
  });

  it('a daily job that a clock set back by a minute would bring again is not run twice', () => {
    const timetable = createTimetable(cron('10 0 20 * * *'), seconds(0), noJitter, nowAt(0));
    const [first, second] = walk(timetable, 2, () => -60);
    expect(first).toBe(7);
    expect(second).toBe(7 + 86_400 + 60);
  });

  it('keeps the phase of a daily job within a minute, and of a frequent one within its slot', () => {
    expect(phaseWindow(cron('0 30 2 * * *'))).toBe(60);
    expect(phaseWindow(cron('*/7 * * * * *'))).toBe(4);
    expect(phaseWindow(every(900))).toBe(900);
  });

  it('names the longest distance as its interval, by which silence is judged', () => {
    expect(createTimetable(cron('0 0 9-17 * * *'), seconds(0), noJitter, nowAt(0)).intervalSeconds).toBe(16 * 3600);
    expect(nominalInterval(cron('0 0 9-17 * * *'))).toBe(16 * 3600);
    expect(nominalInterval(every(7))).toBe(7);
  });
});

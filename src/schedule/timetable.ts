import {
  after,
  elapsed,
  type MonotonicInstant,
  monotonicInstant,
  type Seconds,
  seconds,
  type UnixTime,
  unixTime,
} from '../units.ts';
import { type CronGrid, cronForEvery, cronGrid } from './cron.ts';

/** Both clocks, read together. */
export interface Now {
  readonly monotonic: MonotonicInstant;
  readonly unix: UnixTime;
}

/** One entry of a timetable. */
export interface Tick {
  readonly due: MonotonicInstant;
  /** Number of the slot: an index for an interval, seconds since 1970 for a cron expression. */
  readonly slot: number;
}

/** When a profile is due. Absolute: what happens at one tick never moves another. Pure: both clocks are handed in. */
export interface Timetable {
  /** The tick after `previous`; without one, the first tick later than `now`. Null: never again. */
  next(previous: Tick | null, now: Now): Tick | null;
  /** Nominal distance of ticks; for an uneven cron expression the longest one. */
  readonly intervalSeconds: Seconds;
  /** Shortest distance of ticks: a probe later than a share of it has missed its moment. */
  readonly shortestGapSeconds: Seconds;
}

/** What stands in the configuration: exactly one of `everySeconds` and `cron`. */
export interface TimetableSettings {
  readonly everySeconds: Seconds | null;
  readonly cron: string | null;
  readonly jitterSeconds: Seconds;
}

/** A number in [0, 1) for a slot; the same for the same slot. */
export type SlotFraction = (slot: number) => number;

// A daily job at 02:30 means 02:30 and not some time before the next one: its phase stays within a minute.
const LONGEST_CRON_PHASE_SECONDS = 60;
// The wall clock has a resolution of 1 ms and is slewed by NTP; what moves further than this was stepped.
const STEP_SECONDS = 1;

/** What the phase of a profile must stay below: its interval, or what is allowed of its cron slot. */
export function phaseWindow(settings: TimetableSettings): Seconds {
  if (settings.everySeconds !== null) return settings.everySeconds;
  const grid = cronGrid(settings.cron ?? '');
  return seconds(Math.min(grid.shortestGapSeconds, LONGEST_CRON_PHASE_SECONDS));
}

/** The slot of an interval that begins next: on the cron grid where that holds the interval evenly. */
function slotStart(everySeconds: Seconds, moment: UnixTime): number {
  const expression = cronForEvery(everySeconds);
  const slot = expression === null ? null : cronGrid(expression).slotAfter(moment);
  // Multiples since 1970: every restart and every replica finds the same slots, whatever the interval.
  return slot ?? (Math.floor(moment / everySeconds) + 1) * everySeconds;
}

/** Jitter may not reach the next tick, or the order of ticks would be lost. */
const boundedJitter = (jitterSeconds: Seconds, gapSeconds: Seconds): number => Math.min(jitterSeconds, gapSeconds / 2);

/**
 * Ticks `every` seconds apart. The wall clock is asked once, for the first slot, so that a restart finds the same
 * phase; from then on only the monotonic clock counts.
 */
function intervalTimetable(
  everySeconds: Seconds,
  phase: Seconds,
  jitter: number,
  fraction: SlotFraction,
  start: Now,
): Timetable {
  const untilSlot = slotStart(everySeconds, start.unix) - start.unix;
  const dueOf = (slot: number): MonotonicInstant =>
    after(start.monotonic, seconds(untilSlot + (slot - 1) * everySeconds + phase + jitter * fraction(slot)));
  const tick = (slot: number): Tick => ({ due: dueOf(slot), slot });
  return {
    intervalSeconds: everySeconds,
    shortestGapSeconds: everySeconds,
    next(previous, now) {
      if (previous !== null) return tick(previous.slot + 1);
      const passed = elapsed(start.monotonic, now.monotonic) - untilSlot - phase - jitter;
      let slot = Math.max(0, Math.floor(passed / everySeconds));
      while (dueOf(slot) <= now.monotonic) slot += 1;
      return tick(slot);
    },
  };
}

/**
 * Ticks at the slots of a cron expression. Each slot is looked up on the wall clock when the tick before it is done;
 * when that clock was stepped in between, the next slot from the new time is taken, and one that would come sooner
 * than half its distance is a repetition that the step made, and is left out.
 */
function cronTimetable(grid: CronGrid, phase: Seconds, jitter: number, fraction: SlotFraction): Timetable {
  const dueOf = (slot: UnixTime, now: Now): MonotonicInstant =>
    monotonicInstant(now.monotonic + (slot - now.unix) + phase + jitter * fraction(slot));
  const tick = (slot: UnixTime | null, now: Now): Tick | null =>
    slot === null ? null : { due: dueOf(slot, now), slot };
  const firstAfter = (now: Now): UnixTime | null => grid.slotAfter(unixTime(now.unix - phase));

  const afterStep = (previous: Tick, now: Now): Tick | null => {
    const slot = firstAfter(now);
    const following = slot === null ? null : grid.slotAfter(slot);
    if (slot === null || following === null) return tick(slot, now);
    const tooSoon = elapsed(previous.due, dueOf(slot, now)) < (following - slot) / 2;
    return tick(tooSoon ? following : slot, now);
  };

  return {
    intervalSeconds: grid.longestGap(),
    shortestGapSeconds: grid.shortestGapSeconds,
    next(previous, now) {
      if (previous === null) return tick(firstAfter(now), now);
      const previousSlot = unixTime(previous.slot);
      const slot = grid.slotAfter(previousSlot);
      if (slot === null) return null;
      const expected = previous.due + (slot - previousSlot) + jitter * (fraction(slot) - fraction(previousSlot));
      const due = dueOf(slot, now);
      return Math.abs(due - expected) > STEP_SECONDS ? afterStep(previous, now) : { due, slot };
    },
  };
}

/**
 * The timetable of one profile, running from `start`.
 *
 * @param phase from `phasesOf`; each slot is followed by it
 * @param fraction decides each slot's share of the jitter
 */
export function createTimetable(
  settings: TimetableSettings,
  phase: Seconds,
  fraction: SlotFraction,
  start: Now,
): Timetable {
  if (settings.everySeconds !== null) {
    const jitter = boundedJitter(settings.jitterSeconds, settings.everySeconds);
    return intervalTimetable(settings.everySeconds, phase, jitter, fraction, start);
  }
  const grid = cronGrid(settings.cron ?? '');
  return cronTimetable(grid, phase, boundedJitter(settings.jitterSeconds, grid.shortestGapSeconds), fraction);
}

/** Longest distance of two ticks, phase and jitter left aside: what "no probe ran" is judged by. */
export function nominalInterval(settings: TimetableSettings): Seconds {
  return settings.everySeconds ?? cronGrid(settings.cron ?? '').longestGap();
}

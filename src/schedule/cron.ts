import { createTask, validateDetailed } from 'node-cron';
import { type Seconds, seconds, type UnixTime, unixTime } from '../units.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;
// Leap years repeat their weekdays after 28 years; whatever has not come by then is never due.
const HORIZON_DAYS = 28 * 366;
// 2028-01-01: rules of the calendar are measured over this year, a leap year.
const LEAP_YEAR_FIRST_DAY = 21_184;

/**
 * The slots of a cron expression, in UTC. Pure: knows no clock, so neither a time zone nor a step of the wall clock
 * can stop it, and a test can walk through years.
 */
export interface CronGrid {
  readonly expression: string;
  /** First slot later than `moment`; null when there is none within 28 years. */
  slotAfter(moment: UnixTime): UnixTime | null;
  /** Shortest distance between two slots, in seconds: what a phase has to fit into. */
  readonly shortestGapSeconds: Seconds;
  /** Longest distance between two slots, in seconds: what "no probe ran" is judged by. */
  longestGap(): Seconds;
}

const FIELD_SIZES = [60, 60, 24] as const;
const FIELD_NAMES = ['second', 'minute', 'hour'] as const;

/** node-cron takes a step beyond the field's size for "once a round", which is never what was meant. */
function impossibleStep(expression: string): string | null {
  const fields = expression.trim().split(/\s+/);
  const first = fields.length === 5 ? 1 : 0;
  for (let index = first; index < FIELD_SIZES.length; index += 1) {
    const size = FIELD_SIZES[index] ?? 60;
    for (const match of (fields[index - first] ?? '').matchAll(/\/(\d+)/g)) {
      const step = Number(match[1]);
      const name = FIELD_NAMES[index] ?? 'second';
      if (step >= size) return `a step of ${step} does not fit into the ${name} field; use every: instead`;
    }
  }
  return null;
}

/**
 * Says what is wrong with a cron expression (five fields, or six with seconds first; UTC). Null: nothing.
 * Stricter than node-cron, which reads a step of 90 seconds as once a minute.
 */
export function validateCron(expression: string): string | null {
  const { valid, errors } = validateDetailed(expression);
  return valid ? impossibleStep(expression) : (errors[0]?.message ?? 'not a cron expression');
}

/** When an expression is due within a day; each list ascending and not empty. */
interface TimesOfDay {
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
}

const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b);
const firstOf = (values: readonly number[]): number => values[0] ?? 0;
const spanOf = (values: readonly number[]): number => (values.at(-1) ?? 0) - firstOf(values);
const stepsOf = (values: readonly number[]): readonly number[] =>
  values.slice(1).map((value, index) => value - (values[index] ?? 0));

const firstTime = (times: TimesOfDay): number =>
  firstOf(times.hours) * HOUR_SECONDS + firstOf(times.minutes) * MINUTE_SECONDS + firstOf(times.seconds);

/** The first due second of the day later than `timeOfDay` (which may have a fraction). */
function timeAfter(timeOfDay: number, times: TimesOfDay): number | null {
  const hour = Math.floor(timeOfDay / HOUR_SECONDS);
  const minute = Math.floor((timeOfDay % HOUR_SECONDS) / MINUTE_SECONDS);
  if (times.hours.includes(hour)) {
    const second = times.seconds.find((value) => value > timeOfDay % MINUTE_SECONDS);
    if (second !== undefined && times.minutes.includes(minute)) {
      return hour * HOUR_SECONDS + minute * MINUTE_SECONDS + second;
    }
    const laterMinute = times.minutes.find((value) => value > minute);
    if (laterMinute !== undefined) {
      return hour * HOUR_SECONDS + laterMinute * MINUTE_SECONDS + firstOf(times.seconds);
    }
  }
  const laterHour = times.hours.find((value) => value > hour);
  if (laterHour === undefined) return null;
  return laterHour * HOUR_SECONDS + firstOf(times.minutes) * MINUTE_SECONDS + firstOf(times.seconds);
}

/** Distances between neighbouring slots of days that follow each other, in seconds. */
function gapsOf(times: TimesOfDay): readonly number[] {
  const withinMinute = spanOf(times.seconds);
  const withinHour = spanOf(times.minutes) * MINUTE_SECONDS + withinMinute;
  const withinDay = spanOf(times.hours) * HOUR_SECONDS + withinHour;
  return [
    ...stepsOf(times.seconds),
    ...stepsOf(times.minutes).map((step) => step * MINUTE_SECONDS - withinMinute),
    ...stepsOf(times.hours).map((step) => step * HOUR_SECONDS - withinHour),
    DAY_SECONDS - withinDay,
  ];
}

/** Whether an expression is due at all on a day, counted in whole days since 1970. */
type DayTest = (day: number) => boolean;

/** Leaves the calendar's rules (weekdays, last days, nearest weekdays) to node-cron. */
function dayTest(expression: string, times: TimesOfDay): DayTest {
  // Only the matcher is wanted. The task is never started, and leaves node-cron's list of tasks at once.
  const task = createTask(expression, () => undefined, { timezone: 'UTC' });
  void task.destroy();
  return (day) => task.match(new Date((day * DAY_SECONDS + firstTime(times)) * 1000));
}

function slotAfter(moment: number, times: TimesOfDay, isDue: DayTest): number | null {
  const today = Math.floor(moment / DAY_SECONDS);
  const later = timeAfter(moment - today * DAY_SECONDS, times);
  if (later !== null && isDue(today)) return today * DAY_SECONDS + later;
  for (let day = today + 1; day <= today + HORIZON_DAYS; day += 1) {
    if (isDue(day)) return day * DAY_SECONDS + firstTime(times);
  }
  return null;
}

/** Longest run from one due day to the next, over a leap year and on to the first due day of the next year. */
function longestDayGap(isDue: DayTest): number {
  const due: number[] = [];
  for (let day = LEAP_YEAR_FIRST_DAY; day < LEAP_YEAR_FIRST_DAY + 2 * 366; day += 1) {
    if (!isDue(day)) continue;
    due.push(day);
    if (day >= LEAP_YEAR_FIRST_DAY + 366) break;
  }
  return due.length < 2 ? HORIZON_DAYS : Math.max(...stepsOf(due));
}

/** The grid of a valid expression (`validateCron` says null). Throws node-cron's error for any other. */
export function cronGrid(expression: string): CronGrid {
  const { fields } = validateDetailed(expression);
  const times: TimesOfDay = {
    hours: ascending(fields?.hour ?? []),
    minutes: ascending(fields?.minute ?? []),
    seconds: ascending(fields?.second ?? []),
  };
  const everyDay =
    new Set(fields?.dayOfMonth).size === 31 &&
    new Set(fields?.month).size === 12 &&
    new Set(fields?.dayOfWeek.map((day) => (day === 7 ? 0 : day))).size === 7;
  const isDue = everyDay ? () => true : dayTest(expression, times);
  const gaps = gapsOf(times);
  return {
    expression,
    slotAfter(moment) {
      const slot = slotAfter(moment, times, isDue);
      return slot === null ? null : unixTime(slot);
    },
    shortestGapSeconds: seconds(Math.min(...gaps)),
    longestGap() {
      const quietDays = everyDay ? 0 : longestDayGap(isDue) - 1;
      return seconds(Math.max(...gaps, (gaps.at(-1) ?? 0) + quietDays * DAY_SECONDS));
    },
  };
}

/**
 * The cron expression whose slots lie exactly `every` apart, all day long; null when the grid cannot hold the interval
 * evenly (7 s leaves a gap of 4 s at each full minute; 90 s cannot be said at all).
 */
export function cronForEvery(every: Seconds): string | null {
  if (!Number.isInteger(every) || every < 1) return null;
  if (every < MINUTE_SECONDS) return MINUTE_SECONDS % every === 0 ? `*/${every} * * * * *` : null;
  if (every === DAY_SECONDS) return '0 0 0 * * *';
  if (every % HOUR_SECONDS === 0) return DAY_SECONDS % every === 0 ? `0 0 */${every / HOUR_SECONDS} * * *` : null;
  if (HOUR_SECONDS % every === 0 && every % MINUTE_SECONDS === 0) return `0 */${every / MINUTE_SECONDS} * * * *`;
  return null;
}

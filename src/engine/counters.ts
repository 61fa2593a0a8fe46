import { keyText } from './join.ts';
import type { NormalizedPage } from './normalize.ts';
import { COUNTER_ROLES, type CounterRole, type EngineRole } from './types.ts';

/** Own counters: monotone, from 0 at the first good poll, across restarts of the engine. */
export interface OwnCounters {
  /** Takes the counters of a good poll. */
  take(page: NormalizedPage, facts: PollFacts): void;
  /** Own counters of one series, as far as the engine offers them. */
  ofSeries(key: string): Partial<Readonly<Record<CounterRole, number>>>;
  /** Sum over all series that ever were; null when the engine has never shown the role. */
  total(role: CounterRole): number | null;
  restarts(): number;
  /** See `EngineView.inconsistentSource`. */
  inconsistent(): boolean;
}

export interface PollFacts {
  /** Polls failed between the last good one and this one. */
  readonly gap: boolean;
  /** Wall time of the last good poll, seconds since 1970; null at the first. */
  readonly lastGoodAt: number | null;
  /** Wall time of this poll; a second after the last good one when it is left out. */
  readonly now?: number;
}

type Raws = Map<string, number>;

/** What one page says, flat: a counter per series and role. */
interface Reading {
  /** Roles that are gauges of the events since the last report: they fall without a restart. */
  readonly sinceReport: ReadonlySet<CounterRole>;
  readonly raws: Raws;
  /** Models that the page names. */
  readonly models: ReadonlySet<string>;
  readonly start: number | null;
  /** The process has begun since the last good poll. */
  readonly fresh: boolean;
  readonly sources: Partial<Readonly<Record<EngineRole, string>>>;
}

interface Fall {
  /** The reading before the fall, and every one since. */
  readonly before: Reading;
  readonly since: Reading[];
  /** Another process answers since, and it was there long before: what it counted until now is history. */
  readonly stranger: boolean;
}

// A fall without other evidence is called a restart once this many polls have not climbed back over it.
const POLLS_TO_CONFIRM = 2;
// Falls that were climbed back over, within this many polls, make a source inconsistent; the same number of polls
// without one clears it.
const OSCILLATIONS = 2;
const OSCILLATION_POLLS = 60;
// Wall clocks of two machines differ.
const CLOCK_SKEW_SECONDS = 5;
// What no engine generates: since its start, and at once when many long requests end together.
const MOST_TOKENS = { started: { atOnce: 100_000, perSecond: 20_000 }, risen: { atOnce: 5e6, perSecond: 200_000 } };
// Some programs reckon their start anew for each page, from a clock that is being set right meanwhile.
const START_JITTER_SECONDS = 2;
// A process that is older than our last good poll by more than this was at work all the time, for others.
const STRANGER_SECONDS = 60;
const MAX_RAWS = 2_000;
const SEPARATOR = '\u0003';

const rawKey = (series: string, role: CounterRole): string => `${series}${SEPARATOR}${role}`;
const seriesOf = (key: string): string => key.slice(0, key.indexOf(SEPARATOR));
const roleOf = (key: string): CounterRole => key.slice(key.indexOf(SEPARATOR) + 1) as CounterRole;

function readingOf(page: NormalizedPage, { lastGoodAt }: PollFacts): Reading {
  const raws: Raws = new Map();
  for (const series of page.series) {
    for (const role of COUNTER_ROLES) {
      const value = series.counters[role];
      if (value !== undefined && raws.size < MAX_RAWS) raws.set(rawKey(keyText(series), role), value);
    }
  }
  const { sinceReport, processStartSeconds: start, sources } = page;
  const models = new Set(page.series.map(({ model }) => model).filter((model) => model !== ''));
  const fresh = start !== null && lastGoodAt !== null && start > lastGoodAt - CLOCK_SKEW_SECONDS;
  return { raws, models, start, fresh, sources, sinceReport };
}

const isSameSource = (a: Reading, b: Reading, key: string): boolean =>
  a.sources[roleOf(key)] === b.sources[roleOf(key)];

const fallen = (before: Reading, now: Reading): readonly string[] =>
  [...now.raws].flatMap(([key, value]) => {
    const comparable = isSameSource(before, now, key) && !now.sinceReport.has(roleOf(key));
    return comparable && value < (before.raws.get(key) ?? 0) ? [key] : [];
  });

/** Positive: a younger process answers than before. 0: the same one, or nobody knows. */
function youngerBy(before: Reading, now: Reading): number {
  const by = before.start === null || now.start === null ? 0 : now.start - before.start;
  return Math.abs(by) <= START_JITTER_SECONDS && !now.fresh ? 0 : by;
}

const isOtherProcess = (before: Reading, now: Reading): boolean => youngerBy(before, now) > 0;

/** Every series is of another model than any before. */
const isOtherModel = (before: Reading, now: Reading): boolean =>
  before.models.size > 0 && now.models.size > 0 && [...now.models].every((model) => !before.models.has(model));

/** Nothing has been counted yet, of all that was: counters that are born with the first event. */
const hasNoneYet = (before: Reading, now: Reading): boolean => now.raws.size === 0 && before.raws.size > 0;

/** No quantity is read from where it was before: another kind of engine. */
function isOtherEngine(before: Reading, now: Reading): boolean {
  const common = COUNTER_ROLES.filter((role) => before.sources[role] !== undefined && now.sources[role] !== undefined);
  return common.length > 1 && common.every((role) => before.sources[role] !== now.sources[role]);
}

/** How many tokens can be new since the last good poll. */
function mostTokens({ lastGoodAt, now }: PollFacts, of: keyof typeof MOST_TOKENS): number {
  const { atOnce, perSecond } = MOST_TOKENS[of];
  return atOnce + perSecond * (lastGoodAt === null || now === undefined ? 1 : Math.max(0, now - lastGoodAt));
}

const isUntold = (before: Reading, now: Reading): boolean => before.start === null || now.start === null;

/** A process without a start time that has counted too much to have begun since. */
const hasHistory = (before: Reading, now: Reading, facts: PollFacts): boolean =>
  isUntold(before, now) &&
  fallen(before, now).some(
    (key) => roleOf(key) === 'generation_tokens' && (now.raws.get(key) ?? 0) > mostTokens(facts, 'started'),
  );

/** All at once far more than before: not the process that answered until now. */
const isJump = (before: Reading, now: Reading, facts: PollFacts): boolean =>
  isUntold(before, now) &&
  [...now.raws].some(([key, value]) => {
    const known =
      roleOf(key) === 'generation_tokens' && isSameSource(before, now, key) ? before.raws.get(key) : undefined;
    return known !== undefined && value - known > mostTokens(facts, 'risen');
  });

const isStranger = (before: Reading, now: Reading, facts: PollFacts): boolean =>
  (isOtherProcess(before, now) &&
    facts.lastGoodAt !== null &&
    (now.start ?? 0) < facts.lastGoodAt - STRANGER_SECONDS) ||
  hasHistory(before, now, facts) ||
  isJump(before, now, facts);

const TOKENS: readonly CounterRole[] = ['generation_tokens', 'prompt_tokens'];

/**
 * What goes on from where it was. Several engines may be on one page, each in its own series, and only those start again
 * of which a counter fell; a younger process takes all of them with it. That a series goes on is proved by its tokens,
 * which no engine catches up with: a few preemptions it does.
 */
function survivors(before: Reading, readings: readonly Reading[]): Raws {
  if (readings.some((now) => isOtherProcess(before, now) || isOtherEngine(before, now))) return new Map();
  const down = new Set(readings.flatMap((now) => fallen(before, now).map(seriesOf)));
  const goesOn = (series: string): boolean =>
    !down.has(series) &&
    TOKENS.some((role) => {
      const key = rawKey(series, role);
      return (before.raws.get(key) ?? 0) > 0 && readings.every((now) => now.raws.has(key));
    });
  return new Map([...before.raws].filter(([key]) => goesOn(seriesOf(key))));
}

// A series may be missing from one page and be back on the next: what it had is not new then.
function carryOver(before: Reading, now: Reading): Reading {
  const raws: Raws = new Map(now.raws);
  for (const [key, value] of before.raws) {
    if (raws.size >= MAX_RAWS) break;
    if (!raws.has(key)) raws.set(key, value);
  }
  const models = now.models.size > 0 ? now.models : before.models;
  return { ...now, raws, models, sources: { ...before.sources, ...now.sources } };
}

/** The state machine behind `OwnCounters`. */
class Counters implements OwnCounters {
  private readonly own = new Map<string, number>();
  private readonly totals = new Map<CounterRole, number>();
  private last: Reading | null = null;
  private fall: Fall | null = null;
  private restartCount = 0;
  private polls = 0;
  private oscillations: number[] = [];

  take(page: NormalizedPage, facts: PollFacts): void {
    this.polls += 1;
    this.oscillations = this.oscillations.filter((poll) => this.polls - poll < OSCILLATION_POLLS);
    const now = readingOf(page, facts);
    for (const key of now.raws.keys()) this.add(key, 0);
    const last = this.last;
    if (last === null) this.last = now;
    else if (this.fall !== null) this.judge(this.fall, now, facts);
    else this.compare(last, now, facts);
  }

  ofSeries(series: string): Partial<Record<CounterRole, number>> {
    const result: Partial<Record<CounterRole, number>> = {};
    for (const role of COUNTER_ROLES) {
      const value = this.own.get(rawKey(series, role));
      if (value !== undefined) result[role] = value;
    }
    return result;
  }

  total(role: CounterRole): number | null {
    return this.totals.get(role) ?? null;
  }

  restarts(): number {
    return this.restartCount;
  }

  inconsistent(): boolean {
    return this.oscillations.length >= OSCILLATIONS;
  }

  private compare(last: Reading, now: Reading, facts: PollFacts): void {
    if (youngerBy(last, now) < 0) {
      // An older process than the one before answers: there are several, and no increase means anything.
      this.oscillated();
      this.last = carryOver(last, now);
    } else if (this.isRestart(last, now, facts)) {
      this.restarted(last, [now], isStranger(last, now, facts));
    } else if (fallen(last, now).length > 0 || isOtherProcess(last, now) || isJump(last, now, facts)) {
      this.fall = { before: last, since: [now], stranger: isStranger(last, now, facts) };
    } else {
      this.grow(last, now);
      this.last = carryOver(last, now);
    }
  }

  /** Evidence that needs no waiting: a younger process than our last good poll, or a fall across an outage. */
  private isRestart(last: Reading, now: Reading, facts: PollFacts): boolean {
    if (isOtherProcess(last, now)) {
      return facts.lastGoodAt === null || now.fresh || facts.gap;
    }
    if (!facts.gap) return false;
    return [isOtherModel, isOtherEngine, hasNoneYet].some((holds) => holds(last, now)) || fallen(last, now).length > 0;
  }

  /** After a fall: climbed back over the old value means that two processes answer in turn; staying below, a restart. */
  private judge(fall: Fall, now: Reading, facts: PollFacts): void {
    const down = fallen(fall.before, now);
    const olderAnswers = now.start !== null && now.start === fall.before.start && fall.since[0]?.start !== now.start;
    // Of a process that has come with more than the one before, going back is what tells; of any other, climbing back.
    const [first = now] = fall.since;
    const rose = fallen(fall.before, first).length === 0;
    const isBack = rose ? fallen(first, now).length > 0 : down.length === 0;
    if (!isOtherProcess(fall.before, now) && (isBack || olderAnswers)) {
      this.oscillated();
      this.fall = null;
      this.grow(fall.before, now);
      this.last = carryOver(fall.before, now);
      return;
    }
    fall.since.push(now);
    if (facts.gap || fall.since.length > POLLS_TO_CONFIRM) {
      this.fall = null;
      this.restarted(fall.before, fall.since, fall.stranger);
    }
  }

  // Engines behind a node agent come and go under ever new names; the totals keep what they counted.
  private forgetVanished(): void {
    for (const key of this.own.keys()) if (this.last?.raws.has(key) !== true) this.own.delete(key);
  }

  private oscillated(): void {
    this.oscillations.push(this.polls);
  }

  /** A new process counts from 0: all that its counters show is new, unless it is another one that was there before. */
  private restarted(last: Reading, readings: readonly Reading[], stranger: boolean): void {
    this.restartCount += 1;
    const [first] = readings;
    if (first === undefined) return;
    let before: Reading = stranger ? first : { ...first, raws: survivors(last, readings) };
    for (const reading of readings) {
      this.grow(before, reading);
      before = carryOver(before, reading);
    }
    this.last = before;
  }

  /** Adds the increases. A counter that was not there before was born since, and rose from 0. */
  private grow(before: Reading, now: Reading): void {
    if (this.inconsistent()) return;
    for (const [key, value] of now.raws) {
      const known = before.raws.get(key);
      const renamed = before.sources[roleOf(key)] !== undefined && !isSameSource(before, now, key);
      if (renamed) continue;
      // A report that is still the same one has been counted.
      const reported = value === known ? 0 : value;
      this.add(key, now.sinceReport.has(roleOf(key)) ? reported : Math.max(0, value - (known ?? 0)));
    }
  }

  private add(key: string, increase: number): void {
    const role = roleOf(key);
    if (!this.own.has(key) && this.own.size >= MAX_RAWS) this.forgetVanished();
    this.own.set(key, (this.own.get(key) ?? 0) + increase);
    this.totals.set(role, (this.totals.get(role) ?? 0) + increase);
  }
}

export const createOwnCounters = (): OwnCounters => new Counters();

import type { Clock, Timer } from '../clock.ts';
import { elapsed, type Seconds, seconds } from '../units.ts';
import { type Run, startRun } from './run.ts';
import type { Now, Tick, Timetable } from './timetable.ts';

/** One line of the schedule: a profile of the target. */
export interface LoopEntry {
  readonly name: string;
  readonly timetable: Timetable;
  /** Beyond every deadline of the run's own: reaching it is a fault of the program, not of the endpoint. */
  readonly hardDeadlineSeconds: Seconds;
  /** Asked at each tick before anything else. False: nothing is sent, and the caller has counted why. */
  admit(): boolean;
  /** Begins a run; null when there is, after all, a reason not to, which the caller has counted. */
  begin(): ((signal: AbortSignal) => Promise<void>) | null;
}

/** What the loop tells of. Names are those of the entries. */
export interface LoopEvents {
  /** A run began this long after it was due. */
  lag(name: string, lag: Seconds): void;
  /** A tick found a run in flight. `endpointSlow`: because that one takes longer than its own interval. */
  overlap(name: string, endpointSlow: boolean): void;
  /** Ticks whose moment had passed before the process got to them: it was stopped, starved or suspended. */
  missed(name: string, count: number): void;
  /** A run was given up at its hard deadline. */
  abandoned(name: string): void;
  /** A run threw, which none should. */
  threw(name: string, error: unknown): void;
}

/** The schedule of one target. Never more than one run in flight, whichever entry it is of. */
export interface ScheduleLoop {
  start(): void;
  /** Sets no more timers, aborts the run in flight and waits for it, `grace` at the most. */
  close(grace: Seconds): Promise<void>;
}

// The wall clock may be stepped during a long wait for a cron slot; looking again costs nothing.
const LONGEST_WAIT_SECONDS = 60;
// Node's timers fire up to 1.1 ms early.
const EARLY_SECONDS = 0.002;
const LATEST_START_SECONDS = 5;

/** The last tick that is due, and how many before it were passed over. */
function catchUp(timetable: Timetable, first: Tick, now: Now): { readonly tick: Tick; readonly passed: number } {
  let tick = first;
  let passed = 0;
  for (;;) {
    const following = timetable.next(tick, now);
    if (following === null || following.due > now.monotonic) return { tick, passed };
    tick = following;
    passed += 1;
  }
}

/**
 * Runs the timetables of one target. A slow run delays no tick: a tick that finds one in flight is counted and
 * dropped, and one whose moment has passed is counted as missed; nothing is ever queued.
 */
export function createScheduleLoop(
  entries: readonly LoopEntry[],
  deps: { readonly clock: Clock; readonly events: LoopEvents },
): ScheduleLoop {
  const { clock, events } = deps;
  const timers = new Map<LoopEntry, Timer>();
  let running: { readonly run: Run; readonly entry: LoopEntry } | null = null;
  let open = false;

  const now = (): Now => ({ monotonic: clock.monotonic(), unix: clock.unix() });

  const begin = (entry: LoopEntry, lag: Seconds): void => {
    const work = entry.begin();
    if (work === null) return;
    const run = startRun({ name: entry.name, hardDeadlineSeconds: entry.hardDeadlineSeconds }, clock, work);
    running = { run, entry };
    events.lag(entry.name, lag);
    void run.ended.then((end) => {
      running = null;
      if (!open) return;
      if (end.kind === 'abandoned') events.abandoned(entry.name);
      if (end.kind === 'threw') events.threw(entry.name, end.error);
    });
  };

  const handle = (entry: LoopEntry, lag: Seconds): void => {
    if (!entry.admit()) return;
    if (running === null) {
      begin(entry, lag);
      return;
    }
    const runningFor = elapsed(running.run.beganAt, clock.monotonic());
    events.overlap(entry.name, running.entry === entry || runningFor >= running.entry.timetable.intervalSeconds);
  };

  const wake = (entry: LoopEntry, previous: Tick | null, armed: Tick): void => {
    const at = now();
    if (armed.due - at.monotonic > EARLY_SECONDS) {
      arm(entry, previous, entry.timetable.next(previous, at));
      return;
    }
    const { tick, passed } = catchUp(entry.timetable, armed, at);
    const lag = seconds(Math.max(0, at.monotonic - tick.due));
    const late = lag > Math.min(entry.timetable.shortestGapSeconds / 2, LATEST_START_SECONDS);
    arm(entry, tick, entry.timetable.next(tick, at));
    if (passed > 0 || late) events.missed(entry.name, passed + (late ? 1 : 0));
    if (!late) handle(entry, lag);
  };

  const arm = (entry: LoopEntry, previous: Tick | null, tick: Tick | null): void => {
    timers.delete(entry);
    if (!open || tick === null) return;
    const wait = Math.min(tick.due - clock.monotonic(), LONGEST_WAIT_SECONDS);
    timers.set(
      entry,
      clock.setTimer(seconds(wait), () => wake(entry, previous, tick)),
    );
  };

  return {
    start() {
      if (open) return;
      open = true;
      for (const entry of entries) arm(entry, null, entry.timetable.next(null, now()));
    },
    async close(grace) {
      open = false;
      for (const timer of timers.values()) timer.cancel();
      timers.clear();
      running?.run.stop(grace);
      await running?.run.ended;
    },
  };
}

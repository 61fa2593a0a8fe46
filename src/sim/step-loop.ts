import type { Clock, Timer } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';

/** A step that was planned: how long it takes, and what to do when it ends. */
export interface PlannedStep {
  readonly lengthSeconds: Seconds;
  complete(now: MonotonicInstant): void;
}

export interface StepLoopDeps {
  readonly clock: Clock;
  /** Called at the start of each step; null when there is no work. */
  plan(at: MonotonicInstant): PlannedStep | null;
}

/** One step after the other while there is work: the heartbeat of the engine, and what can be done to it. */
export interface StepLoop {
  /** There may be work: starts a step unless one is in flight or the loop stands still. */
  kick(): void;
  /** Stands still in the middle of the step in flight; `thaw` goes on from there. */
  freeze(): void;
  thaw(): void;
  frozen(): boolean;
  /** Multiplies the length of the steps from the next one on. */
  setSlowFactor(factor: number): void;
  slowFactor(): number;
  /** Forgets the step in flight without completing it. */
  drop(): void;
  /** Steps started so far. */
  steps(): number;
}

interface StepInFlight {
  readonly planned: PlannedStep;
  endsAt: MonotonicInstant;
  timer: Timer;
  /** What was left of it when the loop froze. */
  remaining: Seconds;
}

// A step that ends this late (the machine was busy) moves the timetable; below that the next one makes up for it, so
// that the timers' milliseconds do not add up.
const TOLERATED_LAG: Seconds = seconds(0.05);

export function createStepLoop(deps: StepLoopDeps): StepLoop {
  const { clock } = deps;
  let inFlight: StepInFlight | null = null;
  let frozen = false;
  let slowFactor = 1;
  let steps = 0;

  const arm = (step: Omit<StepInFlight, 'timer'>): StepInFlight => {
    const armed: StepInFlight = {
      ...step,
      timer: clock.setTimer(elapsed(clock.monotonic(), step.endsAt), () => complete(armed)),
    };
    return armed;
  };

  const begin = (at: MonotonicInstant): void => {
    if (inFlight !== null || frozen) return;
    const planned = deps.plan(at);
    if (planned === null) return;
    const length = seconds(planned.lengthSeconds * slowFactor);
    steps += 1;
    inFlight = arm({ planned, endsAt: after(at, length), remaining: length });
  };

  const complete = (step: StepInFlight): void => {
    const now = clock.monotonic();
    step.planned.complete(now);
    // Completing may have dropped the step: then whoever did it decides what comes next.
    if (inFlight !== step) return;
    inFlight = null;
    begin(elapsed(step.endsAt, now) < TOLERATED_LAG ? step.endsAt : now);
  };

  return {
    kick: () => begin(clock.monotonic()),
    freeze() {
      if (frozen) return;
      frozen = true;
      if (inFlight === null) return;
      inFlight.timer.cancel();
      inFlight.remaining = elapsed(clock.monotonic(), inFlight.endsAt);
    },
    thaw() {
      if (!frozen) return;
      frozen = false;
      if (inFlight === null) return begin(clock.monotonic());
      inFlight = arm({ ...inFlight, endsAt: after(clock.monotonic(), inFlight.remaining) });
    },
    frozen: () => frozen,
    setSlowFactor: (factor) => {
      slowFactor = factor;
    },
    slowFactor: () => slowFactor,
    drop() {
      inFlight?.timer.cancel();
      inFlight = null;
    },
    steps: () => steps,
  };
}

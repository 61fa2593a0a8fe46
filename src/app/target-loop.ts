import type { Clock } from '../clock.ts';
import type { ScheduledProfile, TargetConfig } from '../config/types.ts';
import { createScheduleLoop, type LoopEvents, type ScheduleLoop } from '../schedule/loop.ts';
import { phasesOf, stableFraction } from '../schedule/phase.ts';
import { createTimetable, phaseWindow } from '../schedule/timetable.ts';
import { type Seconds, seconds } from '../units.ts';

export interface TargetLoopOptions {
  readonly target: TargetConfig;
  /** Part of the phase: replicas of one Pod template must not fire together. */
  readonly podName: string;
  readonly admit: (profile: string) => boolean;
  readonly begin: (profile: ScheduledProfile) => ((signal: AbortSignal) => Promise<void>) | null;
}

// Beyond the probe's own deadlines: the wait for the engine's last sample, and our own lateness.
const HARD_DEADLINE_MARGIN = 5;

/** A stale connection is replaced once, so a probe may connect twice. */
function hardDeadline({ profile }: ScheduledProfile): Seconds {
  const { connectSeconds, totalSeconds } = profile.deadlines;
  return seconds(2 * connectSeconds + totalSeconds + HARD_DEADLINE_MARGIN);
}

/** The schedule of all profiles of a target, each with its own stable phase. */
export function createTargetLoop(
  options: TargetLoopOptions,
  deps: { readonly clock: Clock; readonly events: LoopEvents },
): ScheduleLoop {
  const { target, podName } = options;
  const { clock } = deps;
  const start = { monotonic: clock.monotonic(), unix: clock.unix() };
  const windows = target.profiles.map(({ profile, timetable }) => ({
    name: profile.name,
    windowSeconds: phaseWindow(timetable),
  }));
  const phases = phasesOf(target.name, podName, windows);
  const entries = target.profiles.map((scheduled) => {
    const { name } = scheduled.profile;
    const jitterOf = (slot: number): number => stableFraction(target.name, name, podName, String(slot));
    return {
      name,
      timetable: createTimetable(scheduled.timetable, phases.get(name) ?? seconds(0), jitterOf, start),
      hardDeadlineSeconds: hardDeadline(scheduled),
      admit: () => options.admit(name),
      begin: () => options.begin(scheduled),
    };
  });
  return createScheduleLoop(entries, deps);
}

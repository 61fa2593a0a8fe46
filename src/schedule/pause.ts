/** What the configuration says about pausing. */
export interface PauseSettings {
  readonly all: boolean;
  readonly targets: ReadonlySet<string>;
}

/** The kill switch: stops all probes, or those of one target. The engine's page is read on. */
export interface KillSwitch {
  isPaused(target: string): boolean;
  /** By hand: stops one target, or all (null). Holds over reloads. */
  pause(target: string | null): void;
  /** Lets go what was stopped by hand: one target, or everything (null). What the configuration pauses stays paused. */
  resume(target: string | null): void;
  configure(settings: PauseSettings): void;
}

/** The kill switch as the configuration has it, until somebody pulls it. */
export function createKillSwitch(initial: PauseSettings): KillSwitch {
  let settings = initial;
  let allByHand = false;
  const byHand = new Set<string>();
  return {
    isPaused: (target) => allByHand || byHand.has(target) || settings.all || settings.targets.has(target),
    pause(target) {
      if (target === null) allByHand = true;
      else byHand.add(target);
    },
    resume(target) {
      if (target === null) {
        allByHand = false;
        byHand.clear();
      } else byHand.delete(target);
    },
    configure(next) {
      settings = next;
    },
  };
}

/** What the configuration says about pausing. */
export interface PauseSettings {
  readonly all: boolean;
  readonly targets: ReadonlySet<string>;
}

/** The kill switch: stops all probes, or those of one target. The engine's page is read on. */
export interface KillSwitch {
  isPaused(target: string): boolean;
  /** Stops everything, or lets go what was stopped by hand. What the configuration pauses stays paused. */
  pauseByHand(paused: boolean): void;
  configure(settings: PauseSettings): void;
}

/** The kill switch as the configuration has it, until somebody pulls it. */
export function createKillSwitch(initial: PauseSettings): KillSwitch {
  let settings = initial;
  let byHand = false;
  return {
    isPaused: (target) => byHand || settings.all || settings.targets.has(target),
    pauseByHand(paused) {
      byHand = paused;
    },
    configure(next) {
      settings = next;
    },
  };
}

import type { Config, TargetConfig } from '../config/types.ts';
import type { EngineView } from '../engine/types.ts';
import type { FinishedProbe } from '../record.ts';
import { createTokenBudget, type TokenBudget } from '../schedule/budget.ts';
import { createKillSwitch, type KillSwitch, type PauseSettings } from '../schedule/pause.ts';
import type { Base, Factories, Reports } from './factories.ts';
import { createLimiter } from './limiter.ts';
import { createPlaces } from './places.ts';
import { createTargetRunner, type TargetRunner } from './target.ts';
import { targetKey } from './target-key.ts';

/** All targets of the configuration at work. */
export interface Fleet {
  start(): void;
  /** Unchanged targets run on undisturbed, changed ones are built anew, removed ones end. */
  reload(config: Config): Promise<void>;
  views(): readonly EngineView[];
  /** Every endpoint has been asked once, whatever it said. */
  asked(): boolean;
  isPaused(target: string): boolean;
  /** Stops or lets go one target, or all (null). False: there is no such target. */
  pause(target: string | null): boolean;
  resume(target: string | null): boolean;
  close(): Promise<void>;
}

export interface FleetOptions {
  readonly config: Config;
  readonly podName: string;
}

export interface FleetDependencies extends Base {
  readonly factories: Factories;
  readonly sink: Reports;
  readonly remember: (finished: FinishedProbe) => void;
}

interface Member {
  readonly key: string;
  readonly runner: TargetRunner;
}

// Five hundred endpoints asked at the same moment would delay each other, and what they answer.
const ASKED_AT_ONCE = 32;

const pausesOf = (config: Config): PauseSettings => ({
  all: config.paused,
  targets: new Set(config.targets.filter((target) => target.paused).map((target) => target.name)),
});

export function createFleet(options: FleetOptions, deps: FleetDependencies): Fleet {
  const { clock, sink } = deps;
  const killSwitch: KillSwitch = createKillSwitch(pausesOf(options.config));
  const limiter = createLimiter(ASKED_AT_ONCE);
  const places = createPlaces(options.config.mostParallelProbes);
  // Outlives its target, so that reloading a configuration does not refill it.
  const budgets = new Map<string, TokenBudget>();
  const members = new Map<string, Member>();
  let config = options.config;

  const budgetOf = (target: TargetConfig): TokenBudget => {
    const budget = budgets.get(target.name) ?? createTokenBudget(target.budget, { clock });
    budget.configure(target.budget);
    budgets.set(target.name, budget);
    return budget;
  };

  /** The probers hold the bound for disturbed samples, so it is part of what a target is built for. */
  const keyOf = (target: TargetConfig, of: Config): string => `${of.disturbedAfterSeconds} ${targetKey(target)}`;

  const add = (target: TargetConfig): void => {
    const runner = createTargetRunner(
      { target, podName: options.podName, disturbedAfterSeconds: config.disturbedAfterSeconds },
      { ...deps, limiter, places, killSwitch, budget: budgetOf(target), traceparent: () => config.traceparent },
    );
    members.set(target.name, { key: keyOf(target, config), runner });
    runner.start();
  };

  const tellPaused = (): void => {
    for (const name of members.keys()) sink.paused(name, killSwitch.isPaused(name));
  };

  const byHand = (target: string | null, act: (target: string | null) => void): boolean => {
    if (target !== null && !members.has(target)) return false;
    act(target);
    tellPaused();
    return true;
  };

  /** Ends what is gone or changed, before anything of the same name begins. */
  const retire = async (next: Config): Promise<void> => {
    const keys = new Map(next.targets.map((target) => [target.name, keyOf(target, next)]));
    const leaving = [...members].filter(([name, member]) => keys.get(name) !== member.key);
    for (const [name] of leaving) members.delete(name);
    await Promise.all(leaving.map(([, { runner }]) => runner.close()));
    for (const name of budgets.keys()) if (!keys.has(name)) budgets.delete(name);
  };

  return {
    start() {
      for (const target of config.targets) add(target);
    },
    async reload(next) {
      await retire(next);
      config = next;
      killSwitch.configure(pausesOf(next));
      places.configure(next.mostParallelProbes);
      for (const target of next.targets) {
        const member = members.get(target.name);
        if (member === undefined) add(target);
        else {
          budgetOf(target);
          member.runner.adopt(target);
        }
      }
      tellPaused();
    },
    views: () => [...members.values()].flatMap(({ runner }) => runner.view() ?? []),
    asked: () => [...members.values()].every(({ runner }) => runner.asked()),
    isPaused: (target) => killSwitch.isPaused(target),
    pause: (target) => byHand(target, killSwitch.pause),
    resume: (target) => byHand(target, killSwitch.resume),
    async close() {
      await Promise.all([...members.values()].map(({ runner }) => runner.close()));
    },
  };
}

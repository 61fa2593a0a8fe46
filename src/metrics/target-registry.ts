import type { Config, TargetConfig, Timetable } from '../config/types.ts';
import type { Seconds } from '../units.ts';
import type { Layouts } from './layout.ts';
import { createProfileSeries, type ProfileSeries, type TargetFacts } from './profile-series.ts';
import { createTargetSeries, type TargetSeries } from './target-series.ts';

/** One target with its series. */
export interface TargetState {
  readonly config: TargetConfig;
  readonly facts: TargetFacts;
  readonly series: TargetSeries;
  readonly profiles: ReadonlyMap<string, ProfileSeries>;
}

export interface TargetRegistryDependencies {
  readonly invalid: () => void;
  readonly layouts: Layouts;
  readonly intervalOf: (timetable: Timetable) => Seconds | null;
}

/** The targets that have series, following the configuration and what is found out about "auto". */
export interface TargetRegistry {
  reconfigure(config: Config): void;
  resolve(target: string, found: Partial<TargetFacts>): void;
  states(): readonly TargetState[];
  get(target: string): TargetState | undefined;
  profile(target: string, profile: string): ProfileSeries | undefined;
}

/** Label value of what is not found out yet. */
const UNKNOWN = 'unknown';

const named = (value: string): string => (value === 'auto' ? UNKNOWN : value);

/** What was found out stays true as long as the configuration asks for the same. */
function factsOf(target: TargetConfig, previous: TargetState | undefined): TargetFacts {
  const fact = (key: keyof TargetFacts): string => {
    const wanted = named(target[key]);
    return wanted === UNKNOWN && previous?.config[key] === 'auto' ? previous.facts[key] : wanted;
  };
  return { model: fact('model'), engine: fact('engine'), api: fact('api') };
}

/** Counts under "unknown" are those of the model that turns out to be there; those of another model are not. */
const sameModel = (before: string, now: string): boolean => before === now || before === UNKNOWN;

export function createTargetRegistry(initial: Config, deps: TargetRegistryDependencies): TargetRegistry {
  let config = initial;
  let targets: ReadonlyMap<string, TargetState> = new Map();

  function build(target: TargetConfig, facts: TargetFacts, previous: TargetState | undefined): TargetState {
    const profiles = target.profiles.map((scheduled) => {
      const old = previous?.profiles.get(scheduled.profile.name);
      const kept = old !== undefined && sameModel(old.options.facts.model, facts.model) ? old : null;
      const options = { target, scheduled, buckets: config.buckets, facts };
      return [scheduled.profile.name, createProfileSeries(options, deps, kept)] as const;
    });
    const series = createTargetSeries(target, config.paused || target.paused, deps, previous?.series);
    return { config: target, facts, series, profiles: new Map(profiles) };
  }

  function reconfigure(next: Config): void {
    config = next;
    targets = new Map(
      next.targets.map((target) => {
        const previous = targets.get(target.name);
        return [target.name, build(target, factsOf(target, previous), previous)];
      }),
    );
  }

  reconfigure(initial);
  return {
    reconfigure,
    resolve(name, found) {
      const state = targets.get(name);
      if (state === undefined) return;
      const facts = { ...state.facts, ...found };
      const { model, engine, api } = state.facts;
      if (facts.model === model && facts.engine === engine && facts.api === api) return;
      targets = new Map([...targets, [name, build(state.config, facts, state)]]);
    },
    states: () => [...targets.values()],
    get: (target) => targets.get(target),
    profile: (target, profile) => targets.get(target)?.profiles.get(profile),
  };
}

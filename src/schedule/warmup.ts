import type { Clock } from '../clock.ts';
import { elapsed, type Seconds, seconds } from '../units.ts';

export interface WarmupOptions {
  /** Of each profile, so many probes after the engine became ready are counted but not observed. */
  readonly probes: number;
  /** An engine that has not become ready after this long is no longer excused: its failures count. */
  readonly startAllowanceSeconds: Seconds;
}

/** Loading a large model takes minutes; an outage that outlasts this has to show. */
export const START_ALLOWANCE_SECONDS = seconds(600);

/** Which probes of a target say nothing yet of what users will see. */
export interface Warmup {
  /** The engine or the endpoint answered that it is ready, or a probe was good. Holds from then on. */
  markReady(): void;
  ready(): boolean;
  /** Not ready yet, and still within the allowance. */
  starting(): boolean;
  /** Takes the next place in the profile's count: true while a probe of it is warm-up. Once a finished probe. */
  admit(profile: string): boolean;
}

/**
 * Probes are warm-up until the engine is first ready, and so are the first ones of each profile after that: they pay
 * for our compiler, the engine's graphs and, with a shared prefix, for the cache that later ones find.
 */
export function createWarmup(options: WarmupOptions, deps: { readonly clock: Clock }): Warmup {
  const startedAt = deps.clock.monotonic();
  const observed = new Map<string, number>();
  let ready = false;

  const starting = (): boolean => !ready && elapsed(startedAt, deps.clock.monotonic()) < options.startAllowanceSeconds;

  return {
    markReady() {
      ready = true;
    },
    ready: () => ready,
    starting,
    admit(profile) {
      if (starting()) return true;
      const before = observed.get(profile) ?? 0;
      observed.set(profile, before + 1);
      return before < options.probes;
    },
  };
}

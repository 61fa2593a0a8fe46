import type { EngineView } from '../engine/types.ts';
import type { SkipReason } from '../probe/outcome.ts';
import type { Backoff } from '../schedule/backoff.ts';
import type { TokenBudget } from '../schedule/budget.ts';
import type { KillSwitch } from '../schedule/pause.ts';
import type { Warmup } from '../schedule/warmup.ts';
import type { Endpoint } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import type { Reports } from './factories.ts';
import type { Sampling } from './sampling.ts';

/** What stands between a tick and a probe. */
export interface Gates {
  /** False: this tick sends nothing, and that is counted with its reason. */
  admit(profile: string): boolean;
  skip(profile: string, reason: SkipReason, countsAgainstSlo?: boolean): void;
}

export interface GatesDependencies {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly exchange: Exchange;
  readonly sampling: Sampling;
  readonly warmup: Warmup;
  readonly backoff: Backoff;
  readonly budget: TokenBudget;
  readonly killSwitch: KillSwitch;
  readonly sink: Reports;
}

export function createGates(deps: GatesDependencies): Gates {
  const { name, endpoint, sampling, warmup, sink } = deps;
  let restarts = 0;

  /** Between two probes the engine's page tells whether it is ready, and whether it is still the same one. */
  const watchEngine = (): EngineView | null => {
    const view = sampling.view();
    const polled = view !== null && view.pollEverySeconds !== null;
    if (endpoint.facts()?.listed === true && (!polled || view.up)) warmup.markReady();
    if (view !== null && view.restarts > restarts) {
      restarts = view.restarts;
      // Another process may be another version, or serve another model.
      endpoint.doubt();
    }
    return view;
  };

  const reasonNotTo = (view: EngineView | null): SkipReason | null => {
    if (deps.killSwitch.isPaused(name)) return 'paused';
    if (deps.exchange.facts() === null) return 'starting';
    if (view?.asleep === true) return 'asleep';
    return deps.backoff.holdOff() === null ? null : 'backoff';
  };

  const skip = (profile: string, reason: SkipReason, countsAgainstSlo = false): void =>
    sink.probeSkipped(name, profile, reason, countsAgainstSlo);

  return {
    skip,
    admit(profile) {
      const reason = reasonNotTo(watchEngine());
      sink.budget(name, deps.budget.remaining());
      if (reason === null) return true;
      // An endpoint that has not even told its model long after the start is down, and nothing else would say so.
      skip(profile, reason, reason === 'starting' && !warmup.starting());
      return false;
    },
  };
}

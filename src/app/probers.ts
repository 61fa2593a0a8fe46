import type { Config, ScheduledProfile, TargetConfig } from '../config/types.ts';
import type { ApiName } from '../probe/outcome.ts';
import type { Prober } from '../probe/prober.ts';
import type { ProbeTarget } from '../probe/profile.ts';
import type { EndpointFacts } from './endpoint-facts.ts';
import type { Base, Factories } from './factories.ts';
import { keyOf, liveHeaders } from './secrets.ts';

/** The probers of one target, one a profile, made for what is known of its endpoint. */
export interface Probers {
  /** The prober of a profile for these facts; one made for others is closed. */
  of(profile: ScheduledProfile, facts: EndpointFacts & { readonly model: string }, api: ApiName): Prober;
  close(): Promise<void>;
}

export interface ProbersDependencies extends Base {
  readonly factories: Pick<Factories, 'createProber'>;
  readonly target: () => TargetConfig;
  readonly disturbedAfterSeconds: Config['disturbedAfterSeconds'];
}

/** The target as the probe sees it; secrets are looked up at each request, in whatever configuration is in force. */
function probeTarget(target: () => TargetConfig, facts: EndpointFacts, model: string, api: ApiName): ProbeTarget {
  const { name, url, connection } = target();
  return {
    name,
    url,
    model,
    api,
    engine: facts.engine,
    connection,
    apiKey: () => keyOf(target()),
    headers: liveHeaders(target),
  };
}

export function createProbers(deps: ProbersDependencies): Probers {
  const probers = new Map<string, { readonly madeFor: string; readonly prober: Prober }>();

  return {
    of(profile, facts, api) {
      const { name } = profile.profile;
      const madeFor = JSON.stringify([facts.model, facts.engine, api]);
      const known = probers.get(name);
      if (known?.madeFor === madeFor) return known.prober;
      // Nothing of this target is in flight while another probe of it begins.
      void known?.prober.close();
      const prober = deps.factories.createProber(
        {
          target: probeTarget(deps.target, facts, facts.model, api),
          profile: profile.profile,
          disturbedAfterSeconds: deps.disturbedAfterSeconds,
        },
        { clock: deps.clock, log: deps.log },
      );
      probers.set(name, { madeFor, prober });
      return prober;
    },
    async close() {
      await Promise.all([...probers.values()].map(({ prober }) => prober.close()));
      probers.clear();
    },
  };
}

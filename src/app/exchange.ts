import type { ScheduledProfile, TargetConfig } from '../config/types.ts';
import type { ApiName, ProbeOutcome } from '../probe/outcome.ts';
import { type ApiChoice, createApiChoice } from './api-choice.ts';
import type { EndpointFacts } from './endpoint-facts.ts';
import type { Probers } from './probers.ts';
import { refreshSecrets } from './secrets.ts';

/** An endpoint that can be probed. */
export interface ResolvedFacts extends EndpointFacts {
  readonly model: string;
}

/** How a target is asked: by which API, for which model, with which key. */
export interface Exchange {
  /** Null until model and API are known. */
  facts(): ResolvedFacts | null;
  api(): ApiName;
  follow(facts: EndpointFacts): void;
  /**
   * One probe; another one at once where the first only taught us how to ask (a rotated key, an API that the endpoint
   * does not have). Null when it was aborted.
   */
  probe(scheduled: ScheduledProfile, facts: ResolvedFacts, signal: AbortSignal): Promise<ProbeOutcome | null>;
}

export interface ExchangeDependencies {
  readonly target: () => TargetConfig;
  readonly probers: Probers;
  readonly traceparent: () => boolean;
  /** Model, engine or API are new or others than before. */
  readonly onResolved: (facts: ResolvedFacts, api: ApiName) => void;
}

const isResolved = (facts: EndpointFacts | null): facts is ResolvedFacts => facts !== null && facts.model !== null;

const isUnauthorized = (outcome: ProbeOutcome): boolean =>
  outcome.outcome === 'failed' && outcome.failure.reason === 'unauthorized';

function choiceOf(apis: readonly ApiName[]): ApiChoice {
  const [first = 'chat', ...others] = apis;
  return createApiChoice([first, ...others]);
}

export function createExchange(deps: ExchangeDependencies): Exchange {
  let facts: EndpointFacts | null = null;
  let choice = choiceOf([]);

  const tell = (): void => {
    if (isResolved(facts)) deps.onResolved(facts, choice.current);
  };

  return {
    facts: () => (isResolved(facts) ? facts : null),
    api: () => choice.current,
    follow(next) {
      if (!choice.proven && next.apis.join() !== facts?.apis.join()) choice = choiceOf(next.apis);
      facts = next;
      tell();
    },
    async probe(scheduled, known, signal) {
      let refreshed = false;
      for (;;) {
        const prober = deps.probers.of(scheduled, known, choice.current);
        const outcome = await prober.probe({ signal, traceparent: deps.traceparent() });
        if (outcome === null || signal.aborted) return null;
        if (isUnauthorized(outcome) && !refreshed) {
          refreshed = true;
          // The key may have been rotated since it was read.
          if (refreshSecrets(deps.target())) continue;
        }
        if (!choice.learn(outcome)) return outcome;
        tell();
      }
    },
  };
}

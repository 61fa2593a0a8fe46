import type { TargetConfig } from '../config/types.ts';
import type { Discovery, EngineName } from '../engine/types.ts';
import { API_NAMES, type ApiName } from '../probe/outcome.ts';

/** What is known of an endpoint, from the configuration and from asking. */
export interface EndpointFacts {
  /** Null: to be found, and not found yet. Nothing can be sent then. */
  readonly model: string | null;
  /** APIs to try, in order; one when it is configured. */
  readonly apis: readonly ApiName[];
  /** Null: not known. */
  readonly engine: EngineName | null;
  readonly version: string | null;
  readonly metricsUrl: URL | null;
  /** The endpoint has listed its models: it serves. */
  readonly listed: boolean;
}

/** In the order of likelihood, for an endpoint that tells nothing. */
const USUAL_APIS: readonly ApiName[] = ['chat', 'completions'];

const isApiName = (name: string): name is ApiName => (API_NAMES as readonly string[]).includes(name);

/** APIs of an engine that was recognised; an unknown one supports what it did before. */
function apisOf(found: Discovery | null, before: EndpointFacts | null): readonly ApiName[] {
  const apis = found === null || found.engine === 'unknown' ? [] : found.apis.filter(isApiName);
  return apis.length > 0 ? apis : (before?.apis ?? USUAL_APIS);
}

/** The configuration wins over what was found; what was found wins over what was found before it. */
export function combineFacts(
  target: TargetConfig,
  found: Discovery | null,
  before: EndpointFacts | null,
): EndpointFacts {
  const engine = target.engine === 'auto' ? (found?.engine ?? 'unknown') : target.engine;
  return {
    model: target.model === 'auto' ? (found?.models[0] ?? before?.model ?? null) : target.model,
    apis: target.api === 'auto' ? apisOf(found, before) : [target.api],
    engine: engine === 'unknown' ? (before?.engine ?? null) : engine,
    version: found?.version ?? before?.version ?? null,
    metricsUrl: target.metrics.metricsUrl ?? found?.metricsUrl ?? before?.metricsUrl ?? null,
    listed: (found?.models.length ?? 0) > 0 || before?.listed === true,
  };
}

export const sameFacts = (a: EndpointFacts | null, b: EndpointFacts): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

/** Anything that shows that somebody answered. */
export const isAnswer = (found: Discovery | null): boolean =>
  found !== null && (found.models.length > 0 || found.metricsUrl !== null || found.engine !== 'unknown');

import { keyOf, liveHeaders } from '../app/secrets.ts';
import type { ApiName } from '../probe/outcome.ts';
import type { ProbeProfile, ProbeTarget } from '../probe/profile.ts';
import type { LoadRequest, PreparedLoad } from './load-types.ts';
import type { UnitTarget } from './load-unit.ts';

/** The target of a run as the prober wants it. */
export function loadTarget({ request, facts }: Pick<PreparedLoad, 'request' | 'facts'>, api: ApiName): ProbeTarget {
  const { target } = request;
  return {
    name: target.name,
    url: target.url,
    model: facts.model,
    api,
    engine: facts.engine,
    apiKey: () => keyOf(target),
    headers: liveHeaders(() => target),
    connection: target.connection,
  };
}

/** The same as plain data: secrets are read now, once for the run. */
export function unitTarget(prepared: Pick<PreparedLoad, 'request' | 'facts'>, api: ApiName): UnitTarget {
  const { url, apiKey, headers, ...rest } = loadTarget(prepared, api);
  return { ...rest, url: url.href, apiKey: apiKey(), headers: { ...headers } };
}

/** Every request of a run is a probe with this profile; only its prompt differs. */
export function loadProfile(request: LoadRequest): ProbeProfile {
  return {
    name: 'load',
    prefix: request.prefix,
    connection: 'reuse',
    promptTokens: request.promptTokens,
    prompt: null,
    maxTokens: request.maxOutputTokens,
    // Answers of one length make runs comparable; who refuses to be asked for it is not asked twice.
    ignoreEos: !request.respectEos,
    temperature: 0,
    deadlines: request.deadlines,
    // What an answer says is not what a load run is about.
    expect: { minTokens: null, pattern: null, answer: null, detectDegenerate: false },
    extraBody: {},
  };
}

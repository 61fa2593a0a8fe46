import { sleep } from '../clock.ts';
import type { TargetConfig } from '../config/types.ts';
import type { Discovery, EngineName } from '../engine/types.ts';
import { API_NAMES, type ApiName } from '../probe/outcome.ts';
import { elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import type { Base, Factories } from './factories.ts';
import type { Limiter } from './limiter.ts';
import { keyOf, liveHeaders } from './secrets.ts';

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
  /** The endpoint listed its models: it serves. */
  readonly listed: boolean;
}

/** Finds out about one endpoint, again and again until it answers. */
export interface Endpoint {
  /** What is known now; null before the first attempt is over. */
  facts(): EndpointFacts | null;
  start(): void;
  /** Something learnt is in doubt (a model gone), or a first answer came: asks again, but not twice in half a minute. */
  doubt(): void;
  close(): Promise<void>;
}

export interface EndpointDependencies extends Base {
  readonly factories: Pick<Factories, 'discover'>;
  /** Bounds how many endpoints are asked at the same time. */
  readonly limiter: Limiter;
  /** The configuration of the target; a reload may replace it by an equal one with other secrets. */
  readonly target: () => TargetConfig;
  /** A probe was good: whatever is still unknown then will hardly be found by asking on. */
  readonly proven: () => boolean;
  /** Called after each attempt that changed something, and after the first. */
  readonly onFacts: (facts: EndpointFacts) => void;
}

const FIRST_RETRY = seconds(1);
const LONGEST_RETRY = seconds(30);
const REQUEST_TIMEOUT = seconds(3);
/** In the order of likelihood, for an endpoint that tells nothing. */
const USUAL_APIS: readonly ApiName[] = ['chat', 'completions'];

const isApiName = (name: string): name is ApiName => (API_NAMES as readonly string[]).includes(name);

/** The configuration wins over what was found; what was found wins over what was found before it. */
export function combineFacts(
  target: TargetConfig,
  found: Discovery | null,
  before: EndpointFacts | null,
): EndpointFacts {
  const engine = target.engine === 'auto' ? (found?.engine ?? 'unknown') : target.engine;
  const apis = found?.apis.filter(isApiName) ?? [];
  return {
    model: target.model === 'auto' ? (found?.models[0] ?? before?.model ?? null) : target.model,
    apis: target.api === 'auto' ? (apis.length > 0 ? apis : USUAL_APIS) : [target.api],
    engine: engine === 'unknown' ? (before?.engine ?? null) : engine,
    version: found?.version ?? before?.version ?? null,
    metricsUrl: target.metrics.metricsUrl ?? found?.metricsUrl ?? before?.metricsUrl ?? null,
    listed: (found?.models.length ?? 0) > 0,
  };
}

const sameFacts = (a: EndpointFacts | null, b: EndpointFacts): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Anything that shows that somebody answered. */
const answered = (found: Discovery | null): boolean =>
  found !== null && (found.models.length > 0 || found.metricsUrl !== null || found.engine !== 'unknown');

export function createEndpoint(deps: EndpointDependencies): Endpoint {
  const { clock, log, target } = deps;
  const closing = new AbortController();
  let facts: EndpointFacts | null = null;
  let running: Promise<void> = Promise.resolve();
  let wake: AbortController | null = null;
  let doubted = false;
  let warnedFor: string | null = null;
  let askedAt: MonotonicInstant | null = null;
  // Closing does not wait for an answer that may take seconds.
  const closed = new Promise<null>((resolve) => {
    closing.signal.addEventListener('abort', () => resolve(null), { once: true });
  });

  /** A model that is not listed may still be served under an alias, so this is a warning and no more; once. */
  const checkModel = (found: Discovery): void => {
    const { model } = target();
    if (model === 'auto' || found.models.length === 0 || found.models.includes(model) || warnedFor === model) return;
    warnedFor = model;
    log.warn({ model, listed: found.models.slice(0, 10) }, 'the configured model is not in the list of models');
  };

  const ask = async (): Promise<Discovery | null> => {
    const config = target();
    try {
      return await deps.factories.discover(
        {
          url: config.url,
          apiKey: () => keyOf(target()),
          headers: liveHeaders(target),
          engine: config.engine,
          metricsUrl: config.metrics.metricsUrl,
          timeoutSeconds: REQUEST_TIMEOUT,
          tls: config.connection,
        },
        { clock, log },
      );
    } catch (error) {
      // A secret or a certificate that cannot be read; the file may be there at the next attempt.
      log.warn({ error: error instanceof Error ? error.name : typeof error }, 'the endpoint could not be asked');
      return null;
    }
  };

  const attempt = async (): Promise<boolean> => {
    const proven = deps.proven();
    askedAt = clock.monotonic();
    const found = await Promise.race([deps.limiter.run(ask), closed]);
    if (closing.signal.aborted) return true;
    if (found !== null) checkModel(found);
    const next = combineFacts(target(), found, facts);
    const changed = !sameFacts(facts, next);
    facts = next;
    if (changed) deps.onFacts(next);
    return next.model !== null && (proven || answered(found));
  };

  /** Waits, unless somebody is in doubt already or becomes so meanwhile. */
  const pause = async (delay: Seconds): Promise<void> => {
    wake = new AbortController();
    const stop = (): void => wake?.abort();
    closing.signal.addEventListener('abort', stop, { once: true });
    if (!doubted) await sleep(clock, delay, wake.signal);
    closing.signal.removeEventListener('abort', stop);
    wake = null;
  };

  const run = async (): Promise<void> => {
    let delay: Seconds = FIRST_RETRY;
    while (!closing.signal.aborted) {
      doubted = false;
      if (await attempt()) return;
      await pause(delay);
      delay = seconds(Math.min(delay * 2, LONGEST_RETRY));
    }
  };

  const askedLately = (): boolean =>
    askedAt !== null && elapsed(askedAt, clock.monotonic()) < LONGEST_RETRY && facts?.model !== null;

  let active = false;
  const launch = (): void => {
    if (active || closing.signal.aborted) return;
    active = true;
    running = run().finally(() => {
      active = false;
    });
  };

  return {
    facts: () => facts,
    start: launch,
    doubt() {
      if (active) {
        doubted = true;
        wake?.abort();
      } else if (!askedLately()) launch();
    },
    async close() {
      closing.abort();
      wake?.abort();
      await running;
    },
  };
}

import { createAsk } from '../app/ask.ts';
import { combineFacts, type EndpointFacts } from '../app/endpoint-facts.ts';
import { createExchange } from '../app/exchange.ts';
import { FACTORIES } from '../app/factories.ts';
import { createLimiter } from '../app/limiter.ts';
import { createProbers } from '../app/probers.ts';
import { createSampling, type Sampling } from '../app/sampling.ts';
import { type Clock, sleep } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import type { EngineIdentity, FinishedProbe } from '../record.ts';
import { seconds } from '../units.ts';
import type { OncePlan } from './once-config.ts';
import { rehearse } from './rehearse.ts';

export interface OnceDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A single probe, and how it came about. */
export interface OnceResult {
  readonly finished: FinishedProbe;
  readonly findings: readonly string[];
  /** False: the endpoint lists no model and none was given, so a refusal says little. */
  readonly modelKnown: boolean;
}

// The evidence for a cause begins with a sample from before the probe; a page that takes longer is done without.
const FIRST_SAMPLE_WAIT = seconds(1.5);
const LOOK_EVERY = seconds(0.02);
/** Sent where no model is known: an endpoint that cannot be reached is found out about all the same. */
const NO_MODEL = 'unknown';

async function firstSample(
  sampling: Sampling,
  facts: EndpointFacts,
  { clock, signal }: OnceDependencies,
): Promise<void> {
  if (facts.metricsUrl === null) return;
  const until = clock.monotonic() + FIRST_SAMPLE_WAIT;
  while (sampling.view()?.lastPollAt === null && clock.monotonic() < until && !signal.aborted) {
    await sleep(clock, LOOK_EVERY, signal);
  }
}

function identity(facts: EndpointFacts, sampling: Sampling): EngineIdentity | null {
  const name = facts.engine ?? sampling.view()?.engine ?? 'unknown';
  return name === 'unknown' ? null : { name, version: facts.version };
}

/**
 * Asks the endpoint what it is, reads its metrics page if it has one, and probes it once, by the same parts that serve
 * probes with. Null when `signal` aborted.
 */
export async function runOnce(
  { config, target, profile }: OncePlan,
  deps: OnceDependencies,
): Promise<OnceResult | null> {
  const base = { ...deps, factories: FACTORIES, target: () => target };
  const found = await createAsk({ ...base, limiter: createLimiter(1) })(true, deps.signal);
  const facts = combineFacts(target, found, null);
  const resolved = { ...facts, model: facts.model ?? NO_MODEL };
  const sampling = createSampling(base);
  const probers = createProbers({ ...base, disturbedAfterSeconds: config.disturbedAfterSeconds });
  const exchange = createExchange({
    ...base,
    probers,
    traceparent: () => config.traceparent,
    onResolved: () => undefined,
  });
  try {
    sampling.follow(facts);
    sampling.start();
    exchange.follow(resolved);
    await rehearse(profile.profile, target.connection, deps);
    await firstSample(sampling, facts, deps);
    const outcome: ProbeOutcome | null = await exchange.probe(profile, resolved, deps.signal);
    if (outcome === null) return null;
    const diagnosis = await sampling.explain(outcome, deps.signal);
    const finished = { outcome, diagnosis, engine: identity(facts, sampling), warmup: false };
    return { finished, findings: found?.findings ?? [], modelKnown: facts.model !== null };
  } finally {
    await Promise.all([probers.close(), sampling.close()]);
  }
}

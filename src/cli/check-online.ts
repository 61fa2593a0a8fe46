import { createAsk } from '../app/ask.ts';
import { combineFacts } from '../app/endpoint-facts.ts';
import { FACTORIES } from '../app/factories.ts';
import { createLimiter } from '../app/limiter.ts';
import { keyOf, liveHeaders } from '../app/secrets.ts';
import type { Clock } from '../clock.ts';
import type { TargetConfig } from '../config/types.ts';
import type { Logger } from '../log.ts';

export interface OnlineDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** What an endpoint says of itself. */
export interface OnlineFacts {
  readonly findings: readonly string[];
  readonly warnings: readonly string[];
  /** Capacity of the KV cache in tokens, from the engine's own page. */
  readonly kvCapacityTokens: number | null;
}

async function kvCapacity(
  target: TargetConfig,
  engine: TargetConfig['engine'],
  metricsUrl: URL | null,
  deps: OnlineDependencies,
): Promise<number | null> {
  if (!target.metrics.enabled || metricsUrl === null) return null;
  const { metrics } = target;
  const poller = FACTORIES.createEnginePoller(
    {
      target: target.name,
      url: target.url,
      engine,
      metricsUrl,
      version: null,
      everySeconds: metrics.everySeconds,
      staleAfterSeconds: metrics.staleAfterSeconds,
      peakWindowSeconds: metrics.peakWindowSeconds,
      hangAfterSeconds: metrics.hangAfterSeconds,
      maxBytes: metrics.maxBytes,
      histograms: false,
      apiKey: () => keyOf(target),
      headers: liveHeaders(() => target),
      tls: target.connection,
    },
    deps,
  );
  try {
    await poller.pollNow();
    const capacities = poller
      .view()
      .series.map((series) => series.kvCapacityTokens)
      .filter((tokens) => tokens !== null);
    return capacities.length === 0 ? null : Math.min(...capacities);
  } finally {
    await poller.close();
  }
}

/** Asks an endpoint what it is, without making it generate a token, and compares that with the configuration. */
export async function askTarget(target: TargetConfig, deps: OnlineDependencies): Promise<OnlineFacts> {
  const ask = createAsk({ ...deps, factories: FACTORIES, limiter: createLimiter(1), target: () => target });
  const found = await ask(true, deps.signal);
  if (found === null) return { findings: ['could not be asked'], warnings: [], kvCapacityTokens: null };
  const facts = combineFacts(target, found, null);
  const warnings: string[] = [];
  if (target.model !== 'auto' && found.models.length > 0 && !found.models.includes(target.model)) {
    warnings.push(`model ${target.model} is not in the list of models: ${found.models.slice(0, 10).join(', ')}`);
  }
  if (facts.model === null) warnings.push('lists no model, and none is configured: set model');
  for (const { profile } of target.profiles) {
    const wanted = profile.promptTokens + profile.maxTokens;
    if (found.maxModelLength !== null && wanted > found.maxModelLength) {
      warnings.push(`profile ${profile.name} wants ${wanted} tokens, the model takes ${found.maxModelLength}`);
    }
  }
  const summary = `engine ${facts.engine ?? 'unknown'} ${facts.version ?? ''}, model ${facts.model ?? 'unknown'}, API ${facts.apis.join(' or ')}`;
  return {
    findings: [summary.replace(' ,', ','), ...found.findings],
    warnings,
    kvCapacityTokens: await kvCapacity(target, facts.engine ?? target.engine, facts.metricsUrl, deps),
  };
}

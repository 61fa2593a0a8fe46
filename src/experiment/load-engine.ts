import { keyOf, liveHeaders } from '../app/secrets.ts';
import { createEnginePoller } from '../engine/sampler.ts';
import type { MonotonicInstant } from '../units.ts';
import { type EngineWatch, watchEngine } from './engine-watch.ts';
import type { LoadDependencies, PreparedLoad } from './load-types.ts';
import type { EngineRecord } from './types.ts';

/** Starts to read the engine's page; null when that is not wanted or there is none. */
export function startEngineWatch(
  { request, facts }: PreparedLoad,
  origin: MonotonicInstant,
  record: (record: EngineRecord) => void,
  { clock, log }: Pick<LoadDependencies, 'clock' | 'log'>,
): EngineWatch | null {
  const { target } = request;
  if (!request.metrics || facts.metricsUrl === null) return null;
  const { everySeconds, staleAfterSeconds, peakWindowSeconds, hangAfterSeconds, maxBytes } = target.metrics;
  const poller = createEnginePoller(
    {
      target: target.name,
      url: target.url,
      engine: facts.engine ?? 'auto',
      metricsUrl: facts.metricsUrl,
      version: facts.version,
      everySeconds,
      staleAfterSeconds,
      peakWindowSeconds,
      hangAfterSeconds,
      maxBytes,
      histograms: true,
      apiKey: () => keyOf(target),
      headers: liveHeaders(() => target),
      tls: target.connection,
    },
    { clock, log },
  );
  return watchEngine(poller, origin, { clock, record });
}

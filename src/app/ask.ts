import type { TargetConfig } from '../config/types.ts';
import type { Discovery } from '../engine/types.ts';
import { seconds } from '../units.ts';
import type { Base, Factories } from './factories.ts';
import type { Limiter } from './limiter.ts';
import { keyOf, liveHeaders } from './secrets.ts';

export interface AskDependencies extends Base {
  readonly factories: Pick<Factories, 'discover'>;
  /** Bounds how many endpoints are asked at the same time. */
  readonly limiter: Limiter;
  /** The configuration of the target; a reload may replace it by an equal one with other secrets. */
  readonly target: () => TargetConfig;
}

/**
 * Asks an endpoint what it is. Never rejects. Null when it could not be asked, or `signal` aborted.
 *
 * @param urgent asked before those who only try again
 */
export type Ask = (urgent: boolean, signal: AbortSignal) => Promise<Discovery | null>;

const REQUEST_TIMEOUT = seconds(3);
/** A dozen requests that all time out must not hold up the endpoints that wait for their turn. */
const ATTEMPT_TIMEOUT = seconds(8);

export function createAsk(deps: AskDependencies): Ask {
  const { clock, log, target, limiter } = deps;

  const discover = async (signal: AbortSignal): Promise<Discovery | null> => {
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
          signal,
        },
        { clock, log },
      );
    } catch (error) {
      // A secret or a certificate that cannot be read; the file may be there at the next attempt.
      log.warn({ error: error instanceof Error ? error.name : typeof error }, 'the endpoint could not be asked');
      return null;
    }
  };

  /** Waits neither for an answer nor for its turn once `signal` aborts. */
  return (urgent, signal) =>
    new Promise((resolve) => {
      const controller = new AbortController();
      const stop = (): void => {
        controller.abort();
        resolve(null);
      };
      signal.addEventListener('abort', stop, { once: true });
      const work = async (): Promise<Discovery | null> => {
        if (controller.signal.aborted) return null;
        const timer = clock.setTimer(ATTEMPT_TIMEOUT, () => controller.abort());
        controller.signal.addEventListener('abort', timer.cancel, { once: true });
        try {
          return await discover(controller.signal);
        } finally {
          timer.cancel();
        }
      };
      void limiter.run(work, urgent).then((found) => {
        signal.removeEventListener('abort', stop);
        resolve(found);
      });
    });
}

import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import { elapsed, type MonotonicInstant } from '../units.ts';
import { errorCode } from './failure.ts';
import { type Connection, ConnectionGone } from './transport-connection.ts';
import type { ConnectionFacts, ExchangeSink, TransportFailure } from './transport-types.ts';

/** How a request on one connection can end, besides in its sink. */
export interface HandlerHooks {
  /** False once the exchange is over for its owner: then the sink must hear nothing more. */
  live(): boolean;
  ended(at: MonotonicInstant): void;
  failed(failure: Pick<TransportFailure, 'step' | 'error' | 'responseBytes' | 'closedByPeer'>): void;
  /** The kept-alive connection was closed. `sent`: the request had been written to it. */
  stale(sent: boolean): void;
}

// A server that had closed the connection answers our request with RST within a round trip. Later than this it was
// alive and has died over our request, and a repetition would hide that.
const STALE_WITHIN_SECONDS = 1;
const STALE_CODES: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED']);

/**
 * Load balancers say 408 on a connection that was idle for too long, just as they close it. Read as the answer to a
 * request that crossed it on the way, it would be a failure that no request has caused.
 */
const TOLD_TO_GO = 408;

const joined = (value: string | string[] | undefined): string =>
  Array.isArray(value) ? value.join(', ') : (value ?? '');

function lowerCase(headers: Record<string, string | string[] | undefined>): Readonly<Record<string, string>> {
  const lower: Record<string, string> = {};
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = joined(headers[name]);
  return lower;
}

/** undici's callbacks for one request on one connection, as calls to `sink` and `hooks`. */
export function createHandler(
  connection: Connection,
  { reused, retriedStale }: Pick<ConnectionFacts, 'reused' | 'retriedStale'>,
  sink: ExchangeSink,
  hooks: HandlerHooks,
  clock: Clock,
): Dispatcher.DispatchHandler {
  const { socket, phases, certificateExpiresAt } = connection.opened;
  let startedAt: MonotonicInstant | null = null;
  let bytesBefore = 0;
  let step: 'request' | 'response' = 'request';
  /** Given up for another connection: what this one still says is for nobody. */
  let left = false;
  const live = (): boolean => !left && hooks.live();

  const retryable = (): boolean => startedAt !== null && elapsed(startedAt, clock.monotonic()) <= STALE_WITHIN_SECONDS;
  const isStale = (error: unknown, responseBytes: number): boolean => {
    if (!reused) return false;
    if (error instanceof ConnectionGone) return true;
    return responseBytes === 0 && STALE_CODES.has(errorCode(error) ?? '') && retryable();
  };
  const written = (): void => {
    if (live()) sink.requestWritten(clock.monotonic());
  };

  return {
    onRequestStart() {
      startedAt = clock.monotonic();
      bytesBefore = socket.bytesRead;
      const own = reused ? { dns: null, tcp: null, tls: null } : phases;
      sink.requestStarted(startedAt, { reused, retriedStale, phases: own, certificateExpiresAt });
      // undici writes right after this call; when the kernel does not take all of it, `drain` tells the end.
      process.nextTick(() => (socket.writableLength === 0 ? written() : socket.once('drain', written)));
    },
    onResponseStart(_, status, headers) {
      const at = clock.monotonic();
      // 103 and its like come before the response.
      if (!live() || status < 200) return;
      if (reused && status === TOLD_TO_GO && retryable()) {
        left = true;
        hooks.stale(true);
        return;
      }
      step = 'response';
      sink.headers(at, status, lowerCase(headers));
    },
    onResponseData(_, bytes) {
      const at = clock.monotonic();
      if (live()) sink.data(at, bytes);
    },
    onResponseEnd() {
      if (!left) hooks.ended(clock.monotonic());
    },
    onResponseError(_, error) {
      if (left) return;
      const responseBytes = startedAt === null ? 0 : socket.bytesRead - bytesBefore;
      if (isStale(error, responseBytes)) hooks.stale(startedAt !== null);
      else hooks.failed({ step, error, responseBytes, closedByPeer: socket.readableEnded });
    },
  };
}

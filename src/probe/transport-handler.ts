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

/** How this request came to this connection. */
type ConnectionKind = Pick<ConnectionFacts, 'reused' | 'retriedStale'>;

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

function lowerCase(headers: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> {
  const lower: Record<string, string> = {};
  for (const name of Object.keys(headers)) lower[name.toLowerCase()] = joined(headers[name]);
  return lower;
}

/** A class, as each event of an answer passes through it: what it holds is found in one place. */
class Handler implements Dispatcher.DispatchHandler {
  private readonly opened: Connection['opened'];
  private readonly kind: ConnectionKind;
  private readonly sink: ExchangeSink;
  private readonly hooks: HandlerHooks;
  private readonly clock: Clock;
  private startedAt: MonotonicInstant | null = null;
  private bytesBefore = 0;
  private step: 'request' | 'response' = 'request';
  /** Given up for another connection: what this one still says is for nobody. */
  private left = false;

  constructor(
    opened: Connection['opened'],
    kind: ConnectionKind,
    sink: ExchangeSink,
    hooks: HandlerHooks,
    clock: Clock,
  ) {
    this.opened = opened;
    this.kind = kind;
    this.sink = sink;
    this.hooks = hooks;
    this.clock = clock;
  }

  onRequestStart(): void {
    const { socket, phases, certificateExpiresAt } = this.opened;
    const { reused, retriedStale } = this.kind;
    const startedAt = this.clock.monotonic();
    this.startedAt = startedAt;
    this.bytesBefore = socket.bytesRead;
    const own = reused ? { dns: null, tcp: null, tls: null } : phases;
    this.sink.requestStarted(startedAt, { reused, retriedStale, phases: own, certificateExpiresAt });
    const written = (): void => {
      if (this.live()) this.sink.requestWritten(this.clock.monotonic());
    };
    // undici writes right after this call; when the kernel does not take all of it, `drain` tells the end.
    process.nextTick(() => (socket.writableLength === 0 ? written() : socket.once('drain', written)));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const at = this.clock.monotonic();
    // 103 and its like come before the response.
    if (!this.live() || status < 200) return;
    if (this.kind.reused && status === TOLD_TO_GO && this.retryable()) {
      this.left = true;
      this.hooks.stale(true);
      return;
    }
    this.step = 'response';
    this.sink.headers(at, status, lowerCase(headers));
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    const at = this.clock.monotonic();
    if (this.live()) this.sink.data(at, bytes);
  }

  onResponseEnd(): void {
    if (!this.left) this.hooks.ended(this.clock.monotonic());
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.left) return;
    const { socket } = this.opened;
    const responseBytes = this.startedAt === null ? 0 : socket.bytesRead - this.bytesBefore;
    if (this.isStale(error, responseBytes)) this.hooks.stale(this.startedAt !== null);
    else this.hooks.failed({ step: this.step, error, responseBytes, closedByPeer: socket.readableEnded });
  }

  private live(): boolean {
    return !this.left && this.hooks.live();
  }

  private retryable(): boolean {
    return this.startedAt !== null && elapsed(this.startedAt, this.clock.monotonic()) <= STALE_WITHIN_SECONDS;
  }

  private isStale(error: unknown, responseBytes: number): boolean {
    if (!this.kind.reused) return false;
    if (error instanceof ConnectionGone) return true;
    return responseBytes === 0 && STALE_CODES.has(errorCode(error) ?? '') && this.retryable();
  }
}

/** undici's callbacks for one request on one connection, as calls to `sink` and `hooks`. */
export const createHandler = (
  { opened }: Connection,
  kind: ConnectionKind,
  sink: ExchangeSink,
  hooks: HandlerHooks,
  clock: Clock,
): Dispatcher.DispatchHandler => new Handler(opened, kind, sink, hooks, clock);

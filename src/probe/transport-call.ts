import type { Clock } from '../clock.ts';
import type { MonotonicInstant } from '../units.ts';
import { ConnectError } from './transport-address.ts';
import type { Opened } from './transport-connect.ts';
import { type Connection, createConnection } from './transport-connection.ts';
import { createHandler, type HandlerHooks } from './transport-handler.ts';
import type { IdleConnections } from './transport-idle.ts';
import { CertificateRefused } from './transport-tls.ts';
import type { Call, ConnectionFacts, ExchangeSink, TransportFailure, TransportRequest } from './transport-types.ts';

export interface CallDependencies {
  readonly clock: Clock;
  /** Null: a connection of its own for this request, closed after it. */
  readonly idle: IdleConnections | null;
  open(url: URL, reached: ExchangeSink['reached'], signal: AbortSignal): Promise<Opened>;
  /** Called once when the call is over, however it ended. */
  over(call: Call): void;
}

const NOTHING_YET: Omit<TransportFailure, 'step' | 'error'> = {
  setting: null,
  attempts: [],
  proxyStatus: null,
  responseBytes: 0,
  closedByPeer: false,
  certificateExpiresAt: null,
};

/** A class, as each event of an answer asks it whether it is still wanted. */
class RunningCall implements Call, HandlerHooks {
  private readonly request: TransportRequest;
  private readonly sink: ExchangeSink;
  private readonly dependencies: CallDependencies;
  // Made for a new connection only: a controller costs more than the rest of this together.
  private setUp: AbortController | null = null;
  private connection: Connection | null = null;
  private over = false;

  constructor(request: TransportRequest, sink: ExchangeSink, dependencies: CallDependencies) {
    this.request = request;
    this.sink = sink;
    this.dependencies = dependencies;
  }

  start(): void {
    const kept = this.dependencies.idle?.take() ?? null;
    if (kept === null) void this.open(false);
    else this.use(kept, { reused: true, retriedStale: false });
  }

  abort(): void {
    if (!this.finish()) return;
    this.setUp?.abort();
    this.connection?.destroy();
  }

  live(): boolean {
    return !this.over;
  }

  ended(at: MonotonicInstant): void {
    if (!this.finish()) return;
    const { idle } = this.dependencies;
    if (idle === null) this.connection?.destroy();
    else if (this.connection !== null) idle.put(this.connection);
    this.sink.ended(at);
  }

  failed(failure: Partial<TransportFailure> & Pick<TransportFailure, 'step' | 'error'>): void {
    if (!this.finish()) return;
    const certificateExpiresAt = this.connection?.opened.certificateExpiresAt ?? null;
    this.connection?.destroy();
    this.sink.failed(this.dependencies.clock.monotonic(), { ...NOTHING_YET, certificateExpiresAt, ...failure });
  }

  stale(sent: boolean): void {
    this.connection?.destroy();
    if (!this.over) void this.open(sent);
  }

  /** False when it was over before. */
  private finish(): boolean {
    if (this.over) return false;
    this.over = true;
    this.dependencies.over(this);
    return true;
  }

  private use(connection: Connection, kind: Pick<ConnectionFacts, 'reused' | 'retriedStale'>): void {
    const { clock, idle } = this.dependencies;
    this.connection = connection;
    connection.dispatch(this.request, createHandler(connection, kind, this.sink, this, clock), { last: idle === null });
  }

  private async open(retriedStale: boolean): Promise<void> {
    const { clock, open } = this.dependencies;
    const { url } = this.request;
    this.connection = null;
    const controller = new AbortController();
    this.setUp = controller;
    this.sink.connecting(clock.monotonic());
    const reached: ExchangeSink['reached'] = (step, address) => {
      if (!this.over) this.sink.reached(step, address);
    };
    try {
      const opened = await open(url, reached, controller.signal);
      const fresh = createConnection(url.origin, opened, clock.monotonic());
      if (this.over) fresh.destroy();
      else this.use(fresh, { reused: false, retriedStale });
    } catch (error) {
      this.failToConnect(error);
    }
  }

  private failToConnect(error: unknown): void {
    if (error instanceof ConnectError) {
      const { step, setting, attempts, proxyStatus, cause } = error;
      const certificateExpiresAt = error instanceof CertificateRefused ? error.certificateExpiresAt : null;
      this.failed({ step, error: cause, setting, attempts, proxyStatus, certificateExpiresAt });
    } else {
      this.failed({ step: 'configuration', error });
    }
  }
}

/** One request: on a kept-alive connection if there is one, else on a new one; repeated only when that was stale. */
export function startCall(request: TransportRequest, sink: ExchangeSink, dependencies: CallDependencies): Call {
  const call = new RunningCall(request, sink, dependencies);
  call.start();
  return call;
}

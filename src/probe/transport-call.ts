import type { Clock } from '../clock.ts';
import { ConnectError } from './transport-address.ts';
import type { Opened } from './transport-connect.ts';
import { type Connection, createConnection } from './transport-connection.ts';
import { createHandler } from './transport-handler.ts';
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

/** One request: on a kept-alive connection if there is one, else on a new one; repeated only when that was stale. */
export function startCall(request: TransportRequest, sink: ExchangeSink, dependencies: CallDependencies): Call {
  const { clock, idle } = dependencies;
  // Made for a new connection only: a controller costs more than the rest of this together.
  let setUp: AbortController | null = null;
  let connection: Connection | null = null;
  let over = false;

  const finish = (tell: () => void): void => {
    if (over) return;
    over = true;
    dependencies.over(call);
    tell();
  };
  const call: Call = {
    abort: () =>
      finish(() => {
        setUp?.abort();
        connection?.destroy();
      }),
  };
  const fail = (failure: Partial<TransportFailure> & Pick<TransportFailure, 'step' | 'error'>): void =>
    finish(() => {
      const certificateExpiresAt = connection?.opened.certificateExpiresAt ?? null;
      connection?.destroy();
      sink.failed(clock.monotonic(), { ...NOTHING_YET, certificateExpiresAt, ...failure });
    });
  const failToConnect = (error: unknown): void => {
    if (error instanceof ConnectError) {
      const { step, setting, attempts, proxyStatus, cause } = error;
      const certificateExpiresAt = error instanceof CertificateRefused ? error.certificateExpiresAt : null;
      fail({ step, error: cause, setting, attempts, proxyStatus, certificateExpiresAt });
    } else {
      fail({ step: 'configuration', error });
    }
  };

  const reached: ExchangeSink['reached'] = (step, address) => {
    if (!over) sink.reached(step, address);
  };

  const use = (chosen: Connection, facts: Pick<ConnectionFacts, 'reused' | 'retriedStale'>): void => {
    connection = chosen;
    const handler = createHandler(
      chosen,
      facts,
      sink,
      {
        live: () => !over,
        ended: (at) =>
          finish(() => {
            if (idle === null) chosen.destroy();
            else idle.put(chosen);
            sink.ended(at);
          }),
        failed: fail,
        stale: (sent) => {
          chosen.destroy();
          if (!over) void open(sent);
        },
      },
      clock,
    );
    chosen.dispatch(request, handler, { last: idle === null });
  };

  const open = async (retriedStale: boolean): Promise<void> => {
    connection = null;
    const controller = new AbortController();
    setUp = controller;
    sink.connecting(clock.monotonic());
    try {
      const opened = await dependencies.open(request.url, reached, controller.signal);
      const fresh = createConnection(request.url.origin, opened, clock.monotonic());
      if (over) fresh.destroy();
      else use(fresh, { reused: false, retriedStale });
    } catch (error) {
      failToConnect(error);
    }
  };

  const kept = idle?.take() ?? null;
  if (kept === null) void open(false);
  else use(kept, { reused: true, retriedStale: false });
  return call;
}

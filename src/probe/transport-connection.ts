import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { MonotonicInstant } from '../units.ts';
import type { Opened } from './transport-connect.ts';
import type { TransportRequest } from './transport-types.ts';

/** The kept-alive socket turned out to be closed before the request was written: nothing was sent. */
export class ConnectionGone extends Error {
  readonly code = 'CONNECTION_GONE';
}

/** One socket with HTTP/1.1 on it. It never connects anew: a lost connection stays lost. */
export interface Connection {
  readonly opened: Opened;
  readonly openedAt: MonotonicInstant;
  /** False when the socket is known to be closed. True proves nothing: the server's FIN may be on its way. */
  usable(): boolean;
  dispatch(request: TransportRequest, handler: Dispatcher.DispatchHandler, options: { last: boolean }): void;
  /** Closes the socket at once, whatever is in flight. Safe to call at any time, from a handler too. */
  destroy(): void;
}

// As Node's own server: nobody needs more, and an endless header cannot grow for ever.
const MAX_HEADER_BYTES = 16 * 1024;
// The server decides when an idle connection ends. Without this undici would close it after 4 s, and every probe at a
// longer interval would silently be a fresh one.
const KEEP_ALIVE_MS = 24 * 3600 * 1000;

export function createConnection(origin: string, opened: Opened, openedAt: MonotonicInstant): Connection {
  const { socket } = opened;
  let handedOver = false;
  const hand = (callback: buildConnector.Callback): void => {
    if (handedOver) return void callback(new ConnectionGone('the kept-alive connection was closed'), null);
    handedOver = true;
    callback(null, socket);
  };
  const client = new Client(origin, {
    // Not within the call: undici takes a connection only from a later turn.
    connect: (_, callback) => queueMicrotask(() => hand(callback)),
    allowH2: false,
    pipelining: 1,
    // Every deadline is our own: those of undici tick in half seconds and count bytes, not tokens.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    keepAliveTimeoutThreshold: 1000,
  });
  const destroy = (): void => {
    socket.destroy();
    if (!client.destroyed) void client.destroy();
  };
  socket.once('close', destroy);

  return {
    opened,
    openedAt,
    usable: () => !socket.destroyed && !client.destroyed,
    dispatch({ url, headers, body }, handler, { last }) {
      const path = `${url.pathname}${url.search}`;
      const { proxyHeaders } = opened;
      client.dispatch(
        {
          method: 'POST',
          path: proxyHeaders === null ? path : `${url.origin}${path}`,
          headers: proxyHeaders === null ? headers : { ...headers, ...proxyHeaders },
          body,
          reset: last,
        },
        handler,
      );
    },
    destroy,
  };
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { ProbeExporterError } from '../errors.ts';
import { type Seconds, seconds } from '../units.ts';
import type { WebAccess } from './access.ts';
import { parseListenAddress } from './address.ts';
import { discardBody, errorHandler, notFound } from './guards.ts';
import { securityHeaders } from './headers.ts';
import { createEngineHistory, type EngineHistory } from './history.ts';
import { createRoutes, type RouteDependencies, type RouteOptions } from './routes.ts';

export interface HttpServer {
  /** Listens. Throws LISTEN_FAILED when the address cannot be had and CONFIG_INVALID for a bad web configuration. */
  start(): Promise<void>;
  /** Takes no new connection, lets running requests finish for `grace` (2 s), then cuts them off. */
  close(grace?: Seconds): Promise<void>;
  /** Where it listens; null while it does not. */
  address(): AddressInfo | null;
}

export type HttpServerOptions = RouteOptions;
export interface HttpServerDependencies extends RouteDependencies {
  /** Defaults to one that follows `views`. */
  readonly history?: EngineHistory;
}

const CLOSE_GRACE = seconds(2);
const LIMITS = {
  maxHeaderSize: 8 * 1024,
  /** A client that trickles its headers holds nothing up but itself, and not for long. */
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  /** Longer than the usual scrape interval, so that a scraper keeps its connection. */
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
} as const;
const MOST_CONNECTIONS = 512;

async function listen(server: Server, listenAddress: string): Promise<void> {
  const { host, port } = parseListenAddress(listenAddress);
  server.listen({ port, ...(host === undefined ? {} : { host }) });
  try {
    await once(server, 'listening');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ProbeExporterError(
      'LISTEN_FAILED',
      `cannot listen on "${listenAddress}" (${code}); choose another with --web.listen-address`,
      { cause },
    );
  }
}

async function shut(server: Server, deps: Pick<RouteDependencies, 'clock'>, grace: Seconds): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = deps.clock.setTimer(grace, () => server.closeAllConnections());
  // A kept-alive connection whose request was running when we closed becomes idle later, and would stay.
  const idle = deps.clock.setTimer(seconds(grace / 4), () => server.closeIdleConnections());
  await closed;
  timer.cancel();
  idle.cancel();
}

const OPEN_TO_ALL: WebAccess = {
  headers: () => ({}),
  guards: [],
  createServer: (limits, listener) => createServer(limits, listener),
  start: () => {},
  close: async () => {},
};

/** The rules of `--web.config.file`; what they need is loaded only where there is such a file. */
async function accessOf(options: HttpServerOptions, deps: HttpServerDependencies): Promise<WebAccess> {
  const { webConfigFile } = options.web;
  if (webConfigFile === null) return OPEN_TO_ALL;
  const { openWebAccess } = await import('./web-access.ts');
  return openWebAccess(webConfigFile, deps);
}

function createApp(
  options: HttpServerOptions,
  deps: HttpServerDependencies & { history: EngineHistory },
  access: WebAccess,
) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', 'simple');
  app.use(securityHeaders(access.headers));
  app.use(discardBody);
  for (const guard of access.guards) app.use(guard);
  app.use(createRoutes(options, deps));
  app.use(notFound);
  app.use(errorHandler(deps.log));
  return app;
}

/**
 * The exporter's own web server: the page, the metrics, the probes, health and the few actions. Nothing listens before
 * `start`.
 */
export function createHttpServer(options: HttpServerOptions, deps: HttpServerDependencies): HttpServer {
  const history = deps.history ?? createEngineHistory({ clock: deps.clock, views: deps.views });
  let running: { readonly server: Server; readonly access: WebAccess } | null = null;
  return {
    async start() {
      const access = await accessOf(options, deps);
      const server = access.createServer(LIMITS, createApp(options, { ...deps, history }, access));
      server.maxConnections = MOST_CONNECTIONS;
      await listen(server, options.web.listenAddress);
      running = { server, access };
      history.start();
      access.start();
    },
    async close(grace = CLOSE_GRACE) {
      history.close();
      if (running === null) return;
      const { server, access } = running;
      running = null;
      await shut(server, deps, grace);
      await access.close();
    },
    address: () => (running?.server.address() as AddressInfo | null | undefined) ?? null,
  };
}

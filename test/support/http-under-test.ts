import { request } from 'node:http';
import { systemClock } from '../../src/clock.ts';
import type { WebSettings } from '../../src/config/types.ts';
import { createRecentProbes } from '../../src/http/recent.ts';
import { createHttpServer, type HttpServer, type HttpServerDependencies } from '../../src/http/server.ts';
import { silentLogger } from '../../src/log.ts';
import { sampleConfig } from './sample-config.ts';

/** What a server needs, all of it harmless; tests put their own in. */
export function httpDependencies(overrides: Partial<HttpServerDependencies> = {}): HttpServerDependencies {
  return {
    metrics: {
      render: async (accept) => ({
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        body: `accept ${accept}\n`,
      }),
    },
    recent: createRecentProbes({ successes: 20, failures: 20 }),
    targets: () => sampleConfig().targets,
    views: () => [],
    isPaused: () => false,
    configText: () => 'targets: []\n',
    ready: () => ({ ready: true, reason: 'ready' }),
    actions: {},
    log: silentLogger(),
    clock: systemClock(),
    ...overrides,
  };
}

export interface RunningServer extends AsyncDisposable {
  readonly server: HttpServer;
  readonly port: number;
  readonly url: string;
}

/** A server that listens on loopback until the test's block is left. */
export async function runServer(
  overrides: Partial<HttpServerDependencies> = {},
  web: Partial<WebSettings> = {},
): Promise<RunningServer> {
  const server = createHttpServer(
    { web: { ...sampleConfig().web, ...web }, version: '1.2.3' },
    httpDependencies(overrides),
  );
  await server.start();
  const port = server.address()?.port ?? 0;
  return { server, port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => server.close() };
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request exactly as written: unlike fetch it sends any path, method and header. */
export function ask(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

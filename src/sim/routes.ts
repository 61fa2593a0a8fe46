import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { ApiFailure } from './api-request.ts';
import { parseFault } from './fault-parse.ts';
import type { SimFault } from './fault-types.ts';
import { createGenerator, type GeneratorDeps } from './generate.ts';
import { createHttpTally, type HttpTally } from './http-tally.ts';
import type { SimLoad } from './load.ts';
import type { SimulatorOptions } from './options.ts';
import { renderEnginePage } from './page.ts';
import { readJson, send, sendFailure, sendJson } from './respond.ts';

export interface RouteDeps extends GeneratorDeps {
  readonly log: Logger;
  readonly load: SimLoad;
  raise(fault: SimFault): void;
}

export interface Routes {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** The HTTP side's own counters start at 0: a new process. */
  clear(): void;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
type Table = Readonly<Record<string, Readonly<Record<string, Handler>>>>;

const METRICS_TYPE = 'text/plain; version=1.0.0; charset=utf-8';
// vLLM leaves these out of its own count of requests.
const UNCOUNTED: ReadonlySet<string> = new Set(['/metrics', '/health', '/ping', '/version', '/load']);

function modelList(options: SimulatorOptions, created: number): unknown {
  const model = {
    id: options.model,
    object: 'model',
    created,
    owned_by: 'vllm',
    root: options.model,
    parent: null,
    max_model_len: options.engine.maxModelLen,
    permission: [],
  };
  return { object: 'list', data: [model] };
}

function metricsPage(options: SimulatorOptions, deps: RouteDeps, rejections: number, tally: HttpTally): string {
  const { user, system } = process.cpuUsage();
  return renderEnginePage({
    model: options.model,
    options: options.engine,
    state: deps.engine.state(),
    statistics: deps.engine.statistics(),
    admissionRejections: rejections,
    httpRequests: tally.read(),
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
  });
}

async function takeFault(request: IncomingMessage, response: ServerResponse, raise: RouteDeps['raise']): Promise<void> {
  const wanted = parseFault(await readJson(request));
  // A restart takes this connection with it, so it has to wait until the answer has left.
  if (wanted.kind === 'restart') response.once('finish', () => raise(wanted));
  else raise(wanted);
  sendJson(response, 202, { fault: wanted });
}

export function createRoutes(options: SimulatorOptions, deps: RouteDeps): Routes {
  const { engine, faults, load, log } = deps;
  const tally = createHttpTally();
  const generator = createGenerator(options, deps);
  const servedSince = Math.floor(deps.clock.unix());

  const empty: Handler = (_, response) => send(response, 200, 'text/plain', '');
  const json = (value: () => unknown): Readonly<Record<string, Handler>> => ({
    GET: (_, response) => sendJson(response, 200, value()),
  });
  const table: Table = {
    '/health': { GET: empty },
    '/ping': { GET: empty, POST: empty },
    '/version': json(() => ({ version: options.version })),
    // vLLM says 0 here unless it was told to track its load.
    '/load': json(() => ({ server_load: 0 })),
    '/metrics': {
      GET: (_, response) =>
        send(response, 200, METRICS_TYPE, metricsPage(options, deps, generator.rejections(), tally)),
    },
    '/v1/models': json(() => modelList(options, servedSince)),
    '/v1/completions': { POST: (request, response) => generator.generate('completions', request, response) },
    '/v1/chat/completions': { POST: (request, response) => generator.generate('chat', request, response) },
    '/sim/state': json(() => ({
      engine: engine.state(),
      load: load.state(),
      faults: faults.active(),
      options: options.engine,
    })),
    '/sim/fault': { POST: (request, response) => takeFault(request, response, deps.raise) },
  };

  const authorized = (path: string, request: IncomingMessage): boolean =>
    options.apiKey === null || !path.startsWith('/v1') || request.headers.authorization === `Bearer ${options.apiKey}`;

  const fail = (response: ServerResponse, error: unknown): void => {
    if (response.destroyed || response.headersSent) response.destroy();
    else if (error instanceof ApiFailure) sendFailure(response, error);
    else if (error instanceof ProbeExporterError && error.code === 'USAGE') {
      sendJson(response, 400, { detail: error.message });
    } else {
      log.error({ error: String(error) }, 'the simulator could not answer a request');
      sendJson(response, 500, { detail: 'Internal Server Error' });
    }
  };

  const dispatch = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const handlers = Object.hasOwn(table, path) ? table[path] : undefined;
    const method = request.method ?? 'GET';
    if (!path.startsWith('/sim/') && !UNCOUNTED.has(path)) {
      tally.watch(handlers === undefined ? 'none' : path, method, response);
    }
    if (handlers === undefined) {
      sendJson(response, 404, { detail: 'Not Found' });
      return;
    }
    const handler = handlers[method === 'HEAD' ? 'GET' : method];
    if (handler === undefined) {
      response.setHeader('allow', Object.keys(handlers).join(', '));
      sendJson(response, 405, { detail: 'Method Not Allowed' });
    } else if (authorized(path, request)) await handler(request, response);
    else sendJson(response, 401, { error: 'Unauthorized' });
  };

  return {
    handle(request, response) {
      const path = (request.url ?? '/').split('?')[0] ?? '/';
      dispatch(path, request, response).catch((error: unknown) => fail(response, error));
    },
    clear() {
      tally.clear();
      generator.clear();
    },
  };
}

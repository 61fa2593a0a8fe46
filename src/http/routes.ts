import { Router } from 'express';
import type { Clock } from '../clock.ts';
import type { ReloadOutcome } from '../config/reload.ts';
import type { WebSettings } from '../config/types.ts';
import type { Logger } from '../log.ts';
import { toRecord } from '../record.ts';
import { methodNotAllowed, sameOriginOnly } from './guards.ts';
import { sendJson, sendText } from './headers.ts';
import { type LiveSources, liveJson } from './live.ts';
import { PAGE_FILES, type PageFile, readPageFile } from './page/assets.ts';
import { type MetricsPage, sendPage } from './send-page.ts';

/** Whether the process can do its work, with the reason when it cannot. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
}

export interface HttpActions {
  readonly reload?: () => Promise<ReloadOutcome>;
  /** `target` null: all of them. Both answer whether there is such a target. */
  readonly pause?: (target: string | null) => boolean;
  readonly resume?: (target: string | null) => boolean;
}

export interface RouteDependencies extends Omit<LiveSources, 'history'> {
  readonly metrics: { render(accept: string): Promise<MetricsPage> };
  /** The configuration in force as YAML, secrets masked. */
  readonly configText: () => string;
  readonly ready: () => Readiness;
  readonly actions: HttpActions;
  readonly log: Logger;
  readonly clock: Clock;
}

export interface RouteOptions {
  readonly web: WebSettings;
  readonly version: string;
}

const GET = 'GET, HEAD';
const literal = (path: string): RegExp => new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number => {
  const parsed = Number(text(value) ?? 0);
  return Number.isFinite(parsed) ? parsed : 0;
};

function addPage(router: Router): void {
  const files = new Map<string, string>();
  const load = (name: PageFile): string => {
    const found = files.get(name) ?? readPageFile(name);
    files.set(name, found);
    return found;
  };
  const serve = (path: string, name: PageFile): void => {
    router
      .route(literal(path))
      .get((_request, response) => {
        response.setHeader('Content-Type', PAGE_FILES[name]);
        response.end(load(name));
      })
      .all(methodNotAllowed(GET));
  };
  serve('/', 'index.html');
  for (const name of Object.keys(PAGE_FILES) as PageFile[]) {
    if (name !== 'index.html') serve(`/assets/${name}`, name);
  }
}

function addProbes(router: Router, deps: RouteDependencies): void {
  router
    .route('/probes')
    .get((request, response) => {
      const outcome = text(request.query.outcome);
      if (outcome !== undefined && outcome !== 'good' && outcome !== 'failed') {
        return sendText(response, 400, 'outcome must be good or failed');
      }
      const { target, profile } = request.query;
      const found = deps.recent.list({ target: text(target), profile: text(profile), outcome });
      // The timeline is long; it is in the record of the single probe.
      sendJson(
        response,
        200,
        found.map((finished) => ({ ...toRecord(finished), timeline: undefined })),
      );
    })
    .all(methodNotAllowed(GET));
  router
    .route('/probes/:id')
    .get((request, response) => {
      const finished = deps.recent.get(request.params.id);
      if (finished === undefined) return sendText(response, 404, 'no such probe, or it is not kept any more');
      sendJson(response, 200, toRecord(finished));
    })
    .all(methodNotAllowed(GET));
}

function addHealth(router: Router, deps: RouteDependencies): void {
  router
    .route('/-/healthy')
    // That this line runs is the answer: the event loop turns. What the targets do is in the metrics.
    .get((_request, response) => sendText(response, 200, 'healthy'))
    .all(methodNotAllowed(GET));
  router
    .route('/-/ready')
    .get((_request, response) => {
      const { ready, reason } = deps.ready();
      sendText(response, ready ? 200 : 503, reason);
    })
    .all(methodNotAllowed(GET));
}

function addActions(router: Router, options: RouteOptions, deps: RouteDependencies): void {
  const { reload, pause, resume } = deps.actions;
  router
    .route('/-/reload')
    .post(sameOriginOnly, async (_request, response) => {
      if (!options.web.enableReload || reload === undefined) return sendText(response, 403, 'reloading is not enabled');
      const outcome = await reload();
      sendText(response, outcome.ok ? 200 : 500, outcome.ok ? 'configuration reloaded' : outcome.message);
    })
    .all(methodNotAllowed('POST'));
  for (const [path, act] of [
    ['/-/pause', pause],
    ['/-/resume', resume],
  ] as const) {
    router
      .route(path)
      .post(sameOriginOnly, (request, response) => {
        if (!options.web.enablePause || act === undefined) return sendText(response, 403, 'pausing is not enabled');
        const target = text(request.query.target) ?? null;
        if (!act(target)) return sendText(response, 404, 'no such target');
        sendText(response, 200, `${path === '/-/pause' ? 'paused' : 'resumed'} ${target ?? 'all targets'}`);
      })
      .all(methodNotAllowed('POST'));
  }
}

/** Everything that the exporter serves. */
export function createRoutes(options: RouteOptions, deps: RouteDependencies & Pick<LiveSources, 'history'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  // Another run of the program has other orders of probes; the page starts afresh when this changes.
  const run = String(deps.clock.unix());
  router
    .route(literal(options.web.telemetryPath))
    .get(async (request, response) => sendPage(response, await deps.metrics.render(request.headers.accept ?? '')))
    .all(methodNotAllowed(GET));
  addPage(router);
  addProbes(router, deps);
  addHealth(router, deps);
  addActions(router, options, deps);
  router
    .route('/config')
    .get((_request, response) => {
      response.setHeader('Content-Type', 'text/yaml; charset=utf-8');
      response.end(deps.configText());
    })
    .all(methodNotAllowed(GET));
  router
    .route('/api/live')
    .get((request, response) => {
      const { target, order, at } = request.query;
      const live = liveJson(deps, {
        target: text(target) ?? null,
        cursor: { order: number(order), at: number(at) },
        now: deps.clock.unix(),
      });
      sendJson(response, 200, { run, version: options.version, telemetryPath: options.web.telemetryPath, ...live });
    })
    .all(methodNotAllowed(GET));
  return router;
}

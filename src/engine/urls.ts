import type { Dialect } from './dialects/dialect.ts';

/** The base URL without a trailing slash and without the `/v1` that many people put there. No query, no fragment. */
export function baseUrl(url: URL): URL {
  const base = new URL(url.href);
  base.search = '';
  base.hash = '';
  base.pathname = base.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return base;
}

/** A path below the base URL. */
export function below(base: URL, path: string): URL {
  const [pathname = '', search = ''] = path.split('?');
  const url = new URL(base.href);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${pathname}`;
  url.search = search;
  return url;
}

/** Where the metrics page is: as configured, else the engine's usual path; null when neither is known. */
export function pageUrl(url: URL, metricsUrl: URL | null, dialect: Dialect | null): URL | null {
  if (metricsUrl !== null) return metricsUrl;
  const path = dialect?.paths[0];
  return path === undefined ? null : onPortOf(below(baseUrl(url), path), dialect?.port ?? null);
}

function onPortOf(url: URL, port: number | null): URL {
  if (port === null) return url;
  const moved = new URL(url.href);
  moved.port = String(port);
  return moved;
}

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

/** The engine's usual page below the base URL; null when it has none. */
export function usualPage(url: URL, dialect: Dialect | null): URL | null {
  const path = dialect?.paths[0];
  return path === undefined ? null : onPort(below(baseUrl(url), path), dialect?.port ?? null);
}

/**
 * Where to read: as configured or found, else the engine's usual page. Null when neither is known, and where a page may
 * only be read once somebody has made sure that it does no harm.
 */
export function pageUrl(url: URL, metricsUrl: URL | null, dialect: Dialect | null): URL | null {
  return metricsUrl ?? (dialect?.readsHaveEffects === true ? null : usualPage(url, dialect));
}

function onPort(url: URL, port: number | null): URL {
  if (port === null) return url;
  const moved = new URL(url.href);
  moved.port = String(port);
  return moved;
}

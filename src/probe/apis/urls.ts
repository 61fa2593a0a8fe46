/** `/v1`, `/v2`, `/v1beta/openai`...: a base that already names the version of its API. */
const VERSIONED = /\/v\d+[a-z]*\d*(?:\/openai)?$/i;

/** The base with `path` for its path; query parameters of the base (a gateway's key, an api-version) stay. */
export function withPath(base: URL, path: string): URL {
  const url = new URL(base);
  url.pathname = path;
  return url;
}

export const basePath = (base: URL): string => base.pathname.replace(/\/+$/, '');

/**
 * The address of an endpoint below `/v1`. The base may be the server, may end in a version path, or may be the whole
 * address already.
 */
export function versionedUrl(base: URL, endpoint: string): URL {
  const path = basePath(base);
  if (path.endsWith(endpoint) && VERSIONED.test(path.slice(0, -endpoint.length))) return withPath(base, path);
  return withPath(base, VERSIONED.test(path) ? path + endpoint : `${path}/v1${endpoint}`);
}

/** The address of an engine's own endpoint, which lies beside `/v1` and not below it. */
export function nativeUrl(base: URL, endpoint: string): URL {
  const path = basePath(base).replace(/\/v1$/, '');
  return withPath(base, path.endsWith(endpoint) ? path : path + endpoint);
}

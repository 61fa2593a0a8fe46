import type { KeyPath, Report } from '../report.ts';

// Paths that the probe adds itself; people paste them from a curl command.
const API_PATHS = [
  '/chat/completions',
  '/completions',
  '/completion',
  '/responses',
  '/messages',
  '/generate',
  '/generate_stream',
  '/api/chat',
  '/metrics',
];

/** The query parameters that belong to a deployment rather than to a caller. */
const HARMLESS_QUERY: ReadonlySet<string> = new Set(['api-version']);

function parseHttpUrl(written: string, path: KeyPath, report: Report): URL | null {
  // A second parser must not disagree with the first about the host, so the odd spellings are refused.
  if (!/^https?:\/\/[^/\\\s]/i.test(written) || !URL.canParse(written)) {
    report.error(path, 'is not an http:// or https:// URL');
    return null;
  }
  const url = new URL(written);
  if (url.username !== '' || url.password !== '') {
    report.error(
      path,
      'must not hold a user name or password: put the whole value (such as "Basic ...") into a file and name it in header_files.authorization',
    );
    return null;
  }
  if (url.hash !== '') {
    report.error(path, 'must not hold a fragment (#...)');
    return null;
  }
  if (url.port === '0') {
    report.error(path, 'must not have port 0');
    return null;
  }
  return url;
}

/** The base URL of a target: no credentials, no path of an API, no slash at the end. */
export function readTargetUrl(written: string, path: KeyPath, report: Report): URL | null {
  const url = parseHttpUrl(written, path, report);
  if (url === null) return null;
  if ([...url.searchParams.keys()].some((name) => !HARMLESS_QUERY.has(name))) {
    report.error(path, 'must not hold a query: a key belongs into a file named in api_key_file or header_files');
    return null;
  }
  const bare = url.pathname.replace(/\/+$/, '');
  const api = API_PATHS.find((suffix) => bare.endsWith(suffix));
  if (api !== undefined) {
    report.error(path, `must be the base URL, without ${api}: the path of the API is added by the probe`);
    return null;
  }
  url.pathname = bare;
  return url;
}

/** The URL of an engine's metrics page. It may have a query, which is never shown. */
export const readMetricsUrl = (written: string, path: KeyPath, report: Report): URL | null =>
  parseHttpUrl(written, path, report);

/** `env` or the URL of a proxy, which may have a user and password; the text, because it is handed on as it is. */
export function readProxyUrl(written: string, path: KeyPath, report: Report): string | null {
  if (written === 'env') return written;
  if (!/^https?:\/\/[^/\\\s]/i.test(written) || !URL.canParse(written)) {
    report.error(path, 'is neither an http:// or https:// URL nor env');
    return null;
  }
  return written;
}

/** Whether requests to a host stay on this machine. */
export function isLoopback(url: URL): boolean {
  const host = url.hostname.toLowerCase();
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** A proxy as it may be shown. */
export const showProxy = (proxyUrl: string): string => (proxyUrl === 'env' ? proxyUrl : showUrl(new URL(proxyUrl)));

/** A URL as it may be shown: without user, password and query. */
export function showUrl(url: URL): string {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  const harmless = [...shown.searchParams.keys()].every((name) => HARMLESS_QUERY.has(name));
  const query = shown.search === '' || harmless ? shown.search : '?<redacted>';
  shown.search = '';
  return shown.href.replace(/\/$/, '') + query;
}

import { request as httpRequest } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { basicAuthorization } from './basic-auth.ts';
import { bareHostname, ConnectError } from './transport-address.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export const portOf = (url: URL): number => (url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port));

function inNetwork(hostname: string, entry: string): boolean {
  const [network, bits, rest] = entry.split('/');
  if (network === undefined || bits === undefined || rest !== undefined || !/^\d{1,3}$/.test(bits)) return false;
  const version = isIP(network);
  if (version === 0 || version !== isIP(hostname) || Number(bits) > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(hostname, family);
}

function excludes(entry: string, hostname: string, port: number): boolean {
  if (entry === '*') return true;
  if (inNetwork(hostname, entry)) return true;
  const [, host, onlyPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (host === undefined || (onlyPort !== undefined && Number(onlyPort) !== port)) return false;
  const suffix = host.replace(/^\*?\./, '').toLowerCase();
  return suffix !== '' && (hostname === suffix || hostname.endsWith(`.${suffix}`));
}

/** Whether NO_PROXY keeps this URL off the proxy: `*`, names with their subdomains, name:port, addresses and networks. */
export function bypassesProxy(url: URL, noProxy: string): boolean {
  const hostname = bareHostname(url).toLowerCase();
  return noProxy.split(/[\s,]+/).some((entry) => entry !== '' && excludes(entry, hostname, portOf(url)));
}

/**
 * The proxy for `url`, or null to connect directly. Only `proxyUrl` decides: "env" means HTTPS_PROXY, HTTP_PROXY and
 * NO_PROXY of the environment, null means none whatever the environment says.
 */
export function proxyFor(url: URL, proxyUrl: string | null, environment: Environment): URL | null {
  if (proxyUrl === null) return null;
  const variable = (name: string): string => environment[name] || environment[name.toUpperCase()] || '';
  if (proxyUrl === 'env' && bypassesProxy(url, variable('no_proxy'))) return null;
  const value = proxyUrl === 'env' ? variable(url.protocol === 'https:' ? 'https_proxy' : 'http_proxy') : proxyUrl;
  if (value === '') return null;
  // "proxy:3128" is how the variables are often written.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw new ConnectError('configuration', { setting: 'connection.proxy_url' });
  return new URL(text);
}

/** The Proxy-Authorization header from the user info of the proxy's URL; empty without one. */
export function proxyAuthorization(proxy: URL): Readonly<Record<string, string>> {
  const value = basicAuthorization(proxy);
  return value === null ? {} : { 'proxy-authorization': value };
}

/**
 * Opens a tunnel to the host of `url` through a socket that is connected to `proxy`. Rejects with a ConnectError of step
 * `proxy`; on abort with the signal's reason.
 */
export function openTunnel(over: Socket, url: URL, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const authority = `${url.hostname}:${portOf(url)}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      createConnection: () => over,
    });
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const fail = (error: unknown): void =>
      finish(() => {
        over.destroy();
        reject(error);
      });
    const onAbort = (): void => fail(signal.reason);

    request.on('error', (cause) => fail(new ConnectError('proxy', { cause })));
    request.once('response', (response) => fail(new ConnectError('proxy', { proxyStatus: response.statusCode ?? 0 })));
    request.once('connect', (response, socket, head) => {
      if (response.statusCode !== 200)
        return fail(new ConnectError('proxy', { proxyStatus: response.statusCode ?? 0 }));
      if (head.length > 0) socket.unshift(head);
      finish(() => resolve(over));
    });
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    request.end();
  });
}

import { readFileSync } from 'node:fs';
import { Agent, type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import type { Seconds } from '../units.ts';

/** How connections are made; the target's own connection settings fit. */
export interface FetchTls {
  readonly caFile?: string | null;
  readonly certFile?: string | null;
  readonly keyFile?: string | null;
  readonly serverName?: string | null;
  readonly insecureSkipVerify?: boolean;
  readonly family?: 4 | 6 | 'auto';
  /** Time that each address gets before the next one is tried. */
  readonly addressAttemptSeconds?: Seconds;
  /** A proxy; "env" means HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment. */
  readonly proxyUrl?: string | null;
}

const read = (file: string | null | undefined): string | undefined =>
  file === null || file === undefined ? undefined : readFileSync(file, 'utf8');

function tlsOptions(settings: FetchTls) {
  const [ca, cert, key] = [read(settings.caFile), read(settings.certFile), read(settings.keyFile)];
  const servername = settings.serverName ?? undefined;
  return {
    rejectUnauthorized: settings.insecureSkipVerify !== true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}

function addressOptions({ family, addressAttemptSeconds }: FetchTls) {
  return {
    ...(family === 4 || family === 6 ? { family } : {}),
    ...(addressAttemptSeconds === undefined
      ? {}
      : { autoSelectFamilyAttemptTimeout: Math.max(10, addressAttemptSeconds * 1000) }),
  };
}

/** Connections for reading pages. Throws what the file system throws when a certificate file cannot be read. */
export function createFetchAgent(settings: FetchTls, timeoutSeconds: Seconds): Dispatcher {
  const tls = tlsOptions(settings);
  const options = {
    connections: 2,
    // The deadline is ours: undici's own timers tick twice a second only.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: Math.max(1, timeoutSeconds * 1000), ...addressOptions(settings), ...tls },
  };
  const proxyUrl = settings.proxyUrl ?? null;
  if (proxyUrl === null) return new Agent(options);
  // Plain HTTP goes through a proxy by absolute URL, as every other client does; TLS through a tunnel.
  const proxied = { ...options, requestTls: tls, proxyTunnel: false };
  return proxyUrl === 'env' ? new EnvHttpProxyAgent(proxied) : new ProxyAgent({ ...proxied, uri: proxyUrl });
}

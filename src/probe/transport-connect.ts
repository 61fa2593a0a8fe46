import { isIP, type Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { elapsed, type Seconds, type UnixTime } from '../units.ts';
import type { ConnectionSettings } from './profile.ts';
import {
  bareHostname,
  ConnectError,
  type ConnectStep,
  dial,
  type Resolve,
  raceAddresses,
} from './transport-address.ts';
import { type Environment, openTunnel, portOf, proxyAuthorization, proxyFor } from './transport-proxy.ts';
import { handshake, type TlsFiles } from './transport-tls.ts';

/** Time that each step of the set-up took; null when the step did not happen. */
export interface ConnectPhases {
  readonly dns: Seconds | null;
  /** Until a byte path to the target is there: with a tunnel this includes the proxy's consent. */
  readonly tcp: Seconds | null;
  readonly tls: Seconds | null;
}

/** A connection on which a request can be sent. */
export interface Opened {
  readonly socket: Socket;
  readonly phases: ConnectPhases;
  readonly certificateExpiresAt: UnixTime | null;
  /** Null: the request line has the path alone. Otherwise a proxy reads it: the whole URL, and these headers with it. */
  readonly proxyHeaders: Readonly<Record<string, string>> | null;
}

export interface ConnectDependencies {
  readonly clock: Clock;
  readonly resolve: Resolve;
  readonly tls: TlsFiles;
  readonly environment: Environment;
  /** The set-up came to this step; for `tcp` with the address that is tried now. */
  reached(step: ConnectStep, address: string | null): void;
}

/**
 * Sets up one connection to `url`: name, address, proxy, TLS. Takes as long as it takes: the caller's deadline aborts
 * through `signal`, and no socket outlives that. Rejects with a ConnectError, on abort with the signal's reason.
 */
export async function openConnection(
  url: URL,
  settings: ConnectionSettings,
  dependencies: ConnectDependencies,
  signal: AbortSignal,
): Promise<Opened> {
  const { clock, resolve, tls, environment, reached } = dependencies;
  const proxy = proxyFor(url, settings.proxyUrl, environment);
  const secure = url.protocol === 'https:';
  const context = secure || proxy?.protocol === 'https:' ? await tls.context() : null;

  const first = proxy ?? url;
  const hostname = bareHostname(first);
  const beganAt = clock.monotonic();
  const literal = isIP(hostname) !== 0;
  if (!literal) reached('dns', null);
  const addresses = literal ? [hostname] : await resolveOrFail(resolve, hostname, settings, signal);
  const resolvedAt = clock.monotonic();
  const start = (address: string): Socket => {
    reached('tcp', address);
    return dial(address, portOf(first));
  };
  let socket = await raceAddresses(addresses, start, settings.addressAttemptSeconds, clock, signal).catch((error) => {
    // Whether the target listens is not known when the proxy does not.
    if (proxy === null || !(error instanceof ConnectError)) throw error;
    throw new ConnectError('proxy', { cause: error.cause, attempts: error.attempts });
  });

  if (proxy !== null) reached('proxy', null);
  if (proxy !== null && proxy.protocol === 'https:' && context !== null) {
    const options = { hostname, serverName: null, context, insecureSkipVerify: settings.insecureSkipVerify };
    socket = (await handshake(socket, options, signal)).socket;
  }
  if (proxy !== null && secure) socket = await openTunnel(socket, url, proxy, signal);
  const connectedAt = clock.monotonic();

  const phases = { dns: literal ? null : elapsed(beganAt, resolvedAt), tcp: elapsed(resolvedAt, connectedAt) };
  if (!secure || context === null) {
    const proxyHeaders = proxy === null ? null : proxyAuthorization(proxy);
    return { socket, phases: { ...phases, tls: null }, certificateExpiresAt: null, proxyHeaders };
  }
  reached('tls', null);
  const { serverName, insecureSkipVerify } = settings;
  const options = { hostname: bareHostname(url), serverName, context, insecureSkipVerify };
  const { socket: secured, certificateExpiresAt } = await handshake(socket, options, signal);
  const tlsSeconds = elapsed(connectedAt, clock.monotonic());
  return { socket: secured, phases: { ...phases, tls: tlsSeconds }, certificateExpiresAt, proxyHeaders: null };
}

/** getaddrinfo cannot be stopped: on abort its answer, should one ever come, is for nobody. */
function resolveOrFail(
  resolve: Resolve,
  hostname: string,
  settings: ConnectionSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return new Promise((found, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    resolve(hostname, settings.family)
      .then(found, (cause: unknown) => reject(new ConnectError('dns', { cause })))
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

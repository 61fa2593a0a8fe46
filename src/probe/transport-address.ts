import { lookup } from 'node:dns';
import { connect, isIP, type Socket } from 'node:net';
import type { Clock, Timer } from '../clock.ts';
import type { Seconds } from '../units.ts';
import { errorCode } from './failure.ts';

/** A try to reach one address, and the code of the error that it ended with. */
export interface AddressAttempt {
  readonly address: string;
  readonly code: string;
}

/** All addresses of a host name, in the order in which they should be tried. */
export type Resolve = (hostname: string, family: 4 | 6 | 'auto') => Promise<readonly string[]>;

/** Where the set-up of a connection got to. `configuration`: files of ours, before anything was sent. */
export type ConnectStep = 'configuration' | 'dns' | 'tcp' | 'proxy' | 'tls';

/** Why there is no connection. Stays inside the transport; `cause` is what Node threw. */
export class ConnectError extends Error {
  /** For step `configuration`: which setting cannot be used, in our own words. */
  readonly setting: string | null;
  readonly step: ConnectStep;
  readonly code: string | null;
  readonly attempts: readonly AddressAttempt[];
  /** The status with which a proxy refused the tunnel. */
  readonly proxyStatus: number | null;

  constructor(
    step: ConnectStep,
    facts: { cause?: unknown; setting?: string; attempts?: readonly AddressAttempt[]; proxyStatus?: number } = {},
  ) {
    super(`no connection: ${step}`, { cause: facts.cause });
    this.name = 'ConnectError';
    this.step = step;
    this.setting = facts.setting ?? null;
    this.code = errorCode(facts.cause) ?? facts.attempts?.at(0)?.code ?? null;
    this.attempts = facts.attempts ?? [];
    this.proxyStatus = facts.proxyStatus ?? null;
  }
}

/** The system's resolver (getaddrinfo: hosts file, search domains), asked anew for each connection. */
export const systemResolve: Resolve = (hostname, family) =>
  new Promise((resolve, reject) => {
    const options = { all: true, verbatim: true, family: family === 'auto' ? 0 : family } as const;
    lookup(hostname, options, (error, found) => {
      if (error !== null) reject(error);
      else resolve(alternate(found.map(({ address }) => address)));
    });
  });

/** RFC 8305 §4: the families take turns, the resolver's first choice begins. */
export function alternate(addresses: readonly string[]): readonly string[] {
  const first = addresses.filter((address) => isIP(address) === isIP(addresses[0] ?? ''));
  const second = addresses.filter((address) => isIP(address) !== isIP(addresses[0] ?? ''));
  const turns = Array.from({ length: Math.max(first.length, second.length) }, (_, turn) => [first[turn], second[turn]]);
  return turns.flat().filter((address) => address !== undefined);
}

/** Host name of a URL as the socket functions want it: an IPv6 literal without its brackets. */
export const bareHostname = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

// Keeps NAT entries of idle connections alive, and finds a dead peer before the next probe does.
const TCP_KEEPALIVE_MS = 30_000;

/** Begins to connect to an address. */
export function dial(address: string, port: number): Socket {
  const socket = connect({
    host: address,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEPALIVE_MS,
  });
  // For the whole life of the socket: an error between two owners must not become an uncaught exception.
  socket.on('error', () => {});
  return socket;
}

/** What the race needs of a socket. */
export interface Racer {
  once(event: 'connect', listener: () => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
  destroy(): unknown;
}

/**
 * Connects to the first address that answers (RFC 8305). An address that does not answer within `attemptSeconds` gets
 * company, it is not given up: on a slow path each would be cut off just before it succeeds. A refusal starts the next
 * at once. Rejects with a ConnectError that lists each address tried; on abort with the signal's reason.
 */
export function raceAddresses<S extends Racer>(
  addresses: readonly string[],
  start: (address: string) => S,
  attemptSeconds: Seconds,
  clock: Clock,
  signal: AbortSignal,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const open = new Set<S>();
    const attempts: AddressAttempt[] = [];
    let next = 0;
    let timer: Timer | null = null;

    const finish = (settle: () => void): void => {
      timer?.cancel();
      signal.removeEventListener('abort', onAbort);
      for (const socket of open) socket.destroy();
      open.clear();
      settle();
    };
    const onAbort = (): void => finish(() => reject(signal.reason));

    const startNext = (): void => {
      timer?.cancel();
      const address = addresses[next];
      if (address === undefined) return;
      next += 1;
      const socket = start(address);
      open.add(socket);
      socket.once('connect', () => {
        if (!open.delete(socket)) return;
        finish(() => resolve(socket));
      });
      socket.once('error', (cause) => {
        if (!open.delete(socket)) return;
        attempts.push({ address, code: errorCode(cause) ?? 'UNKNOWN' });
        if (next < addresses.length) startNext();
        else if (open.size === 0) finish(() => reject(new ConnectError('tcp', { cause, attempts })));
      });
      if (next < addresses.length) timer = clock.setTimer(attemptSeconds, startNext);
    };

    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (addresses.length === 0) return finish(() => reject(new ConnectError('dns')));
    startNext();
  });
}

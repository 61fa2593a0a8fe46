import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { MonotonicInstant, UnixTime } from '../units.ts';
import type { ConnectionSettings } from './profile.ts';
import type { AddressAttempt, ConnectStep, Resolve } from './transport-address.ts';
import type { ConnectPhases } from './transport-connect.ts';
import type { Environment } from './transport-proxy.ts';

/** What goes over the wire. `headers` in lower case; `body` is sent with its length. */
export interface TransportRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The connection that a request goes over. */
export interface ConnectionFacts {
  readonly reused: boolean;
  /** The request went out before on a kept-alive socket that turned out to be closed: this is the one repetition. */
  readonly retriedStale: boolean;
  readonly phases: ConnectPhases;
  readonly certificateExpiresAt: UnixTime | null;
}

/** An exchange that broke, with what is needed to classify it. */
export interface TransportFailure {
  /** A step of the set-up, or `request` (sent, no response headers yet) or `response` (in the body). */
  readonly step: ConnectStep | 'request' | 'response';
  readonly error: unknown;
  /** For step `configuration`: which setting cannot be used. */
  readonly setting: string | null;
  readonly attempts: readonly AddressAttempt[];
  /** The status with which a proxy refused the tunnel. */
  readonly proxyStatus: number | null;
  /** Bytes of the response that came, its head included. */
  readonly responseBytes: number;
  /** The other side ended the connection in good order (FIN). */
  readonly closedByPeer: boolean;
  readonly certificateExpiresAt: UnixTime | null;
}

/** Receives an exchange in order. After `ended`, `failed` or `abort()` nothing more is called. */
export interface ExchangeSink {
  /** A connection is being set up. Not called for a reused one; called again for the repetition on a fresh one. */
  connecting(at: MonotonicInstant): void;
  /** The set-up came to this step; for `tcp` with the address that is tried now. */
  reached(step: ConnectStep, address: string | null): void;
  /** The request is handed to the socket: t0 of every latency. */
  requestStarted(at: MonotonicInstant, connection: ConnectionFacts): void;
  requestWritten(at: MonotonicInstant): void;
  /** Names in lower case. */
  headers(at: MonotonicInstant, status: number, headers: Readonly<Record<string, string>>): void;
  /** `at`: when the bytes reached the program, before anything looked at them. */
  data(at: MonotonicInstant, bytes: Uint8Array): void;
  ended(at: MonotonicInstant): void;
  failed(at: MonotonicInstant, failure: TransportFailure): void;
}

/** A request in flight. */
export interface Call {
  /** Closes its socket at once. Safe at any time and any number of times. */
  abort(): void;
}

export interface Transport {
  /** Sends one POST. */
  send(request: TransportRequest, sink: ExchangeSink): Call;
  /** Of the client certificate that the last connection was set up with; null before, and without one. */
  clientCertificateExpiresAt(): UnixTime | null;
  /** Closes every connection, busy ones included: their sinks hear nothing more. */
  close(): void;
}

export interface TransportOptions {
  readonly settings: ConnectionSettings;
  readonly connection: 'reuse' | 'fresh';
}

export interface TransportDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Defaults to the system's resolver. */
  readonly resolve?: Resolve;
  /** Where `proxyUrl: env` looks; defaults to the process's environment. */
  readonly environment?: Environment;
}

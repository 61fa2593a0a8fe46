import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP, type Socket } from 'node:net';
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { Logger } from '../log.ts';
import { type UnixTime, unixTime } from '../units.ts';
import { errorCode } from './failure.ts';
import type { ConnectionSettings } from './profile.ts';
import { ConnectError } from './transport-address.ts';

/** The CA and the client's certificate, from files that may change at any time. */
export interface TlsFiles {
  /**
   * Reads the files and makes a context of them. When the new ones cannot be used (certificate and key of two
   * generations, caught between two renames), the last good ones stay in use and the next connection looks again.
   * Rejects with a ConnectError of step `configuration` when there are none yet.
   */
  context(): Promise<SecureContext>;
  /** Of the certificate in use; null without one. */
  clientCertificateExpiresAt(): UnixTime | null;
}

function expiryOf(validTo: string | undefined): UnixTime | null {
  const ms = Date.parse(validTo ?? '');
  return Number.isNaN(ms) ? null : unixTime(ms / 1000);
}

const read = async (path: string | null): Promise<string | undefined> =>
  path === null ? undefined : await readFile(path, 'utf8');

export function createTlsFiles(settings: ConnectionSettings, log: Logger): TlsFiles {
  const { caFile, certFile, keyFile } = settings;
  let current: {
    readonly content: string;
    readonly context: SecureContext;
    readonly expiresAt: UnixTime | null;
  } | null = null;

  return {
    clientCertificateExpiresAt: () => current?.expiresAt ?? null,
    async context() {
      try {
        const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
        const content = JSON.stringify([ca, cert, key]);
        if (current?.content !== content) {
          // Throws when the key is not the certificate's.
          const context = createSecureContext({
            minVersion: 'TLSv1.2',
            ...(ca && { ca }),
            ...(cert && { cert }),
            ...(key && { key }),
          });
          current = {
            content,
            context,
            expiresAt: cert === undefined ? null : expiryOf(new X509Certificate(cert).validTo),
          };
        }
        return current.context;
      } catch (cause) {
        if (current === null)
          throw new ConnectError('configuration', {
            cause,
            setting: 'ca_file, cert_file or key_file of connection.tls',
          });
        log.warn(
          { caFile, certFile, keyFile, code: errorCode(cause) },
          'TLS files cannot be used, the last good ones stay',
        );
        return current.context;
      }
    },
  };
}

/** A TLS connection that is set up and verified. */
export interface SecureConnection {
  readonly socket: TLSSocket;
  readonly certificateExpiresAt: UnixTime | null;
}

/** The certificate was looked at and refused; its expiry is worth a metric all the more. */
export class CertificateRefused extends ConnectError {
  readonly certificateExpiresAt: UnixTime | null;

  constructor(cause: unknown, certificateExpiresAt: UnixTime | null) {
    super('tls', { cause });
    this.certificateExpiresAt = certificateExpiresAt;
  }
}

export interface HandshakeOptions {
  readonly hostname: string;
  readonly serverName: string | null;
  readonly context: SecureContext;
  readonly insecureSkipVerify: boolean;
}

function verificationError(socket: TLSSocket): Error {
  const reason: unknown = socket.authorizationError;
  return reason instanceof Error ? reason : Object.assign(new Error('certificate refused'), { code: String(reason) });
}

/**
 * The TLS handshake over a connected socket, without session resumption: a fresh connection costs what a new client
 * pays. HTTP/2 is not offered. Rejects with a ConnectError of step `tls`; on abort with the signal's reason.
 */
export function handshake(over: Socket, options: HandshakeOptions, signal: AbortSignal): Promise<SecureConnection> {
  const { hostname, context } = options;
  const name = options.serverName ?? hostname;
  return new Promise((resolve, reject) => {
    const socket = connect({
      socket: over,
      host: name,
      // RFC 6066: no IP address in SNI. Node verifies against `host` then.
      ...(isIP(name) === 0 && { servername: name }),
      secureContext: context,
      ALPNProtocols: ['http/1.1'],
      // Judged below, by the same check: Node would throw the certificate away before its expiry can be read.
      rejectUnauthorized: false,
    });
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      socket.off('close', onClose);
      settle();
    };
    const fail = (error: unknown): void =>
      finish(() => {
        socket.destroy();
        over.destroy();
        reject(error);
      });
    const onAbort = (): void => fail(signal.reason);
    const onError = (cause: Error): void => fail(new ConnectError('tls', { cause }));
    const onClose = (): void =>
      fail(new ConnectError('tls', { cause: Object.assign(new Error('closed'), { code: 'ECONNRESET' }) }));

    socket.on('error', () => {});
    socket.once('error', onError);
    socket.once('close', onClose);
    socket.once('secureConnect', () => {
      const certificateExpiresAt = expiryOf(socket.getPeerCertificate().valid_to);
      if (socket.authorized || options.insecureSkipVerify)
        return finish(() => resolve({ socket, certificateExpiresAt }));
      fail(new CertificateRefused(verificationError(socket), certificateExpiresAt));
    });
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

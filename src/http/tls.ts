import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type ServerOptions as HttpsOptions, type Server as HttpsServer } from 'node:https';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { ConfigFiles } from '../config/files.ts';
import { ProbeExporterError } from '../errors.ts';
import type { WebTlsSettings } from './web-config.ts';

/** Reads certificates and key. Throws CONFIG_INVALID when they cannot be read or do not fit each other. */
export function readSecureContext(settings: WebTlsSettings, files: ConfigFiles): SecureContextOptions {
  try {
    const options: SecureContextOptions = {
      cert: Buffer.from(files.read(settings.certFile)),
      key: Buffer.from(files.read(settings.keyFile)),
      minVersion: settings.minVersion,
      maxVersion: settings.maxVersion,
      ...(settings.clientCaFile === null ? {} : { ca: Buffer.from(files.read(settings.clientCaFile)) }),
      ...(settings.ciphers === null ? {} : { ciphers: settings.ciphers }),
      ...(settings.curves === null ? {} : { ecdhCurve: settings.curves }),
    };
    // Finds a key that does not belong to the certificate, which would else break every handshake.
    createSecureContext(options);
    return options;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ProbeExporterError(
      'CONFIG_INVALID',
      `tls_server_config: ${settings.certFile} and ${settings.keyFile} cannot be used (${code})`,
      { cause },
    );
  }
}

function hasAllowedSan(socket: TLSSocket, allowed: readonly string[]): boolean {
  const names = (socket.getPeerCertificate().subjectaltname ?? '')
    .split(', ')
    .map((name) => name.replace(/^[^:]*:/, ''));
  return names.some((name) => allowed.includes(name));
}

/** Whether the client's certificate is what the settings ask for, beyond what the handshake has checked. */
function acceptsClient(socket: TLSSocket, settings: WebTlsSettings): boolean {
  const given = Object.keys(socket.getPeerCertificate()).length > 0;
  if (settings.clientAuth === 'RequireAnyClientCert' && !given) return false;
  if (settings.clientAuth === 'VerifyClientCertIfGiven' && given && !socket.authorized) return false;
  return settings.allowedSans.length === 0 || hasAllowedSan(socket, settings.allowedSans);
}

/** A server that speaks TLS as the settings say. */
export function createTlsServer(
  settings: WebTlsSettings,
  context: SecureContextOptions,
  options: ServerOptions,
  listener: RequestListener,
): HttpsServer {
  const tls: HttpsOptions = {
    ...context,
    requestCert: settings.clientAuth !== 'NoClientCert',
    rejectUnauthorized: settings.clientAuth === 'RequireAndVerifyClientCert',
    handshakeTimeout: 10_000,
  };
  const server = createServer({ ...options, ...tls }, listener);
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!acceptsClient(socket, settings)) socket.destroy();
  });
  return server;
}

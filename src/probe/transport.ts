import { systemResolve } from './transport-address.ts';
import { startCall } from './transport-call.ts';
import { openConnection } from './transport-connect.ts';
import { createIdleConnections } from './transport-idle.ts';
import { createTlsFiles } from './transport-tls.ts';
import type { Call, Transport, TransportDependencies, TransportOptions } from './transport-types.ts';

/**
 * HTTP/1.1 for probes: undici on sockets of our own, so that each step of the set-up is timed and the request starts
 * only when the connection stands. Keeps connections alive between requests when asked to, one request on each at a
 * time. Never follows a redirect; never repeats a request but in the one case named in ConnectionFacts.
 */
export function createTransport(options: TransportOptions, dependencies: TransportDependencies): Transport {
  const { settings } = options;
  const { clock, log, resolve = systemResolve, environment = process.env } = dependencies;
  const tls = createTlsFiles(settings, log);
  const connect = { clock, resolve, environment, tls };
  const idle = createIdleConnections(clock);
  const calls = new Set<Call>();

  return {
    send(request, sink) {
      const call = startCall(request, sink, {
        clock,
        idle: options.connection === 'reuse' ? idle : null,
        open: (url, reached, signal) => openConnection(url, settings, { ...connect, reached }, signal),
        over: (done) => calls.delete(done),
      });
      calls.add(call);
      return call;
    },
    clientCertificateExpiresAt: () => tls.clientCertificateExpiresAt(),
    close() {
      for (const call of [...calls]) call.abort();
      idle.close();
    },
  };
}

import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';

/** What the path between exporter and engine does to bytes. */
type Mode = 'pass' | 'silent';

export interface Relay {
  readonly port: number;
  /** `silent`: connections stay open and nothing comes through any more, not even an end: half-open sockets. */
  mode: Mode;
  /** Cuts each answer to GET /metrics after so many bytes; null: not. */
  cutPagesAt: number | null;
  /** Takes no connections, and drops those that there are. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Drops the connections that there are. */
  dropAll(): void;
  /** Another certificate for new connections. */
  present(certificate: string): void;
  close(): Promise<void>;
}

const tlsFixture = (name: string) => ({
  cert: readFileSync(`test/fixtures/tls/${name}.pem`),
  key: readFileSync(`test/fixtures/tls/${name}-key.pem`),
});

/** A relay on loopback to an engine's port, with TLS of its own when a certificate's name is given. */
export async function startRelay(enginePort: () => number, certificate?: string): Promise<Relay> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const serve = (client: Socket): void => {
    track(client);
    const engine = connect(enginePort(), '127.0.0.1');
    track(engine);
    let isPage = false;
    let sent = 0;
    client.on('data', (bytes) => {
      isPage = bytes.subarray(0, 12).toString('latin1') === 'GET /metrics';
      sent = 0;
      if (relay.mode === 'pass') engine.write(bytes);
    });
    engine.on('data', (bytes) => {
      if (relay.mode === 'silent') return;
      const limit = isPage ? relay.cutPagesAt : null;
      if (limit === null) {
        client.write(bytes);
        return;
      }
      client.end(bytes.subarray(0, Math.max(0, limit - sent)));
      sent += bytes.length;
    });
    const end = (other: Socket) => (): void => void (relay.mode === 'pass' && other.destroy());
    client.on('close', () => engine.destroy());
    engine.on('close', end(client));
  };
  const create = (): Server =>
    certificate === undefined ? createServer(serve) : createTlsServer(tlsFixture(certificate), serve);
  let server = create();
  if (certificate !== undefined) server.on('tlsClientError', () => {});
  const listen = (wanted: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', resolve);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    dropAll();
    await closed;
  };
  const relay: Relay = {
    port,
    mode: 'pass',
    cutPagesAt: null,
    refuse: stop,
    async accept() {
      server = create();
      await listen(port);
    },
    dropAll,
    present: (name) => (server as TlsServer).setSecureContext(tlsFixture(name)),
    close: stop,
  };
  return relay;
}

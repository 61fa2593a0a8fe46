import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls';

/** One thing that the server does, `atMs` after it has the whole request. */
export interface Step {
  readonly atMs: number;
  /** Bytes to write, or what happens to the connection. */
  readonly act: Uint8Array | string | 'FIN' | 'RST';
}

interface ReceivedRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Which connection it came on, counted from 0. */
  readonly connection: number;
  readonly receivedAtMs: number;
  /** When each step was done, in the order of the script. */
  readonly doneAtMs: readonly number[];
}

/** What to do about a request; it is the `index`th of the server. */
export type Script = (request: ReceivedRequest, index: number) => readonly Step[];

export interface ScriptedServer {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Connections that were accepted so far, and those that are open now. */
  connections(): number;
  openSockets(): number;
  /** Waits until so many requests were received. */
  received(count: number): Promise<void>;
  /** Waits until the other side has closed all its connections. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  readonly script?: Script;
  /** Takes over a connection before any request is read. True: it is the caller's from now on. */
  readonly onConnection?: (socket: Socket, index: number) => boolean;
  readonly tls?: TlsOptions;
  readonly host?: string;
  readonly port?: number;
}

interface Head {
  readonly line: string;
  readonly headers: Record<string, string>;
  readonly bodyStart: number;
}

function readHead(bytes: Buffer): Head | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = fields.map((field) => [
    field.slice(0, field.indexOf(':')).toLowerCase(),
    field.slice(field.indexOf(':') + 1).trim(),
  ]);
  return { line, headers: Object.fromEntries(headers), bodyStart: end + 4 };
}

function perform(socket: Socket, act: Step['act']): void {
  if (socket.destroyed) return;
  if (act === 'FIN') socket.end();
  // Below TLS there is no handle that could be reset; a sudden end is as near as it gets.
  else if (act === 'RST') socket instanceof TLSSocket ? socket.destroy() : socket.resetAndDestroy();
  else socket.write(act);
}

const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/**
 * A server that writes exact bytes at exact times, on loopback and a port of its own. It knows just enough HTTP to tell
 * where a request ends.
 */
export async function startScriptedServer(options: ScriptedServerOptions): Promise<ScriptedServer> {
  const { script = () => [], onConnection, tls, host = '127.0.0.1', port: wantedPort = 0 } = options;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let accepted = 0;

  // One step after the other: on a busy machine a later one must not overtake one that waits for its time.
  const run = (
    socket: Socket,
    request: ReceivedRequest & { doneAtMs: number[] },
    steps: readonly Step[],
    lastAtMs = 0,
  ): void => {
    const [next, ...later] = steps;
    if (next === undefined || socket.destroyed) return;
    // A reset throws away what the other side has not read yet: it keeps its distance from the step before it, however
    // late that was.
    const sinceLast = next.atMs - lastAtMs;
    const act = (): void => {
      request.doneAtMs.push(performance.now());
      perform(socket, next.act);
      run(socket, request, later, next.atMs);
    };
    const delayMs = Math.max(request.receivedAtMs + next.atMs - performance.now(), next.act === 'RST' ? sinceLast : 0);
    if (delayMs <= 0) {
      act();
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, delayMs);
    timers.add(timer);
  };

  const serve = (socket: Socket): void => {
    const connection = accepted;
    accepted += 1;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    if (onConnection?.(socket, connection)) return;
    let pending: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      pending = Buffer.concat([pending, bytes]);
      const head = readHead(pending);
      if (head === null) return;
      const end = head.bodyStart + Number(head.headers['content-length'] ?? 0);
      if (pending.length < end) return;
      const body = pending.subarray(head.bodyStart, end).toString('utf8');
      pending = pending.subarray(end);
      const request = { ...head, body, connection, receivedAtMs: performance.now(), doneAtMs: [] };
      requests.push(request);
      run(socket, request, script(request, requests.length - 1));
    });
  };

  const server: Server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  if (tls !== undefined) server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(wantedPort, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://${authority}`,
    requests,
    connections: () => accepted,
    openSockets: () => sockets.size,
    async received(count) {
      while (requests.length < count) await tick();
    },
    async quiet() {
      while (sockets.size > 0) await tick();
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import { once } from 'node:events';
import { createServer } from 'node:net';

async function bound(port: number): Promise<number> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
  return port;
}

const given = new Set<number>();

/**
 * A TCP port of the loopback interface that was free a moment ago, for programs that cannot be told "port 0". Below 32768,
 * outside the range from which the kernel takes the ports of outgoing connections: none of the many that the tests make can
 * have it before the program does. (Some programs keep a port in 16 bits with a sign, too.) Never the same one twice.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const candidate = 21_000 + Math.floor(Math.random() * 11_000);
    if (given.has(candidate)) continue;
    given.add(candidate);
    try {
      return await bound(candidate);
    } catch {
      // Taken: the next one.
    }
  }
}

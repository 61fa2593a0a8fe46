import { once } from 'node:events';
import { createServer } from 'node:net';

async function bound(port: number): Promise<number> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the loopback interface gave no port');
  return address.port;
}

/**
 * A TCP port of the loopback interface that was free a moment ago. For programs that cannot be told "port 0";
 * between this answer and their bind another program could take it, which then shows as a failed start.
 */
export function freePort(): Promise<number> {
  return bound(0);
}

/** A free port below 32768, outside the kernel's own range: for programs that keep a port in 16 bits with a sign. */
export async function freeLowPort(): Promise<number> {
  for (;;) {
    const candidate = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      return await bound(candidate);
    } catch {
      // Taken: the next one.
    }
  }
}

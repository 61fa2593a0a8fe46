import type { Clock } from '../clock.ts';
import { elapsed } from '../units.ts';
import type { Connection } from './transport-connection.ts';

/** Connections between two requests. The newest is taken first, so that spare ones grow old and go. */
export interface IdleConnections {
  /** A connection that is not known to be closed, or null. */
  take(): Connection | null;
  put(connection: Connection): void;
  close(): void;
}

// A new connection once in a while follows changes of DNS and of what a load balancer has behind it.
const LONGEST_REUSE_SECONDS = 600;

export function createIdleConnections(clock: Clock): IdleConnections {
  const idle: Connection[] = [];
  return {
    take() {
      for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
        const age = elapsed(connection.openedAt, clock.monotonic());
        if (connection.usable() && age < LONGEST_REUSE_SECONDS) return connection;
        connection.destroy();
      }
      return null;
    },
    put(connection) {
      // Those that the server closed in the meantime go now, or a burst of probes would leave theirs here for ever.
      for (let index = idle.length - 1; index >= 0; index -= 1) if (!idle[index]?.usable()) idle.splice(index, 1);
      if (connection.usable()) idle.push(connection);
      else connection.destroy();
    },
    close() {
      for (const connection of idle.splice(0)) connection.destroy();
    },
  };
}

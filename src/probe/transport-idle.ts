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
  const reusable = (connection: Connection): boolean =>
    connection.usable() && elapsed(connection.openedAt, clock.monotonic()) < LONGEST_REUSE_SECONDS;

  return {
    take() {
      for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
        if (reusable(connection)) return connection;
        connection.destroy();
      }
      return null;
    },
    put(connection) {
      // The spare ones of a burst of probes would otherwise stay here for ever.
      for (let index = idle.length - 1; index >= 0; index -= 1) {
        const spare = idle[index];
        if (spare !== undefined && !reusable(spare)) idle.splice(index, 1)[0]?.destroy();
      }
      if (connection.usable()) idle.push(connection);
      else connection.destroy();
    },
    close() {
      for (const connection of idle.splice(0)) connection.destroy();
    },
  };
}

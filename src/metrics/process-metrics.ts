import { readdirSync, readFileSync } from 'node:fs';
import type { PROCESS_FAMILIES } from './exporter-families.ts';

export type ProcessFamily = keyof typeof PROCESS_FAMILIES;

/** The process's own figures at one moment; a figure that the system does not give is missing. */
export type ProcessReading = Partial<Readonly<Record<ProcessFamily, number>>>;

/** Runs `read` where the system has such a file; /proc exists on Linux alone. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function maxFds(): number | undefined {
  const limits = orNothing(() => readFileSync('/proc/self/limits', 'utf8'));
  const found = limits?.match(/^Max open files\s+(\d+)/m)?.[1];
  return found === undefined ? undefined : Number(found);
}

function virtualBytes(): number | undefined {
  const status = orNothing(() => readFileSync('/proc/self/status', 'utf8'));
  const found = status?.match(/^VmSize:\s+(\d+) kB/m)?.[1];
  return found === undefined ? undefined : Number(found) * 1024;
}

/**
 * Reads the figures that every Prometheus client publishes. prom-client's own collector is not used: its sampling of the
 * event loop and its garbage-collection observer cost more CPU while idle than the rest of this program.
 */
export function createProcessMetrics(startUnixSeconds: number): () => ProcessReading {
  const openLimit = maxFds();
  return () => {
    const cpu = process.cpuUsage();
    const memory = process.memoryUsage();
    // The directory itself is open while it is read.
    const openFds = orNothing(() => readdirSync('/proc/self/fd').length - 1);
    const virtual = virtualBytes();
    return {
      cpu: (cpu.user + cpu.system) / 1e6,
      startTime: startUnixSeconds,
      resident: memory.rss,
      heapTotal: memory.heapTotal,
      heapUsed: memory.heapUsed,
      external: memory.external,
      ...(virtual === undefined ? {} : { virtual }),
      ...(openFds === undefined ? {} : { openFds }),
      ...(openLimit === undefined ? {} : { maxFds: openLimit }),
    };
  };
}

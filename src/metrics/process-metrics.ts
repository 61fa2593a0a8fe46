import { collectDefaultMetrics, Registry } from 'prom-client';
import { PROCESS_FAMILIES } from './exporter-families.ts';
import type { Row } from './exposition.ts';

// Each sampling of the loop's delay is a wake-up: at prom-client's 10 ms they cost more CPU than everything else here.
// The figures made from them are not shown (the exporter measures its delay during probes), so once an hour is enough.
const LOOP_SAMPLING_MS = 3_600_000;

/** Reads the process's own metrics: rows by family name. */
export type ProcessMetrics = () => Promise<ReadonlyMap<string, readonly Row[]>>;

const SHOWN: ReadonlySet<string> = new Set(Object.values(PROCESS_FAMILIES).map((family) => family.name));

/** Starts collecting once for the life of the process: prom-client has no way to stop it. */
export function createProcessMetrics(): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLING_MS });
  return async () => {
    const rows = new Map<string, readonly Row[]>();
    // All of them in their own order: one metric's collecting sets the values of its neighbours.
    for (const metric of registry.getMetricsAsArray()) {
      const { name, values } = await (metric as unknown as { get(): Promise<{ name: string; values: Row[] }> }).get();
      if (SHOWN.has(name))
        rows.set(
          name,
          values.map(({ value }) => ({ suffix: '', labels: '', value })),
        );
    }
    return rows;
  };
}

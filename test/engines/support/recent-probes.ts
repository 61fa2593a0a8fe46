import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeRecord } from './record.ts';
import type { Sidecar } from './sidecar.ts';

/** The sidecar's recent probes, oldest first, each as its full record. */
export async function recentProbes(sidecar: Sidecar): Promise<readonly ProbeRecord[]> {
  const list = await sidecar.json<{ readonly probes: readonly { readonly id: string }[] }>('/probes');
  const records: ProbeRecord[] = [];
  for (const { id } of list.probes) records.push(await sidecar.json<ProbeRecord>(`/probes/${id}`));
  return records.sort((a, b) => a.started_at.localeCompare(b.started_at));
}

/** Ids of the recent probes, without fetching each record. */
export async function recentProbeIds(sidecar: Sidecar): Promise<readonly string[]> {
  return (await sidecar.json<{ readonly probes: readonly { readonly id: string }[] }>('/probes')).probes.map(
    (probe) => probe.id,
  );
}

/** Asks again and again until `read` gives something. Rejects with `what` after `seconds`. */
export async function eventually<T>(
  what: string,
  seconds: number,
  read: () => Promise<T | null | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`);
    await sleep(200);
  }
}

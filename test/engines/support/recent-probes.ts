import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeRecord } from './record.ts';
import type { Sidecar } from './sidecar.ts';

/** Records of the sidecar's recent probes, oldest first. */
export async function recentProbes(sidecar: Sidecar): Promise<readonly ProbeRecord[]> {
  return (await sidecar.json<readonly ProbeRecord[]>('/probes')).toReversed();
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

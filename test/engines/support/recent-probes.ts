import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeRecord } from './record.ts';
import type { Sidecar } from './sidecar.ts';

/** Records of the sidecar's recent probes, oldest first. */
export async function recentProbes(sidecar: Sidecar): Promise<readonly ProbeRecord[]> {
  return (await sidecar.json<readonly ProbeRecord[]>('/probes')).toReversed();
}

/**
 * Asks again and again until `read` gives something. A question that fails - a page that a busy engine is slow to answer -
 * is asked again, too. Rejects with `what` after `seconds`, and with the last failure as the cause.
 */
export async function eventually<T>(
  what: string,
  seconds: number,
  read: () => Promise<T | null | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    let cause: unknown;
    try {
      const value = await read();
      if (value !== null && value !== undefined && value !== false) return value;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}`, { cause });
    await sleep(200);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { fetchPage, type MetricsPage } from './metrics-page.ts';
import { eventually } from './recent-probes.ts';
import type { Sidecar } from './sidecar.ts';

/** Names of the quantities on the engine's own page. */
export interface LoadNames {
  readonly kvUsage: string | null;
  readonly running: string;
  readonly waiting: string;
}

const OUR_NAMES = {
  running: 'inference_engine_requests_running',
  waiting: 'inference_engine_requests_waiting',
  kvUsage: 'inference_engine_kv_cache_usage_ratio',
} as const;

/** Lowest and highest value of a quantity over several looks at the engine's page. */
function range(pages: readonly MetricsPage[], read: (page: MetricsPage) => number | null): readonly [number, number] {
  const values = pages.map((page) => read(page) ?? Number.NaN);
  return [Math.min(...values), Math.max(...values)];
}

/** What differs between our page and the range of the engine's, in words; empty when nothing does. */
function differences(ours: MetricsPage, pages: readonly MetricsPage[], names: LoadNames): readonly string[] {
  const pairs = [
    ['running', ours.sum(OUR_NAMES.running), range(pages, (page) => page.sum(names.running))],
    ['waiting', ours.sum(OUR_NAMES.waiting), range(pages, (page) => page.sum(names.waiting))],
    ...(names.kvUsage === null
      ? []
      : [['KV usage', ours.max(OUR_NAMES.kvUsage), range(pages, (page) => page.max(names.kvUsage ?? ''))] as const]),
  ] as const;
  return pairs
    .filter(([, value, [low, high]]) => value === null || value < low || value > high)
    .map(([what, value, [low, high]]) => `${what}: ${value} is not between ${low} and ${high}`);
}

/**
 * While the engine is busy: each gauge of ours is a value that the engine's own page had within the seconds around the
 * poll, which is read five times a second. A value can live shorter than that, so one look in five may miss it.
 */
export async function expectSameLoad(sidecar: Sidecar, metricsUrl: string, names: LoadNames): Promise<void> {
  await eventually(
    'requests in the engine',
    60,
    async () => ((await fetchPage(metricsUrl)).sum(names.running) ?? 0) > 0,
  );
  const misses: string[] = [];
  let wrongLooks = 0;
  for (let look = 0; look < 5; look += 1) {
    const pages: MetricsPage[] = [];
    for (let read = 0; read < 10; read += 1) {
      pages.push(await fetchPage(metricsUrl));
      await sleep(200);
    }
    const ours = await sidecar.page();
    pages.push(await fetchPage(metricsUrl));
    const found = differences(ours, pages, names);
    misses.push(...found);
    if (found.length > 0) wrongLooks += 1;
  }
  expect(wrongLooks, misses.join('; ')).toBeLessThanOrEqual(1);
}

/**
 * Both pages at a moment in which the engine has been at rest for longer than a poll, so that they must agree.
 * At rest: nothing runs, and none of `names` has changed.
 */
export function pagesAtRest(
  sidecar: Sidecar,
  metricsUrl: string,
  runningName: string,
  names: readonly string[],
): Promise<{ readonly engineNow: MetricsPage; readonly ours: MetricsPage }> {
  return eventually('the engine at rest', 90, async () => {
    const before = await fetchPage(metricsUrl);
    if (before.sum(runningName) !== 0) return null;
    await sleep(1500);
    const [engineNow, ours] = await Promise.all([fetchPage(metricsUrl), sidecar.page()]);
    return [runningName, ...names].every((name) => before.sum(name) === engineNow.sum(name))
      ? { engineNow, ours }
      : null;
  });
}

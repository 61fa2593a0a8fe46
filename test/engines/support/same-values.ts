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

interface TimedPage {
  readonly atUnixSeconds: number;
  readonly page: MetricsPage;
}

/** Lowest and highest value of a quantity over several looks at the engine's page. */
function range(pages: readonly TimedPage[], read: (page: MetricsPage) => number | null): readonly [number, number] {
  const values = pages.map(({ page }) => read(page) ?? Number.NaN);
  return [Math.min(...values), Math.max(...values)];
}

/** What differs between our page and the range of the engine's, in words; empty when nothing does. */
function differences(ours: MetricsPage, pages: readonly TimedPage[], names: LoadNames): readonly string[] {
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

/** The page, read five times a second for `seconds`. */
async function watch(metricsUrl: string, seconds: number): Promise<TimedPage[]> {
  const pages: TimedPage[] = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const page = await fetchPage(metricsUrl);
    pages.push({ atUnixSeconds: Date.now() / 1000, page });
    await sleep(200);
  }
  return pages;
}

/** So many comparisons at least; and at most, while too many of them differ. */
const [LEAST_LOOKS, MOST_LOOKS] = [5, 20];

/**
 * While the engine is busy: each gauge of ours is a value that the engine's own page had in the second around our last
 * poll. A value can live shorter than the time between two looks, so one comparison in five may miss it. Two of the first
 * five may do so by chance; what is wrong is so in nearly all, however many are made.
 */
export async function expectSameLoad(sidecar: Sidecar, metricsUrl: string, names: LoadNames): Promise<void> {
  await eventually(
    'requests in the engine',
    60,
    async () => ((await fetchPage(metricsUrl)).sum(names.running) ?? 0) > 0,
  );
  const misses: string[] = [];
  let [looks, wrongLooks] = [0, 0];
  const isEnough = (): boolean => looks >= LEAST_LOOKS && wrongLooks <= looks / 5;
  await eventually('polls of ours with looks at the page around them', 120, async () => {
    const before = await watch(metricsUrl, 1.5);
    const ours = await sidecar.page();
    const pages = [...before, ...(await watch(metricsUrl, 0.7))];
    const polledAt = ours.max('inference_engine_last_poll_timestamp_seconds') ?? Number.NaN;
    const around = pages.filter(({ atUnixSeconds }) => Math.abs(atUnixSeconds - polledAt) <= 0.6);
    // On a busy machine the poll may be older than the looks.
    if (around.length < 2) return false;
    looks += 1;
    const found = differences(ours, around, names);
    misses.push(...found);
    if (found.length > 0) wrongLooks += 1;
    return isEnough() || looks === MOST_LOOKS;
  });
  expect(isEnough(), `${wrongLooks} of ${looks} differ: ${misses.join('; ')}`).toBe(true);
}

/**
 * Our counters against the rise of the engine's since `atStart`, at a moment in which the engine's stood still around
 * the look at ours. Waits for such a moment in which all are equal; on giving up, tells the last difference.
 */
export async function expectSameRise(
  sidecar: Sidecar,
  metricsUrl: string,
  atStart: MetricsPage,
  counters: Readonly<Record<string, string>>,
  labels: { readonly ours?: Readonly<Record<string, string>>; readonly engine?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const engineNames = Object.values(counters);
  const read = (page: MetricsPage): number[] => engineNames.map((name) => page.sum(name, labels.engine) ?? 0);
  let last = 'the engine never stood still';
  const agreed = async (): Promise<boolean> => {
    const before = read(await fetchPage(metricsUrl));
    const page = await sidecar.page();
    const after = read(await fetchPage(metricsUrl));
    if (before.some((value, index) => value !== after[index])) return false;
    const start = read(atStart);
    const rises = after.map((value, index) => value - (start[index] ?? 0));
    const ours = Object.keys(counters).map((name) => page.sum(name, labels.ours));
    last = `ours ${JSON.stringify(ours)}, the engine's ${JSON.stringify(rises)}`;
    return ours.every((value, index) => value === rises[index]);
  };
  await eventually('counters that agree', 90, agreed).catch((error: unknown) => {
    throw new Error(`${last} (${Object.keys(counters).join(', ')})`, { cause: error });
  });
}

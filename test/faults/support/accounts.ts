import { expect } from 'vitest';
import type { Exporter, Page } from './processes.ts';
import { until } from './processes.ts';

export const INTERVAL_SECONDS = 1;

const sum = (page: Page, start: string, has: string): number =>
  [...page].reduce(
    (total, [series, value]) => (series.startsWith(start) && series.includes(has) ? total + value : total),
    0,
  );

export interface Account {
  readonly atMs: number;
  readonly attempts: number;
  readonly failures: number;
  readonly skipped: number;
  readonly series: ReadonlySet<string>;
}

/** What has become of the ticks of one target so far. */
export async function account(exporter: Exporter, target: string): Promise<Account> {
  const page = await exporter.page();
  const label = `target="${target}"`;
  return {
    atMs: performance.now(),
    attempts: sum(page, 'inference_probe_attempts_total{', label),
    failures: sum(page, 'inference_probe_failures_total{', label),
    skipped: sum(page, 'inference_probe_skipped_total{', label),
    series: new Set(
      [...page.keys()].filter((series) => series.startsWith('inference_probe_') && series.includes(label)),
    ),
  };
}

/** Failures of one target for a reason. */
export const failures = async (exporter: Exporter, target: string, reason: string): Promise<number> =>
  sum(await exporter.page(), `inference_probe_failures_total{target="${target}"`, `reason="${reason}"`);

export const skips = async (exporter: Exporter, target: string, reason: string): Promise<number> =>
  sum(await exporter.page(), `inference_probe_skipped_total{target="${target}"`, `reason="${reason}"`);

/** Value of a series of a target; null where there is none. */
export async function value(exporter: Exporter, name: string, target: string): Promise<number | null> {
  const page = await exporter.page();
  const found = [...page].find(([series]) => series.startsWith(`${name}{`) && series.includes(`target="${target}"`));
  return found === undefined ? null : found[1];
}

/** Waits for so many further good probes. */
export async function goodProbes(exporter: Exporter, target: string, more = 2, withinSeconds = 90): Promise<void> {
  const before = await account(exporter, target);
  await until(
    `${more} good probes of ${target}`,
    () => account(exporter, target),
    (now) => now.attempts - now.failures >= before.attempts - before.failures + more,
    withinSeconds,
  );
}

/**
 * What must hold however a fault went: each tick of the timetable was a probe or a counted skip, and there is not one
 * series more or less than before.
 */
export async function settled(exporter: Exporter, target: string, before: Account): Promise<void> {
  const now = await account(exporter, target);
  const ticks = (now.atMs - before.atMs) / 1000 / INTERVAL_SECONDS;
  const accounted = now.attempts + now.skipped - before.attempts - before.skipped;
  // A probe in flight at either end is counted when it is over, and a scrape of a busy process takes a moment.
  expect(Math.abs(accounted - ticks), `${accounted} of ${ticks} ticks accounted for`).toBeLessThanOrEqual(3);
  expect([...now.series].filter((series) => !before.series.has(series))).toEqual([]);
  expect([...before.series].filter((series) => !now.series.has(series))).toEqual([]);
}

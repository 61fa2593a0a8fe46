import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { wantedNames } from '../../src/engine/dialects/names.ts';
import { type ExpositionPage, parseExposition } from '../../src/engine/exposition.ts';
import type { FetchedPage, FetchFailure } from '../../src/engine/fetch.ts';
import { identifyPage, isReadable, type PageReader } from '../../src/engine/identify.ts';
import { type NormalizedPage, normalizePage, type PageSeries } from '../../src/engine/normalize.ts';
import type { EngineName, PollFailureReason } from '../../src/engine/types.ts';
import { unixTime } from '../../src/units.ts';

const FOLDER = new URL('../fixtures/pages/', import.meta.url);

/** A metrics page from test/fixtures/pages, e.g. `pageText('vllm-0.32.0-plain/metrics-idle')`. */
export const pageText = (name: string): string => readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8');

/** The names of all page fixtures. */
export const pageNames = (): readonly string[] =>
  readdirSync(fileURLToPath(FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -'.txt'.length));

export const everything = (): boolean => true;

/** A page as the poller gets it. */
export const parsedPage = (text: string): ExpositionPage =>
  parseExposition(text, { format: 'text', wants: wantedNames(true) });

/** What a fake `fetchPage` answers. */
export const fetched = (text: string): FetchedPage => ({
  ok: true,
  page: parsedPage(text),
  bytes: text.length,
  processStartSeconds: null,
  contentTypeOdd: false,
});

export const fetchFailed = (reason: PollFailureReason = 'connect'): FetchFailure => ({
  ok: false,
  reason,
  status: null,
  message: `made to fail: ${reason}`,
});

/** The table for a page that must have one. */
export function readerFor(page: ExpositionPage, expected: EngineName | null = null): PageReader {
  const found = identifyPage(page, expected);
  if (!isReadable(found)) throw new Error(`no table reads this page: ${found.why}`);
  return found;
}

/** A page under our own names, at a wall time soon after the recordings. */
export function normalized(text: string, options: { histograms?: boolean; now?: number } = {}): NormalizedPage {
  const page = parsedPage(text);
  return normalizePage(page, readerFor(page), {
    now: unixTime(options.now ?? 1_796_000_000),
    histograms: options.histograms ?? false,
  });
}

/** The series of a page that must have exactly one. */
export function onlySeries(page: NormalizedPage): PageSeries {
  const [series, ...others] = page.series;
  if (series === undefined || others.length > 0) throw new Error(`${page.series.length} series instead of one`);
  return series;
}

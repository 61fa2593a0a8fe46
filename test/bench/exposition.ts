import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { wantedNames } from '../../src/engine/dialects/names.ts';
import { parseExposition } from '../../src/engine/exposition.ts';
import { identifyPage, isReadable } from '../../src/engine/identify.ts';
import { normalizePage } from '../../src/engine/normalize.ts';
import { unixTime } from '../../src/units.ts';
import { everything, pageText } from '../support/pages.ts';

/** What reading one engine page costs; medians of many runs, in milliseconds. */
export interface ExpositionBench {
  readonly bytes: number;
  /** As the poller does it: only the wanted families are held. */
  readonly wantedMs: number;
  readonly wantedWithHistogramsMs: number;
  /** Every sample of the page held. */
  readonly everythingMs: number;
  /** Parsing, finding the table and normalising. */
  readonly wholePollMs: number;
  /** JSON.parse of the same lines as an array of strings: what the machine can do, for comparing machines. */
  readonly jsonMs: number;
}

const ROUNDS = 400;
const WARM_UP = 200;

function median(work: () => unknown): number {
  for (let round = 0; round < WARM_UP; round += 1) work();
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

function readWhole(text: string, wants: (name: string) => boolean): number {
  const page = parseExposition(text, { format: 'text', wants });
  const reader = identifyPage(page);
  if (!isReadable(reader)) throw new Error('the page of the bench is not read by any table');
  return normalizePage(page, reader, { now: unixTime(1_796_000_000), histograms: false }).series.length;
}

/** Reads a recorded page of vLLM 0.32 (55 KB) again and again. */
export function benchExposition(): ExpositionBench {
  const text = pageText('vllm-0.32.0-plain/metrics-load');
  const json = JSON.stringify(text.split('\n'));
  const [wanted, withHistograms] = [wantedNames(false), wantedNames(true)];
  return {
    bytes: Buffer.byteLength(text),
    wantedMs: median(() => parseExposition(text, { format: 'text', wants: wanted })),
    wantedWithHistogramsMs: median(() => parseExposition(text, { format: 'text', wants: withHistograms })),
    everythingMs: median(() => parseExposition(text, { format: 'text', wants: everything })),
    wholePollMs: median(() => readWhole(text, wanted)),
    jsonMs: median(() => JSON.parse(json)),
  };
}

function print(): void {
  const result = benchExposition();
  const line = (name: string, ms: number): string =>
    `${name.padEnd(34)} ${ms.toFixed(3)} ms  ${(ms / result.jsonMs).toFixed(1)} x JSON.parse\n`;
  process.stdout.write(
    `page of ${result.bytes} bytes, median of ${ROUNDS}\n${line('JSON.parse of the same lines', result.jsonMs)}` +
      line('wanted families', result.wantedMs) +
      line('wanted families and histograms', result.wantedWithHistogramsMs) +
      line('every sample', result.everythingMs) +
      line('parse, find the table, normalise', result.wholePollMs),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) print();

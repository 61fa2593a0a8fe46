import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { API_NAMES } from '../../src/probe/outcome.ts';
import { type Load, measureOurs, measurePython, PYTHON_CLIENTS, pythonClients } from './accuracy.ts';
import { API_STREAMS } from './api-streams.ts';
import { type Footprint, measureFootprint } from './footprint.ts';
import { measurePageReading } from './page-reading.ts';
import { type AccuracyRow, type BenchResults, renderReport } from './report.ts';

/**
 * `npm run bench`: measures what docs/benchmarks.md says and writes it anew. A quarter of an hour on an idle machine;
 * on a busy one the figures are the machine's, not the program's. `--quick` measures everything briefly and prints
 * the report without writing it.
 */
const quick = process.argv.includes('--quick');
const PAGE = new URL('../fixtures/bench/vllm-0.32.0-metrics.txt', import.meta.url).pathname;
const REPORT = new URL('../../docs/benchmarks.md', import.meta.url).pathname;
const seconds = quick ? 3 : 15;

const load = (streams: number): Load => ({ streams, seconds, tokens: 48, firstTokenMs: 100, gapMs: 20 });
const say = (what: string): void => console.error(`bench: ${what}`);

async function accuracyRows(): Promise<AccuracyRow[]> {
  const rows: AccuracyRow[] = [];
  for (const streams of [1, 32, 200]) {
    for (const page of [undefined, PAGE]) {
      const what = page === undefined ? 'nothing' : 'poll and scrape every second';
      say(`${streams} streams, beside them ${what}`);
      rows.push({ name: String(streams), note: what, accuracy: await measureOurs(load(streams), 'chat', page) });
    }
  }
  return rows;
}

async function apiRows(): Promise<AccuracyRow[]> {
  const rows: AccuracyRow[] = [];
  for (const api of API_NAMES.filter((name) => API_STREAMS.some((stream) => stream.api === name))) {
    say(`API ${api}`);
    rows.push({ name: api, note: '', accuracy: await measureOurs(load(4), api) });
  }
  return rows;
}

async function peerRows(): Promise<AccuracyRow[]> {
  const rows: AccuracyRow[] = [];
  const venv = pythonClients();
  for (const streams of [32, 200]) {
    say(`peers, ${streams} streams`);
    rows.push({ name: 'inference-probe', note: String(streams), accuracy: await measureOurs(load(streams)) });
    for (const client of PYTHON_CLIENTS) {
      rows.push({ name: client, note: String(streams), accuracy: await measurePython(venv, client, load(streams)) });
    }
  }
  return rows;
}

/** Node as the image ships it, where the package is to be had; else null. */
function imageNode(): string | null {
  try {
    const script = new URL('./install/node.sh', import.meta.url).pathname;
    return execFileSync('bash', [script], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

async function footprints(): Promise<Footprint[]> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const found: Footprint[] = [];
  for (const node of [process.execPath, imageNode()]) {
    if (node === null) continue;
    say(`footprint on ${node}`);
    found.push(await measureFootprint(node, PAGE, quick ? 5 : 45));
  }
  return found;
}

const results: BenchResults = {
  accuracy: await accuracyRows(),
  apis: await apiRows(),
  peers: await peerRows(),
  footprints: await footprints(),
  page: measurePageReading(PAGE),
  quick,
};
const report = renderReport(results);
if (quick) console.log(report);
else writeFileSync(REPORT, report);

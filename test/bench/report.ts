import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import type { Footprint } from './footprint.ts';
import type { PageReading } from './page-reading.ts';
import type { Accuracy } from './stamps.ts';
import type { Distribution } from './statistics.ts';

export interface AccuracyRow {
  readonly name: string;
  readonly note: string;
  readonly accuracy: Accuracy;
}

export interface BenchResults {
  readonly accuracy: readonly AccuracyRow[];
  readonly apis: readonly AccuracyRow[];
  readonly peers: readonly AccuracyRow[];
  readonly footprints: readonly Footprint[];
  readonly page: PageReading;
  readonly quick: boolean;
}

const loadAtStart = loadavg()[0] ?? 0;

const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
const spread = ({ p50, p99, max }: Distribution): string => `${ms(p50)} / ${ms(p99)} / ${ms(max)}`;
const mebibytes = (value: number): string => value.toFixed(1);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function firstLine(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { encoding: 'utf8' }).split('\n')[0] ?? '';
}

function machine(): string {
  const [cpu] = cpus();
  const version = (
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  ).version;
  return [
    `- Command: \`npm run bench\`, ${new Date().toISOString().slice(0, 10)}, version ${version} at ${firstLine('git', 'rev-parse', '--short=12', 'HEAD')}.`,
    `- Machine: ${cpus().length} x ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; a virtual machine, everything over loopback, server and client sharing its cores. Load average of other work at the start ${loadAtStart.toFixed(1)}: with 2 or more, the high quantiles are the scheduler's.`,
    `- Node ${process.version}; ${firstLine('python3', '--version')} with aiohttp and httpx of \`test/bench/install/python-clients.sh\`.`,
  ].join('\n');
}

const accuracyCells = ({ accuracy }: AccuracyRow): string[] => [
  spread(accuracy.firstTokenMs),
  spread(accuracy.tokenMs),
  spread(accuracy.gapMs),
];

function peerCells(row: AccuracyRow, ours: AccuracyRow | undefined): string[] {
  const { accuracy } = row;
  const ratio = accuracy.cpuMicrosecondsPerEvent / (ours?.accuracy.cpuMicrosecondsPerEvent ?? Number.NaN);
  return [
    row.name,
    row.note,
    ...accuracyCells(row),
    accuracy.cpuMicrosecondsPerEvent.toFixed(0),
    ratio.toFixed(2),
    String(accuracy.merged),
  ];
}

function footprintRows(footprints: readonly Footprint[]): string[][] {
  return footprints.flatMap((footprint) =>
    (['idle', 'probing'] as const).map((state) => [
      footprint.node,
      state,
      mebibytes(footprint[state].residentMiB),
      mebibytes(footprint[state].anonymousMiB),
      footprint[state].cpuPercent.toFixed(2),
      footprint.readyMs.toFixed(0),
      spread(footprint.scrapeMs),
    ]),
  );
}

interface Target {
  readonly what: string;
  readonly wanted: number;
  readonly measured: number | undefined;
  readonly unit: string;
}

/** What the design asks for, each from the measurement that it is about. */
function targets({ accuracy, footprints, page }: BenchResults): readonly Target[] {
  const one = accuracy.find((row) => row.name === '1' && row.note !== 'nothing')?.accuracy;
  const image = footprints.find((footprint) => footprint.node.startsWith('v24'));
  return [
    { what: 'first token, median, one stream, scraped', wanted: 0.3, measured: one?.firstTokenMs.p50, unit: 'ms' },
    { what: 'first token, p99, one stream, scraped', wanted: 1, measured: one?.firstTokenMs.p99, unit: 'ms' },
    { what: 'gaps, p99, one stream, scraped', wanted: 1, measured: one?.gapMs.p99, unit: 'ms' },
    { what: '/metrics, median', wanted: 3, measured: image?.scrapeMs.p50, unit: 'ms' },
    { what: 'reading a full vLLM page, median', wanted: 2, measured: page.milliseconds.p50, unit: 'ms' },
    { what: 'ready, Node 24', wanted: 300, measured: image?.readyMs, unit: 'ms' },
    { what: 'resident, probing, Node 24', wanted: 95, measured: image?.probing.residentMiB, unit: 'MiB' },
    { what: 'anonymous, probing, Node 24', wanted: 40, measured: image?.probing.anonymousMiB, unit: 'MiB' },
    { what: 'processor, probing, Node 24', wanted: 1, measured: image?.probing.cpuPercent, unit: '% of a core' },
  ];
}

function targetCells({ what, wanted, measured, unit }: Target): string[] {
  if (measured === undefined) return [what, `${wanted} ${unit}`, 'not measured here', ''];
  return [what, `${wanted} ${unit}`, `${ms(measured)} ${unit}`, measured <= wanted ? 'yes' : 'no'];
}

/** The whole of docs/benchmarks.md. */
export function renderReport(results: BenchResults): string {
  const { accuracy, apis, peers, footprints, page } = results;
  const oursAt = (note: string): AccuracyRow | undefined =>
    peers.find((row) => row.name === 'inference-probe' && row.note === note);
  const distributions = ['first token p50 / p99 / max ms', 'every token', 'gaps'];
  return `# Benchmarks

${machine()}

A scripted server in a process of its own stamps CLOCK_MONOTONIC into its records just before it writes a token. Error
is the client's stamp of the same token minus the server's: the server's write, the kernel, and the client's own
delay together, so it bounds the client's delay from above. A gap's error is the absolute difference between the gap as
the client and as the server had it. 48 tokens a stream, the first after 50 to 150 ms, then one every 20 ms; each
stream asks again as soon as it is answered, and the streams begin one after the other. Every client has run for 10 s
before it is measured. Quantiles are nearest rank.

## Against what is aimed for

${table(['quantity', 'at most', 'measured', 'met'], targets(results).map(targetCells))}

## Error of the probe's stamps

${table(
  ['streams', 'beside them', ...distributions, 'tokens'],
  accuracy.map((row) => [row.name, row.note, ...accuracyCells(row), String(row.accuracy.events)]),
)}

## The same for each API

Four streams.

${table(
  ['API', ...distributions],
  apis.map((row) => [row.name, ...accuracyCells(row)]),
)}

## Beside two Python clients

The same work in one run, one after another: the same server, prompts, streams and parsing of every event.
Processor time is that of the client's process over the run, per token event.

${table(
  ['client', 'streams', ...distributions, 'CPU µs an event', 'of ours', 'streams seen merged'],
  peers.map((row) => peerCells(row, oursAt(row.note))),
)}

What the load generator costs, and how true it and others are, on the same work and on vLLM, with the aims that it meets
and those that it does not: [benchmarks-peers.md](benchmarks-peers.md).

## Footprint of the shipped bundle

With the image's options of Node. One target, a poll of a full vLLM page every second, the two default profiles every 10 s when probing, a scrape every
15 s; idle is the same with probes paused. Processor time in percent of one core. ${footprints[0]?.series ?? 0} series.

${table(['Node', 'state', 'resident MiB', 'anonymous MiB', 'CPU %', 'ready ms', '/metrics p50 / p99 / max ms'], footprintRows(footprints))}

## Reading the engine's page

${page.bytes} bytes, ${page.samples} samples of a vLLM 0.32.0: parsed and normalised in ${spread(page.milliseconds)} ms (p50 / p99 / max).
`;
}

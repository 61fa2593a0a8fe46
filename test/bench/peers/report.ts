import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import type { PeerRun } from './measure.ts';
import type { Load, VllmRun } from './vllm.ts';

/** Everything that was measured of one client. */
export interface PeerResult {
  readonly name: string;
  readonly note: string;
  /** A short and a long run: what lies between them is without the start of the program. */
  readonly short: PeerRun;
  readonly long: PeerRun;
  /** Ascending numbers of streams, up to the first that is beyond the widest limit. */
  readonly ramp: readonly PeerRun[];
}

export interface PeerResults {
  readonly peers: readonly PeerResult[];
  readonly vllm: readonly VllmRun[];
  readonly vllmLoad: Load;
  readonly missing: readonly string[];
  readonly limitsMs: readonly number[];
  /** Tokens of each answer while the streams are doubled. */
  readonly rampTokens: number;
  readonly command: string;
}

const loadAtStart = loadavg()[0] ?? 0;

const ms = (value: number | null): string => {
  if (value === null || Number.isNaN(value)) return '–';
  return value.toFixed(value < 10 ? 2 : 1);
};
const count = (value: number | null): string => (value === null ? '–' : Math.round(value).toLocaleString('en-US'));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A word about the machine is not worth the loss of half an hour's measurements. */
function firstLine(command: string, ...args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8' }).split('\n')[0] ?? '';
  } catch {
    return 'unknown';
  }
}

/** Events for a second of processor time, without the start of the program; null when the two runs cannot tell. */
function eventsPerCpuSecond({ short, long }: Pick<PeerResult, 'short' | 'long'>): number | null {
  const [events, cpu] = [long.events - short.events, long.cpuSeconds - short.cpuSeconds];
  return events > 0 && cpu > 0 ? events / cpu : null;
}

/** The most streams at which the error at p99 stayed within the limit. */
function streamsHeld({ ramp }: PeerResult, limitMs: number): string {
  const held = ramp.filter((run) => run.ttftErrorMs.p99 <= limitMs).at(-1);
  if (held === undefined) return 'none';
  return held === ramp.at(-1) ? `${held.streams} (the most that was tried)` : String(held.streams);
}

function costRow(result: PeerResult, baseline: number | null): string[] {
  const own = eventsPerCpuSecond(result);
  const start = own === null ? null : result.short.cpuSeconds - result.short.events / own;
  return [
    result.name,
    count(own),
    own === null || baseline === null ? '–' : (own / baseline).toFixed(2),
    count(result.long.events / result.long.cpuSeconds),
    start === null ? '–' : start.toFixed(1),
  ];
}

function truthRow({ name, long }: PeerResult): string[] {
  const { reported, truth, ttftErrorMs } = long;
  const beside = (said: number | null | undefined, real: number, show = ms): string =>
    `${show(said ?? null)} / ${show(real)}`;
  return [
    name,
    beside(reported?.requests, truth.requests, count),
    beside(reported?.outputTokens, truth.outputTokens, count),
    beside(reported?.ttftP50Ms, truth.ttftMs.p50),
    beside(reported?.ttftP99Ms, truth.ttftMs.p99),
    beside(reported?.tpotP50Ms, truth.tpotMs.p50),
    `${ms(ttftErrorMs.p50)} / ${ms(ttftErrorMs.p99)}`,
  ];
}

/** What one worker is to be, in events a CPU-second, as multiples of others. */
const AIMS = [
  { name: 'plain aiohttp', times: 2 },
  { name: 'loadgen.py', times: 20 },
  { name: 'plain httpx', times: 20 },
] as const;
const OURS = 'inference-probe load';

function aimRows(peers: readonly PeerResult[]): string[][] {
  const rate = (wanted: string): number | null => {
    const result = peers.find(({ name }) => name === wanted);
    return result === undefined ? null : eventsPerCpuSecond(result);
  };
  const own = rate(OURS);
  return AIMS.flatMap(({ name, times }) => {
    const other = rate(name);
    if (own === null || other === null) return [];
    return [[name, `${times} times`, `${(own / other).toFixed(1)} times`, own / other >= times ? 'yes' : 'no']];
  });
}

function rampTable({ peers, limitsMs }: PeerResults): string {
  const streams = [...new Set(peers.flatMap(({ ramp }) => ramp.map((run) => run.streams)))].sort((a, b) => a - b);
  return table(
    ['client', ...limitsMs.map((limit) => `within ${limit} ms`), ...streams.map((number) => `p50 / p99 at ${number}`)],
    peers.map((result) => [
      result.name,
      ...limitsMs.map((limit) => streamsHeld(result, limit)),
      ...streams.map((number) => {
        const error = result.ramp.find((run) => run.streams === number)?.ttftErrorMs;
        return error === undefined ? '–' : `${ms(error.p50)} / ${ms(error.p99)}`;
      }),
    ]),
  );
}

function vllmRow({ name, client, engine }: VllmRun): string[] {
  const tpot = client.tpotMs === null || engine.tpotMs === null ? null : client.tpotMs / engine.tpotMs;
  return [
    name,
    `${count(client.requests)} / ${count(engine.requests)}`,
    `${client.outputTokens.toFixed(2)} / ${engine.outputTokens.toFixed(2)}`,
    `${ms(client.ttftMs)} / ${ms(engine.ttftMs)}`,
    ms(client.ttftMs - engine.ttftMs),
    `${ms(client.tpotMs)} / ${ms(engine.tpotMs)}`,
    tpot === null ? '–' : tpot.toFixed(3),
  ];
}

function vllmSection({ vllm, vllmLoad: { streams, seconds, tokens } }: PeerResults): string {
  if (vllm.length === 0) return '';
  return `## On a real vLLM

${streams} streams for ${seconds} s of ${tokens} tokens each, against one vLLM on the processor with a tiny model of random weights. What
the client says of the requests that it keeps, those before its window included / what the engine's own counters and
histograms say of all that the client sent. Means over requests, milliseconds. A client's TTFT holds the way through HTTP
and the engine's front end, so it lies above the engine's. A client that forgets some of its requests describes a
slightly different load. The engine yields the processor to the client, so one that uses much of it slows the engine down.

${table(
  ['client', 'requests', 'output tokens a request', 'TTFT', 'above the engine', 'TPOT', 'of the engine'],
  vllm.map(vllmRow),
)}
`;
}

function machine(command: string): string {
  const [cpu] = cpus();
  return [
    `- Command: \`${command}\`, ${new Date().toISOString().slice(0, 10)}, at ${firstLine('git', 'rev-parse', '--short=12', 'HEAD')}.`,
    `- Machine: ${cpus().length} x ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; everything over loopback, server and client sharing its cores. Load average of other work at the start ${loadAtStart.toFixed(1)}: with 2 or more, errors and streams held are the scheduler's.`,
    `- Node ${process.version}; ${firstLine('python3', '--version')}; versions of the others in \`test/bench/install/\`.`,
  ].join('\n');
}

/** The whole of docs/benchmarks-peers.md. */
export function renderPeers(results: PeerResults): string {
  const { peers, missing, limitsMs, rampTokens } = results;
  const aiohttp = peers.find(({ name }) => name === 'plain aiohttp');
  const baseline = aiohttp === undefined ? null : eventsPerCpuSecond(aiohttp);
  const [first] = peers;
  return `# Beside other load generators

${machine(results.command)}
${missing.map((name) => `- Not measured: ${name}.\n`).join('')}
One after another against the same scripted server, each run against a process of its own: 48 tokens an answer, the
first after 50 to 150 ms, then one every 20 ms; a closed loop. The server stamps the arrival of each request and each
token just before it writes it.

${peers.map(({ name, note }) => `- ${name}: ${note}.`).join('\n')}

## Processor time

User and system time of all processes of the client. Of two runs, of ${first?.short.seconds} and ${first?.long.seconds} s with ${first?.long.streams} streams, the
difference is taken: that is without the start of the program, which is told beside it. An event is one streamed token.

${table(
  ['client', 'events a CPU-second', 'by plain aiohttp', 'with its start', 'start, CPU-seconds'],
  peers.map((result) => costRow(result, baseline)),
)}

One worker of \`${OURS}\` by what is aimed for:

${table(['beside', 'at least', 'measured', 'met'], aimRows(peers))}

## What each says of the same truth

${first?.long.streams} streams for ${first?.long.seconds} s. What the client reports / what the server stamped for the requests that the client counts:
each has rules of its own for what belongs to its window. TTFT of the server: from the arrival of the request to the
first token. Milliseconds. The last column is the difference for each single request after the first two seconds of a
client: the way of the request, and the delay of both sides. The plain clients report nothing by themselves.

${table(
  ['client', 'requests', 'output tokens', 'TTFT p50', 'TTFT p99', 'TPOT (ITL) p50', 'error of a TTFT p50 / p99'],
  peers.map(truthRow),
)}

## Streams held

The most streams at which the error of a TTFT is within each limit at p99. Answers of ${rampTokens} tokens; the number of streams
is doubled until the error is beyond ${Math.max(...limitsMs)} ms twice in a row. Milliseconds. The error holds the delay of the server's own
write and of a machine that runs both, too, and with 4 streams p99 is nearly the largest of some hundred requests.

${rampTable(results)}

${vllmSection(results)}
## Limits

- The server is one process of Node on the same machine: with many streams it is late itself, and its cores are missing
  to the client. The figures compare clients; they are not a capacity.
- loadgen.py speaks completions, whose events are a few bytes shorter.
- Requests of inference-probe load and guidellm carry no id: they are found in the server's stamps by when they began
  and ended.
`;
}

import { join } from 'node:path';
import { here, type Peer, PROMPT_TOKENS, readJson, type Timed } from './clients.ts';
import type { Pair } from './match.ts';

interface PythonStream {
  readonly id: string;
  readonly sent: string;
  readonly arrivals: readonly string[];
}
interface PythonResult {
  readonly streams: readonly PythonStream[];
  /** Those before its clock started. */
  readonly warmUp: readonly PythonStream[];
}

const since = (from: string, to: string): number => Number(BigInt(to) - BigInt(from)) / 1e9;

function timed({ id, sent, arrivals }: PythonStream): (Pair & Timed)[] {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined) return [];
  const tpotSeconds = arrivals.length > 1 ? since(first, last) / (arrivals.length - 1) : null;
  return [{ id, ttftSeconds: since(sent, first), tpotSeconds, outputTokens: arrivals.length }];
}

/** A client of a few lines. It reports nothing by itself. */
export function plainPython(venv: string, name: 'aiohttp' | 'httpx'): Peer {
  return {
    name: `plain ${name}`,
    note: 'chat; 10 s before its clock starts',
    environment: {},
    command: ({ url, streams, seconds, tokens }) => [
      join(venv, 'bin', 'python'),
      here(`../python/${name}_client.py`),
      ...[url, String(streams), String(seconds), String(tokens)],
    ],
    read(_, out) {
      const { streams, warmUp } = JSON.parse(out) as PythonResult;
      return {
        reported: null,
        requests: [...warmUp, ...streams].flatMap(timed),
        pairs: () => streams.flatMap(timed),
      };
    },
  };
}

interface LoadgenSummary {
  readonly ok: number;
  readonly ttft_p50: number;
  readonly ttft_p99: number;
  readonly tpot_p50: number | null;
}

/** A load generator of one file that is given: asks by `one_request(client, url, ...)`, and by the flags of `load`. */
export function loadgen(venv: string, script: string): Peer {
  return {
    name: 'loadgen.py',
    note: 'completions, on httpx; no warm-up',
    environment: {},
    command: ({ url, streams, seconds, tokens }, folder) => [
      ...[join(venv, 'bin', 'python'), here('./with_ids.py'), script, join(folder, 'requests.json')],
      ...['--url', url, '--model', 'bench', '-c', String(streams), '-d', String(seconds)],
      ...['--in-tokens', String(PROMPT_TOKENS), '--max-out', String(tokens), '--no-metrics', '--json'],
    ],
    read(folder, out) {
      const summary = JSON.parse(out) as LoadgenSummary;
      const requests = readJson(join(folder, 'requests.json')) as readonly (Pair & Timed)[];
      return {
        reported: {
          requests: summary.ok,
          outputTokens: requests.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
          ttftP50Ms: summary.ttft_p50 * 1000,
          ttftP99Ms: summary.ttft_p99 * 1000,
          tpotP50Ms: summary.tpot_p50 === null ? null : summary.tpot_p50 * 1000,
        },
        requests,
        pairs: () => requests,
      };
    },
  };
}

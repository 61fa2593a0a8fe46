import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRun } from '../../../src/experiment/read-run.ts';
import type { Summary } from '../../../src/experiment/summary-types.ts';
import { tinyModel } from '../../engines/support/tiny-model.ts';
import type { ServerStamps } from '../stamps.ts';
import { type Pair, pairByTime, type Recorded } from './match.ts';

/** The figures that a client itself gives for what it counts; null: it gives none. */
export interface Reported {
  readonly requests: number;
  readonly outputTokens: number | null;
  readonly ttftP50Ms: number | null;
  readonly ttftP99Ms: number | null;
  /** By whatever name: (last − first) / (tokens − 1). */
  readonly tpotP50Ms: number | null;
}

/** What a run of a client left. */
export interface Outcome {
  readonly reported: Reported | null;
  /** The requests that it counts, found again in the server's stamps. */
  pairs(server: ServerStamps): readonly Pair[];
}

export interface PeerLoad {
  readonly url: string;
  readonly streams: number;
  readonly seconds: number;
  readonly tokens: number;
}

export interface Peer {
  readonly name: string;
  /** What its command line is, and which API it speaks, for the report. */
  readonly note: string;
  readonly environment: Readonly<Record<string, string>>;
  command(load: PeerLoad, folder: string): readonly string[];
  read(folder: string, out: string): Outcome;
}

const here = (name: string): string => new URL(name, import.meta.url).pathname;
const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const PROMPT_TOKENS = 64;

/** The shipped program, with one or more workers. */
export function ours(bundle: string, workers: number): Peer {
  return {
    name: workers === 1 ? 'inference-probe load' : `inference-probe load, ${workers} workers`,
    note: 'chat; a warm-up of at most 2 s, and a sixth of the window trimmed at each end',
    environment: {},
    command: ({ url, streams, seconds, tokens }, folder) => [
      ...[process.execPath, bundle, 'load', '--url', url, '--model', 'bench', '--api', 'chat', '--engine', 'vllm'],
      ...['-c', String(streams), '-d', String(seconds), '--warmup', '2', '--in-tokens', String(PROMPT_TOKENS)],
      ...['--max-out', String(tokens), '--no-metrics', '--json', '--yes'],
      ...['--workers', String(Math.min(workers, streams)), '--out', join(folder, 'run')],
    ],
    read(folder, out) {
      const summary = JSON.parse(out) as Summary;
      const records = readRun(join(folder, 'run')).requests.flatMap((record): (Recorded & { counted: boolean })[] =>
        record.sentAtSeconds === null || record.ttftSeconds === null
          ? []
          : [
              {
                sentAt: record.sentAtSeconds,
                endedAt: record.endedAtSeconds,
                ttftSeconds: record.ttftSeconds,
                outputTokens: record.outputTokens ?? 0,
                counted:
                  record.phase === 'window' &&
                  record.sentAtSeconds >= summary.window.fromSeconds &&
                  record.sentAtSeconds < summary.window.toSeconds,
              },
            ],
      );
      const counted = records.filter((record) => record.counted);
      const { ttft, tpot } = summary;
      const ms = (value: number | null): number | null => (value === null ? null : value * 1000);
      return {
        reported: {
          requests: summary.requests.good,
          outputTokens: counted.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
          ttftP50Ms: ms(ttft.withoutFailures.p50.seconds),
          ttftP99Ms: ms(ttft.withoutFailures.p99.seconds),
          tpotP50Ms: ms(tpot.withoutFailures.p50.seconds),
        },
        pairs: (server) => pairByTime(records, server).filter((pair) => pair.counted),
      };
    },
  };
}

interface PythonResult {
  readonly streams: readonly { readonly id: string; readonly arrivals: readonly string[] }[];
}

/** A client of a few lines. It stamps arrivals on the clock of the server and reports nothing by itself. */
export function plainPython(venv: string, name: 'aiohttp' | 'httpx'): Peer {
  return {
    name: `plain ${name}`,
    note: 'chat; one round before its clock starts',
    environment: {},
    command: ({ url, streams, seconds, tokens }) => [
      join(venv, 'bin', 'python'),
      here(`../python/${name}_client.py`),
      ...[url, String(streams), String(seconds), String(tokens)],
    ],
    read(_, out) {
      const { streams } = JSON.parse(out) as PythonResult;
      return {
        reported: null,
        pairs: (server) =>
          streams.flatMap(({ id, arrivals }) => {
            const received = server[id]?.received;
            const [first] = arrivals;
            if (received === undefined || first === undefined) return [];
            const ttftSeconds = Number(BigInt(first) - BigInt(received)) / 1e9;
            return [{ id, ttftSeconds, outputTokens: arrivals.length }];
          }),
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
      const pairs = json(join(folder, 'requests.json')) as readonly Pair[];
      return {
        reported: {
          requests: summary.ok,
          outputTokens: pairs.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
          ttftP50Ms: summary.ttft_p50 * 1000,
          ttftP99Ms: summary.ttft_p99 * 1000,
          tpotP50Ms: summary.tpot_p50 === null ? null : summary.tpot_p50 * 1000,
        },
        pairs: () => pairs,
      };
    },
  };
}

const TOKENIZER = 'bench/tiny';
const REVISION = '0'.repeat(40);

/** A tokenizer where a Python library looks for one that it fetched before: nothing is fetched here. */
function tokenizerCache(venv: string): string {
  const cache = join(venv, 'tokenizers');
  const folder = join(cache, `models--${TOKENIZER.replace('/', '--')}`);
  if (existsSync(folder)) return cache;
  mkdirSync(join(folder, 'refs'), { recursive: true });
  writeFileSync(join(folder, 'refs', 'main'), REVISION);
  cpSync(tinyModel(venv), join(folder, 'snapshots', REVISION), { recursive: true });
  return cache;
}

const offline = (venv: string): Readonly<Record<string, string>> => ({
  HF_HUB_CACHE: tokenizerCache(venv),
  HF_HUB_OFFLINE: '1',
  DO_NOT_TRACK: '1',
});

interface AiperfFigure {
  readonly avg: number;
  readonly p50?: number;
  readonly p99?: number;
}
interface AiperfRecord {
  readonly metadata: { readonly x_request_id: string; readonly benchmark_phase: string };
  readonly metrics: Readonly<Record<string, { readonly value: number } | undefined>>;
}

export function aiperf(venv: string): Peer {
  return {
    name: 'aiperf',
    note: 'chat; its default processes; warm-up of one request a stream',
    environment: offline(venv),
    command: ({ url, streams, seconds, tokens }, folder) => [
      ...[join(venv, 'bin', 'aiperf'), 'profile', '-m', 'bench', '--url', url, '--endpoint-type', 'chat'],
      ...['--streaming', '--tokenizer', TOKENIZER, '--use-server-token-count', '--ui', 'none'],
      ...['--concurrency', String(streams), '--benchmark-duration', String(seconds)],
      ...['--warmup-request-count', String(streams), '--synthetic-input-tokens-mean', String(PROMPT_TOKENS)],
      ...['--output-tokens-mean', String(tokens), '--output-artifact-dir', folder],
    ],
    read(folder) {
      const summary = json(join(folder, 'profile_export_aiperf.json')) as Readonly<
        Record<string, AiperfFigure | undefined>
      >;
      const records = readFileSync(join(folder, 'profile_export.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AiperfRecord);
      const pairs = records.flatMap(({ metadata, metrics }): Pair[] => {
        const ttft = metrics.time_to_first_token?.value;
        if (metadata.benchmark_phase !== 'profiling' || ttft === undefined) return [];
        const outputTokens = metrics.output_sequence_length?.value ?? 0;
        return [{ id: metadata.x_request_id, ttftSeconds: ttft / 1000, outputTokens }];
      });
      return {
        reported: {
          requests: summary.request_count?.avg ?? 0,
          outputTokens: summary.total_output_tokens?.avg ?? null,
          ttftP50Ms: summary.time_to_first_token?.p50 ?? null,
          ttftP99Ms: summary.time_to_first_token?.p99 ?? null,
          tpotP50Ms: summary.inter_token_latency?.p50 ?? null,
        },
        pairs: () => pairs,
      };
    },
  };
}

interface GuidellmFigure {
  readonly successful: { readonly median: number; readonly percentiles: { readonly p99: number } };
}
interface GuidellmReport {
  readonly benchmarks: readonly {
    readonly metrics: Readonly<Record<'time_to_first_token_ms' | 'inter_token_latency_ms', GuidellmFigure>>;
    readonly requests: {
      readonly successful: readonly {
        readonly request_start_time: number;
        readonly request_end_time: number;
        readonly time_to_first_token_ms: number;
        readonly output_tokens: number;
      }[];
    };
  }[];
}

export function guidellm(venv: string): Peer {
  return {
    name: 'guidellm',
    note: 'chat; its default processes; no warm-up',
    environment: offline(venv),
    command: ({ url, streams, seconds, tokens }, folder) => [
      ...[join(venv, 'bin', 'guidellm'), 'run', '--backend', `kind=openai_http,target=${url},model=bench`],
      ...['--profile', `kind=concurrent,streams=${streams}`, '--constraint', `kind=max_duration,seconds=${seconds}`],
      ...['--tokenizer', `kind=hf_auto,model=${tinyModel(venv)}`],
      ...['--data', `kind=synthetic_text,prompt_tokens=${PROMPT_TOKENS},output_tokens=${tokens}`],
      ...['--output', `kind=json,path=${join(folder, 'report.json')}`, '--disable-console'],
    ],
    read(folder) {
      const [benchmark] = (json(join(folder, 'report.json')) as GuidellmReport).benchmarks;
      if (benchmark === undefined) throw new Error('guidellm reported no benchmark');
      const { metrics, requests } = benchmark;
      const records = requests.successful.map((request) => ({
        sentAt: request.request_start_time,
        endedAt: request.request_end_time,
        ttftSeconds: request.time_to_first_token_ms / 1000,
        outputTokens: request.output_tokens,
      }));
      return {
        reported: {
          requests: records.length,
          outputTokens: records.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
          ttftP50Ms: metrics.time_to_first_token_ms.successful.median,
          ttftP99Ms: metrics.time_to_first_token_ms.successful.percentiles.p99,
          tpotP50Ms: metrics.inter_token_latency_ms.successful.median,
        },
        pairs: (server) => pairByTime(records, server),
      };
    },
  };
}

/** The path that an install script prints; null, said loudly, when it cannot be had. */
export function installed(script: string, ...args: readonly string[]): string | null {
  try {
    return execFileSync('bash', [here(`../install/${script}`), ...args], { encoding: 'utf8' }).trim();
  } catch {
    console.error(`SKIPPED: ${[script, ...args].join(' ')} did not succeed`);
    return null;
  }
}

export function temporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-peers-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

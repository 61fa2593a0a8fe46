import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Peer, PROMPT_TOKENS, readJson, type Timed } from './clients.ts';
import type { Pair } from './match.ts';
import { offline, TOKENIZER } from './tokenizer.ts';

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
      const summary = readJson(join(folder, 'profile_export_aiperf.json')) as Readonly<
        Record<string, AiperfFigure | undefined>
      >;
      const records = readFileSync(join(folder, 'profile_export.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as AiperfRecord);
      const requests = records.flatMap(({ metadata, metrics }): (Pair & Timed & { counted: boolean })[] => {
        const ttft = metrics.time_to_first_token?.value;
        if (ttft === undefined) return [];
        const outputTokens = metrics.output_sequence_length?.value ?? 0;
        const gap = metrics.inter_token_latency?.value;
        const tpotSeconds = gap === undefined ? null : gap / 1000;
        const counted = metadata.benchmark_phase === 'profiling';
        return [{ id: metadata.x_request_id, ttftSeconds: ttft / 1000, tpotSeconds, outputTokens, counted }];
      });
      return {
        reported: {
          requests: summary.request_count?.avg ?? 0,
          outputTokens: summary.total_output_tokens?.avg ?? null,
          ttftP50Ms: summary.time_to_first_token?.p50 ?? null,
          ttftP99Ms: summary.time_to_first_token?.p99 ?? null,
          tpotP50Ms: summary.inter_token_latency?.p50 ?? null,
        },
        requests,
        pairs: () => requests.filter(({ counted }) => counted),
      };
    },
  };
}

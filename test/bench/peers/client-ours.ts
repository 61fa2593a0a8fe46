import { join } from 'node:path';
import { readRun } from '../../../src/experiment/read-run.ts';
import type { Summary } from '../../../src/experiment/summary-types.ts';
import { type Peer, PROMPT_TOKENS, type Timed } from './clients.ts';
import { pairByTime, type Recorded } from './match.ts';

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
      const records = readRun(join(folder, 'run')).requests.flatMap(
        (record): (Recorded & Timed & { counted: boolean })[] =>
          record.sentAtSeconds === null || record.ttftSeconds === null
            ? []
            : [
                {
                  sentAt: record.sentAtSeconds,
                  endedAt: record.endedAtSeconds,
                  ttftSeconds: record.ttftSeconds,
                  tpotSeconds: record.tpotSeconds,
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
        requests: records,
        pairs: (server) => pairByTime(records, server).filter((pair) => pair.counted),
      };
    },
  };
}

import { join } from 'node:path';
import { tinyModel } from '../../engines/support/tiny-model.ts';
import { type Peer, PROMPT_TOKENS, readJson } from './clients.ts';
import { pairByTime } from './match.ts';
import { offline } from './tokenizer.ts';

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
        readonly inter_token_latency_ms: number | null;
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
      const [benchmark] = (readJson(join(folder, 'report.json')) as GuidellmReport).benchmarks;
      if (benchmark === undefined) throw new Error('guidellm reported no benchmark');
      const { metrics, requests } = benchmark;
      const records = requests.successful.map((request) => ({
        sentAt: request.request_start_time,
        endedAt: request.request_end_time,
        ttftSeconds: request.time_to_first_token_ms / 1000,
        tpotSeconds: request.inter_token_latency_ms === null ? null : request.inter_token_latency_ms / 1000,
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
        requests: records,
        pairs: (server) => pairByTime(records, server),
      };
    },
  };
}

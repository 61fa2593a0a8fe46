import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { startProcess } from './processes.ts';

export interface QuerySample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface RunningPrometheus {
  readonly url: string;
  /** An instant query, now or at a unix time. */
  query(expression: string, at?: number): Promise<readonly QuerySample[]>;
  stop(): Promise<void>;
}

interface QueryAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
  };
}

/** A Prometheus on a free port with a temporary data folder that scrapes `hostPort` every `everySeconds`. */
export async function startPrometheus(
  program: string,
  hostPort: string,
  everySeconds: number,
): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-prometheus-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(
    join(folder, 'prometheus.yml'),
    [
      `global: { scrape_interval: ${everySeconds}s, evaluation_interval: ${everySeconds}s, scrape_timeout: ${everySeconds}s }`,
      'scrape_configs:',
      '  - job_name: inference-probe-exporter',
      `    static_configs: [{ targets: ["${hostPort}"] }]`,
      '',
    ].join('\n'),
  );
  const process = await startProcess({
    name: 'prometheus',
    command: program,
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    ready: async () => (await fetch(`${url}/-/ready`)).ok,
    readySeconds: 60,
  });
  const query = async (expression: string, at?: number): Promise<readonly QuerySample[]> => {
    const parameters = new URLSearchParams({ query: expression, ...(at === undefined ? {} : { time: String(at) }) });
    const answer = (await (await fetch(`${url}/api/v1/query?${parameters}`)).json()) as QueryAnswer;
    if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error ?? answer.status}`);
    return answer.data.result.map((sample) => ({ metric: sample.metric, value: Number(sample.value[1]) }));
  };
  const stop = async (): Promise<void> => {
    await process.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, query, stop };
}

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningProcess, startProcess } from '../../engines/support/processes.ts';
import { freePort } from '../../support/ports.ts';
import { root } from './programs.ts';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [number, number])[];
}

export interface Monitoring {
  readonly prometheusUrl: string;
  readonly alertmanagerUrl: string;
  query(expression: string): Promise<readonly Series[]>;
  queryRange(expression: string, seconds: number, step: number): Promise<readonly Series[]>;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Record<string, string>;
      readonly value?: [number, string];
      readonly values?: [number, string][];
    }[];
  };
}

/** Only addresses and paths differ from what is shipped. */
function shippedAlertmanagerConfig(folder: string, recorderUrl: string): string {
  const routingKey = join(folder, 'routing-key');
  writeFileSync(routingKey, '0123456789abcdef0123456789abcdef\n');
  mkdirSync(join(folder, 'templates'), { recursive: true });
  copyFileSync(
    join(root, 'deploy/alertmanager/templates/inference-probe.tmpl'),
    join(folder, 'templates/inference-probe.tmpl'),
  );
  return readFileSync(join(root, 'deploy/alertmanager/alertmanager.yml'), 'utf8')
    .replace('global:\n', `global:\n  pagerduty_url: ${recorderUrl}/v2/enqueue\n`)
    .replaceAll('http://127.0.0.1:9095', recorderUrl)
    .replace('/etc/alertmanager/secrets/pagerduty-routing-key', routingKey);
}

async function ask(url: string): Promise<readonly Series[]> {
  const answer = (await (await fetch(url)).json()) as Answer;
  if (answer.status !== 'success') throw new Error(`${decodeURIComponent(url)}: ${answer.error ?? answer.status}`);
  return answer.data.result.map(({ metric, value, values }) => ({
    metric,
    values: (values ?? (value ? [value] : [])).map(([at, text]) => [at, Number(text)] as const),
  }));
}

export interface MonitoringOptions {
  readonly prometheus: string;
  readonly alertmanager: string;
  /** host:port of each exporter. */
  readonly exporters: readonly string[];
  readonly recorderUrl: string;
}

/** A real Prometheus with the shipped rules, unedited, and a real Alertmanager with the shipped routing. */
export async function startMonitoring(options: MonitoringOptions): Promise<Monitoring> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-stack-'));
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()];
  const prometheusUrl = `http://127.0.0.1:${prometheusPort}`;
  const alertmanagerUrl = `http://127.0.0.1:${alertmanagerPort}`;
  writeFileSync(join(folder, 'alertmanager.yml'), shippedAlertmanagerConfig(folder, options.recorderUrl));
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '15s' },
      rule_files: [join(root, 'deploy/prometheus/inference-probe.rules.yml')],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
      scrape_configs: [
        {
          job_name: 'inference-probe',
          static_configs: [{ targets: options.exporters, labels: { namespace: 'ml', cluster: 'test' } }],
        },
      ],
    }),
  );
  const alertmanager = await startProcess({
    name: 'alertmanager',
    command: options.alertmanager,
    args: [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'alertmanager')}`,
      `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
      '--cluster.listen-address=',
    ],
    ready: async () => (await fetch(`${alertmanagerUrl}/-/ready`)).ok,
    readySeconds: 60,
  });
  const prometheus: RunningProcess = await startProcess({
    name: 'prometheus',
    command: options.prometheus,
    args: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
      '--enable-feature=exemplar-storage',
    ],
    ready: async () => (await fetch(`${prometheusUrl}/-/ready`)).ok,
    readySeconds: 60,
  }).catch(async (error: unknown) => {
    await alertmanager.stop();
    throw error;
  });
  return {
    prometheusUrl,
    alertmanagerUrl,
    query: (expression) => ask(`${prometheusUrl}/api/v1/query?query=${encodeURIComponent(expression)}`),
    queryRange: (expression, seconds, step) => {
      const end = Date.now() / 1000;
      const parameters = new URLSearchParams({
        query: expression,
        start: String(end - seconds),
        end: String(end),
        step: String(step),
      });
      return ask(`${prometheusUrl}/api/v1/query_range?${parameters}`);
    },
    stop: async () => {
      await prometheus.stop();
      await alertmanager.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningProcess, startProcess } from '../../engines/support/processes.ts';
import { type Sidecar, startSidecar } from '../../engines/support/sidecar.ts';
import { type Monitoring, startMonitoring } from './monitoring.ts';
import { programs, root } from './programs.ts';
import { type PagerEvent, type Recorder, startRecorder, type Ticket } from './recorder.ts';

/**
 * Short deadlines and a tight threshold, so that harm and its end show within seconds. The rules stay as shipped.
 * TTFT is 0.04 s when all is well, and 0.3 to 2.5 s when the cache is flooded: nearly all of those must be bad ones, since
 * a page wants a quarter of the probes of five minutes, those before the harm included. And this machine may be busy with
 * other things: a stream that a loop of ours held up for the usual bound is never called buffered.
 */
const config = (engines: Readonly<Record<string, string>>): string => `
disturbed_after: 500ms
slo:
  ttft: {threshold: 500ms, objective: 0.95}
  tpot: {threshold: 200ms, objective: 0.95}
budget: {tokens_per_hour: 10000000, tokens_per_day: 100000000}
metrics: {histograms: true, hang_after: 5s}
profiles:
  - name: cold
    every: 3s
    allow_overlap: true
    prompt_tokens: 64
    max_tokens: 16
    deadlines: {connect: 2s, headers: 5s, first_token: 6s, between_tokens: 3s, total: 20s}
targets:
${Object.entries(engines)
  .map(([name, url]) => `  - {name: ${name}, url: "${url}"}`)
  .join('\n')}
`;

export interface Stack {
  readonly engines: Readonly<Record<string, string>>;
  readonly sidecar: Sidecar;
  /** A second exporter, to be killed. */
  readonly doomed: Sidecar;
  readonly recorder: Recorder;
  readonly monitoring: Monitoring;
  stop(): Promise<void>;
}

/** Their addresses come through a file: standard output belongs to the log. */
async function startEngines(): Promise<{ readonly process: RunningProcess; readonly urls: Record<string, string> }> {
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-engines-'));
  const path = join(folder, 'addresses.json');
  const process = await startProcess({
    name: 'simulators',
    command: globalThis.process.execPath,
    args: ['--import', 'tsx', `${root}test/stack/support/simulators.ts`, path],
    ready: async () => existsSync(path),
    readySeconds: 60,
    stopSeconds: 5,
  });
  const urls = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  rmSync(folder, { recursive: true });
  return { process, urls };
}

/** Simulated engines, two exporters, a real Prometheus, a real Alertmanager and the recorder, all talking. */
export async function startStack(): Promise<Stack> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of stops.reverse()) await end();
  };
  try {
    const recorder = await startRecorder();
    stops.push(() => recorder.close());
    const { process, urls } = await startEngines();
    stops.push(() => process.stop());
    const sidecar = await startSidecar({ config: config(urls) });
    stops.push(() => sidecar.stop());
    const doomed = await startSidecar({ config: config({ doomed: urls.healthy ?? '' }) });
    stops.push(() => doomed.stop());
    const monitoring = await startMonitoring({
      prometheus: programs.prometheus ?? 'false',
      alertmanager: programs.alertmanager ?? 'false',
      exporters: [sidecar.url, doomed.url].map((url) => new URL(url).host),
      recorderUrl: recorder.url,
    });
    stops.push(() => monitoring.stop());
    return { engines: urls, sidecar, doomed, recorder, monitoring, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Asks until the answer is not null; rejects with `what` after `seconds`. */
export async function until<T>(what: string, seconds: number, ask: () => Promise<T | null> | T | null): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${seconds} s`);
    await sleep(500);
  }
}

export const pagesOf = (recorder: Recorder, alert: string, target: string): readonly PagerEvent[] =>
  recorder.events.filter(
    (event) =>
      event.event_action === 'trigger' && event.payload.class === alert && event.payload.source.endsWith(target),
  );

export const ticketsOf = (recorder: Recorder, alert: string, target: string): readonly Ticket[] =>
  recorder.tickets.filter(
    (ticket) =>
      ticket.groupLabels.alertname === alert && ticket.groupLabels.target === target && ticket.status === 'firing',
  );

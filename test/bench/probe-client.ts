import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { loadConfigFromEnvironment } from '../../src/config/load.ts';
import { createEnginePoller } from '../../src/engine/sampler.ts';
import { silentLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/create-metrics.ts';
import { createLoopDelayMonitor } from '../../src/probe/loop-delay.ts';
import type { ApiName, ProbeOutcome } from '../../src/probe/outcome.ts';
import { createProber, type Prober } from '../../src/probe/prober.ts';
import { seconds } from '../../src/units.ts';
import type { ClientResult } from './stamps.ts';

/**
 * Our side of the bench: the program's own prober, many of them in one process, each asking again as soon as it has
 * been answered. With "scraped" the same process also polls the engine's page every second and serves /metrics, as
 * the sidecar does; the port of that is printed first.
 *
 * Usage: probe-client.ts URL STREAMS SECONDS TOKENS API quiet|scraped
 */
const [url = '', streams = '1', duration = '5', tokens = '48', api = 'chat', mode = 'quiet'] = process.argv.slice(2);
const clock = systemClock();
const log = silentLogger();

// CLOCK_MONOTONIC as the server stamps it, minus performance.now(): constant for a process, so the smallest of many
// readings is the least disturbed one.
const offsets = Array.from({ length: 1000 }, () => {
  const now = performance.now();
  return process.hrtime.bigint() - BigInt(Math.round(now * 1e6));
});
const offsetNs = offsets.sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n;
const absoluteNs = (instantSeconds: number): string => (offsetNs + BigInt(Math.round(instantSeconds * 1e9))).toString();

const { config } = loadConfigFromEnvironment({
  INFERENCE_PROBE_TARGET_URL: url,
  INFERENCE_PROBE_MODEL: 'bench',
  INFERENCE_PROBE_API: api,
});
const [target] = config.targets;
const scheduled = target?.profiles[0];
if (target === undefined || scheduled === undefined) throw new Error('the default configuration has no target');
const profile = { ...scheduled.profile, promptTokens: 64, maxTokens: Number(tokens) };

/** Arrival of every token chunk of a good probe, in seconds, from the outcome that the program itself records. */
function arrivals(outcome: ProbeOutcome): number[] {
  if (outcome.outcome !== 'good' || outcome.requestAt === null || outcome.ttftSeconds === null) return [];
  let at: number = outcome.requestAt + outcome.ttftSeconds;
  const instants = [at];
  for (const gap of outcome.gapsSeconds) {
    at += gap;
    instants.push(at);
  }
  return instants;
}

const metrics = createMetrics({ config, version: 'bench', revision: 'bench' }, { clock, log });
const poller = createEnginePoller(
  { ...target.metrics, target: target.name, url: target.url, engine: 'vllm', histograms: false },
  { clock, log },
);

async function serveMetrics(): Promise<() => void> {
  metrics.engineViews(() => [poller.view()]);
  poller.start();
  const server = createServer((_, response) => {
    metrics.render('text/plain').then(
      (page) => response.end(page.body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
  return () => server.close().closeAllConnections();
}

const loopDelay = createLoopDelayMonitor(clock);
const probers: Prober[] = Array.from({ length: Number(streams) }, (_, stream) =>
  createProber(
    {
      target: {
        name: target.name,
        url: target.url,
        model: 'bench',
        api: api as ApiName,
        engine: null,
        apiKey: () => null,
        headers: {},
        connection: target.connection,
      },
      profile: { ...profile, name: stream === 0 ? profile.name : `${profile.name}-${stream}` },
      disturbedAfterSeconds: seconds(0.02),
    },
    { clock, log, loopDelay },
  ),
);

const close = mode === 'scraped' ? await serveMetrics() : () => undefined;
// The same for the other clients, in python/common.py. For the first eight seconds or so a third of the processor time is
// the compiler's, which a run of minutes does not notice. And begun all at once, streams of one length stay in step.
const WARM_UP_SECONDS = 10;
const SPREAD_SECONDS = 1;

const finished: { id: string; arrivals: number[] }[] = [];
let failed = 0;

async function ask(prober: Prober, index: number): Promise<void> {
  await sleep((index / probers.length) * SPREAD_SECONDS * 1000);
  while (performance.now() < until) {
    const counted = performance.now() >= startedAt;
    const outcome = await prober.probe({ traceparent: true });
    if (outcome === null) return;
    metrics.probeFinished({ outcome, engine: null, diagnosis: null, warmup: false });
    if (!counted) continue;
    if (outcome.outcome === 'good') finished.push({ id: outcome.id, arrivals: arrivals(outcome) });
    else failed += 1;
  }
}

const startedAt = performance.now() + WARM_UP_SECONDS * 1000;
const until = startedAt + Number(duration) * 1000;
const asking = Promise.all(probers.map(ask));
await sleep(WARM_UP_SECONDS * 1000);
const cpuBefore = process.cpuUsage();
await asking;
const cpu = process.cpuUsage(cpuBefore);
const result: ClientResult = {
  cpuSeconds: (cpu.user + cpu.system) / 1e6,
  wallSeconds: (performance.now() - startedAt) / 1000,
  failed,
  streams: finished.map(({ id, arrivals: instants }) => ({ id, arrivals: instants.map(absoluteNs) })),
};
console.log(JSON.stringify(result));
close();
await Promise.all([...probers.map((prober) => prober.close()), poller.close()]);

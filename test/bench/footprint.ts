import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../engines/support/sidecar.ts';
import { imageEnvironment } from '../support/image.ts';
import { freePort } from '../support/ports.ts';
import { type LineChild, startChild, startServer } from './child.ts';
import { type Distribution, distribution } from './statistics.ts';

export interface Footprint {
  readonly node: string;
  /** Start of the process to the first 200 of /-/healthy, milliseconds; the median of several starts. */
  readonly readyMs: number;
  readonly idle: Usage;
  readonly probing: Usage;
  /** GET /metrics as the scraper sees it, milliseconds. */
  readonly scrapeMs: Distribution;
  readonly series: number;
}

interface Usage {
  readonly residentMiB: number;
  readonly anonymousMiB: number;
  /** Of one core. */
  readonly cpuPercent: number;
}

function status(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

function cpuSeconds(pid: number): number {
  // Fields 14 and 15, counted behind the program's name, which may hold blanks.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function usage(pid: number, seconds: number): Promise<Usage> {
  const [before, startedAt] = [cpuSeconds(pid), performance.now()];
  await sleep(seconds * 1000);
  const cpu = cpuSeconds(pid) - before;
  return {
    residentMiB: status(pid, 'VmRSS'),
    anonymousMiB: status(pid, 'RssAnon'),
    cpuPercent: (cpu / ((performance.now() - startedAt) / 1000)) * 100,
  };
}

interface Started {
  readonly child: LineChild;
  readonly url: string;
  readonly readyMs: number;
}

async function startBundle(node: string, targetUrl: string, env: Readonly<Record<string, string>>): Promise<Started> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const startedAt = performance.now();
  const child = startChild(node, [bundle, 'serve', `--web.listen-address=${new URL(url).host}`, '--log.level=error'], {
    ...imageEnvironment(),
    INFERENCE_PROBE_TARGET_URL: targetUrl,
    ...env,
  });
  for (;;) {
    const ready = await fetch(`${url}/-/healthy`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return { child, url, readyMs: performance.now() - startedAt };
    if (performance.now() - startedAt > 20_000) throw new Error('the bundle did not get ready');
    await sleep(2);
  }
}

async function scrapes(url: string, count: number): Promise<{ readonly times: number[]; readonly series: number }> {
  const times: number[] = [];
  let series = 0;
  for (let scrape = 0; scrape < count; scrape += 1) {
    const startedAt = performance.now();
    const page = await (await fetch(`${url}/metrics`)).text();
    times.push(performance.now() - startedAt);
    series = page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    await sleep(100);
  }
  return { times, series };
}

/**
 * Memory, processor time, start and scrape of the shipped bundle beside a server with a full vLLM page, with the
 * settings of a sidecar: one target, a poll every second, its two profiles every ten seconds.
 */
export async function measureFootprint(node: string, page: string, seconds: number): Promise<Footprint> {
  const server = await startServer(50, 15, page);
  try {
    const starts: number[] = [];
    for (let start = 0; start < 5; start += 1) {
      const { child, readyMs } = await startBundle(node, server.url, { INFERENCE_PROBE_PAUSED: 'true' });
      starts.push(readyMs);
      await child.stop();
    }
    const idleBundle = await startBundle(node, server.url, { INFERENCE_PROBE_PAUSED: 'true' });
    await sleep(5000);
    const idle = await usage(idleBundle.child.pid, seconds);
    await idleBundle.child.stop();

    const probing = await startBundle(node, server.url, { INFERENCE_PROBE_EVERY: '10s' });
    const scraper = setInterval(
      () =>
        fetch(`${probing.url}/metrics`).then(
          (page) => page.text(),
          () => '',
        ),
      15_000,
    );
    await sleep(15_000);
    const used = await usage(probing.child.pid, seconds);
    clearInterval(scraper);
    const { times, series } = await scrapes(probing.url, 100);
    await probing.child.stop();
    return {
      node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
      readyMs: distribution(starts).p50,
      idle,
      probing: used,
      scrapeMs: distribution(times),
      series,
    };
  } finally {
    await server.stop();
  }
}

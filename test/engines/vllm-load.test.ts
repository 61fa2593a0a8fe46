import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRun } from '../../src/experiment/read-run.ts';
import type { Summary } from '../../src/experiment/summary-types.ts';
import type { AnalysedPrompt } from '../../src/experiment/sweep-analyse.ts';
import type { RequestRecord } from '../../src/experiment/types.ts';
import { freePort } from '../support/ports.ts';
import { type RunningEngine, startVllm, vllmCommand } from './support/engines.ts';
import { experiment } from './support/experiment.ts';
import { installed } from './support/installs.ts';
import { fetchPage, type MetricsPage } from './support/metrics-page.ts';
import { eventually } from './support/recent-probes.ts';

const venv = installed('vllm');
if (venv === null) console.warn('SKIPPED: vLLM is not installed; test/engines/install/vllm.sh installs it');

const folder = mkdtempSync(join(tmpdir(), 'inference-probe-vllm-load-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** One that is not there yet: a test that is tried again must not meet what the last attempt left. */
const newFolder = (): string => join(mkdtempSync(join(folder, 'attempt-')), 'run');

const rise = (before: MetricsPage, after: MetricsPage, name: string): number =>
  (after.sum(name) ?? 0) - (before.sum(name) ?? 0);
const sum = (records: readonly RequestRecord[], value: (record: RequestRecord) => number | null): number =>
  records.reduce((total, record) => total + (value(record) ?? 0), 0);
const decode = ({ gapsMicroseconds }: RequestRecord): number =>
  gapsMicroseconds.reduce((total, gap) => total + gap / 1e6, 0);

/** Engine and client share the cores here: a run that says that the client was the limit is no result, and made anew. */
async function notLimited<T>(run: (attempt: number) => Promise<T>, limited: (result: T) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await run(attempt);
    if (attempt === 3 || !limited(result)) return result;
    console.log(`attempt ${attempt}: the client was the limit`);
  }
}
type Swept = { readonly prompts: readonly AnalysedPrompt[] };
const anyLevelLost = ({ summary }: { readonly summary: Swept }): boolean =>
  summary.prompts.some(({ levels }) => levels.some(({ figures }) => figures === null));

describe.skipIf(venv === null)('an experiment on a real vLLM with a small KV cache', () => {
  let engine: RunningEngine;
  beforeAll(async () => {
    const cache = ['--no-enable-prefix-caching', '--num-gpu-blocks-override', '24', '--block-size', '32'];
    engine = await startVllm({
      venv: venv ?? '',
      oneThread: true,
      args: [...cache, '--max-num-seqs', '16', '--max-model-len', '512'],
    });
  });
  afterAll(() => engine?.stop());

  /** A run with its records, and what the engine counted meanwhile. */
  async function loadOnce(seed: string, concurrency: number) {
    const out = newFolder();
    const before = await fetchPage(engine.metricsUrl);
    const lengths = ['-d', '15', '--trim', '1', '--warmup', '5', '--in-tokens', '64', '--max-out', '48'];
    const { exitCode, summary } = await experiment<Summary>(
      ['load', '--url', engine.url, '-c', String(concurrency), ...lengths, '--seed', seed, '--out', out],
      { limitSeconds: 120 },
    );
    const records = readRun(out).requests;
    // The engine writes the end of a request a moment after the client has it.
    const after = await eventually('the end of each request on the page of the engine', 20, async () => {
      const page = await fetchPage(engine.metricsUrl);
      return rise(before, page, 'vllm:e2e_request_latency_seconds_count') >= records.length && page;
    });
    return { exitCode, summary, records, rise: (metric: string) => rise(before, after, metric) };
  }

  const load = (name: string, concurrency: number) =>
    notLimited(
      (attempt) => loadOnce(`${name}-${attempt}`, concurrency),
      ({ summary }) => summary.verdict === 'client_limited',
    );

  it.each([1, 2])('sees with %i in flight what the engine itself timed and counted', async (concurrency) => {
    const { exitCode, summary, records, rise } = await load(`alone-${concurrency}`, concurrency);
    expect(exitCode).toBe(0);
    expect(summary).toMatchObject({ verdict: 'result', requests: { failed: 0 } });

    // Every request that was ever sent, those of calibration and warm-up included.
    const requests = records.length;
    expect(rise('vllm:time_to_first_token_seconds_count')).toBe(requests);
    expect(rise('vllm:generation_tokens_total')).toBe(sum(records, ({ outputTokens }) => outputTokens));
    expect(rise('vllm:prompt_tokens_total')).toBe(sum(records, ({ promptTokens }) => promptTokens));

    const ours = sum(records, ({ ttftSeconds }) => ttftSeconds) / requests;
    const theirs = rise('vllm:time_to_first_token_seconds_sum') / requests;
    const decodeRatio =
      records.reduce((total, record) => total + decode(record), 0) / rise('vllm:request_decode_time_seconds_sum');
    const queueing = rise('vllm:request_queue_time_seconds_sum') / requests;
    console.log(
      `${concurrency} in flight, ${requests} requests: mean TTFT ${(ours * 1e3).toFixed(2)} ms here, ${(theirs * 1e3).toFixed(2)} ms in the engine (${(queueing * 1e3).toFixed(2)} ms of it queued); decode ratio ${decodeRatio.toFixed(4)}`,
    );
    expect(ours - theirs).toBeGreaterThan(0);
    expect(ours - theirs).toBeLessThan(0.01);
    expect(Math.abs(decodeRatio - 1)).toBeLessThan(0.02);
    expect(queueing).toBeLessThan(ours);

    // The same in the run's own account of the window, between two of its polls. A first token that is on its way while
    // a page is made is counted there already and not yet here: at each end at most one of each request in flight.
    const own = summary.engine?.ownLatencies.find(({ role }) => role === 'ttft');
    expect(own?.observations).toBeGreaterThan(10);
    const onTheWay = Math.abs((own?.clientObservations ?? 0) - (own?.observations ?? 0));
    expect(onTheWay).toBeLessThanOrEqual(concurrency);
    expect((own?.clientMeanSeconds ?? 0) - (own?.meanSeconds ?? 0)).toBeLessThan(0.015);
  });

  it('finds the knee before the preemptions that the engine itself counts', async () => {
    const before = await fetchPage(engine.metricsUrl);
    const lengths = ['-d', '15', '--trim', '2', '--warmup', '5', '--in-tokens', '64', '--max-out', '160'];
    const levels = ['--levels', '1,2,12', '--repeats', '1', '--cooldown', '1', '--seed', '1'];
    const { exitCode, summary } = await notLimited(
      () =>
        experiment<Swept>(['sweep', '--url', engine.url, ...levels, ...lengths, '--out', newFolder()], {
          limitSeconds: 170,
        }),
      anyLevelLost,
    );
    const after = await fetchPage(engine.metricsUrl);
    expect(exitCode).toBe(0);
    const [found] = summary.prompts;
    expect(found?.knee).toMatchObject({ kind: 'found', level: 2 });
    const told = found?.levels.map(({ figures }) => figures?.preemptions);
    expect(told?.slice(0, 2)).toEqual([0, 0]);
    expect(told?.[2]).toBeGreaterThan(0);
    expect(rise(before, after, 'vllm:num_preemptions_total')).toBeGreaterThanOrEqual(told?.[2] ?? 0);
    expect(found?.levels[2]?.figures?.waitingShare).toBeGreaterThan(0.5);
  }, 600_000);
});

describe.skipIf(venv === null)('a sweep over a start parameter of a real vLLM', () => {
  it('starts and stops the engine for each value and sees what the value does', async () => {
    const port = await freePort();
    const { command, args, env } = vllmCommand(
      { venv: venv ?? '', oneThread: true, args: ['--max-model-len', '512'] },
      port,
    );
    // It gets a session of its own, and a shell that reads this line.
    const quoted = [command, ...args].map((word) => `'${word}'`);
    const start = [...quoted, '--max-num-seqs', '{value}'].join(' ');
    const lengths = ['-d', '10', '--trim', '1', '--warmup', '4', '--in-tokens', '64', '--max-out', '48'];
    const axis = ['--start', start, '--values', '1,8', '-c', '8', '--repeats', '1', '--cooldown', '1', '--seed', '1'];
    const target = ['--url', `http://127.0.0.1:${port}`];
    const { exitCode, summary } = await notLimited(
      () =>
        experiment<Swept>(['sweep', ...target, ...axis, ...lengths, '--out', newFolder()], {
          env,
          limitSeconds: 420,
        }),
      anyLevelLost,
    );
    expect(exitCode).toBe(0);
    const levels = summary.prompts[0]?.levels ?? [];
    expect(levels.map(({ value }) => value)).toEqual([1, 8]);
    const [one, eight] = levels.map(({ figures }) => figures);
    // One at a time: seven of eight wait. Eight at a time: nobody does, and more comes out.
    expect(one?.waitingShare).toBeGreaterThan(0.8);
    expect(eight?.waitingShare).toBeLessThan(0.2);
    expect(eight?.outputTokensPerSecond ?? 0).toBeGreaterThan((one?.outputTokensPerSecond ?? 0) * 1.2);
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  }, 1_300_000);
});

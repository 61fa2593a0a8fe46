import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from './support/background-load.ts';
import { type RunningEngine, startLlamaCpp } from './support/engines.ts';
import { installed } from './support/installs.ts';
import { fetchPage, type MetricsPage } from './support/metrics-page.ts';
import { once } from './support/once.ts';
import { eventually, recentProbes } from './support/recent-probes.ts';
import { expectSameRise } from './support/same-values.ts';
import { type Sidecar, startSidecar } from './support/sidecar.ts';

const venv = installed('llamacpp');
if (venv === null) console.warn('SKIPPED: llama.cpp is not installed; test/engines/install/llamacpp.sh installs it');

describe.skipIf(venv === null)('the sidecar beside a real llama.cpp server with a real model', () => {
  let engine: RunningEngine;
  let sidecar: Sidecar;
  let engineAtStart: MetricsPage;

  beforeAll(async () => {
    engine = await startLlamaCpp({ venv: venv ?? '', parallel: 1 });
    await once('--url', engine.url, '--max-tokens', '8');
    engineAtStart = await fetchPage(engine.metricsUrl);
    sidecar = await startSidecar({ env: { INFERENCE_PROBE_TARGET_URL: engine.url, INFERENCE_PROBE_EVERY: '30s' } });
  });
  afterAll(async () => {
    await sidecar?.stop();
    await engine?.stop();
  });

  it('answers `once` with one good probe, given only the address', async () => {
    const { exitCode, record } = await once('--url', engine.url);
    expect(record).toMatchObject({
      outcome: 'good',
      model: 'gemma3-270m',
      engine: { name: 'llamacpp' },
      token_source: 'usage',
    });
    expect(exitCode).toBe(0);
  });

  it('finds engine and model and probes well', async () => {
    const record = await eventually('a good probe', 60, async () =>
      (await recentProbes(sidecar)).find((probe) => probe.outcome === 'good'),
    );
    expect(record).toMatchObject({ model: 'gemma3-270m', engine: { name: 'llamacpp' } });
  });

  it('says that this engine offers neither KV cache usage nor preemptions, and shows no such series', async () => {
    const page = await eventually('a poll', 40, async () => {
      const page = await sidecar.page();
      return page.sum('inference_engine_up') === 1 ? page : null;
    });
    expect(page.all('inference_engine_kv_cache_usage_ratio')).toHaveLength(0);
    expect(page.all('inference_engine_preemptions_total')).toHaveLength(0);
    for (const sample of page.all('inference_engine_metric_supported')) {
      if (/kv_cache_usage|preemptions/.test(sample.labels.metric ?? '')) expect(sample.value).toBe(0);
    }
  });

  it('polls this engine slower than the others, since a scrape waits for its batch', async () => {
    expect((await sidecar.page()).sum('inference_engine_poll_interval_seconds')).toBeGreaterThanOrEqual(5);
  });

  it("shows requests running and waiting, and token counters that rose as much as the engine's", async () => {
    const load = startLoad({
      url: engine.url,
      model: 'gemma3-270m',
      streams: 4,
      maxTokens: 64,
      body: { ignore_eos: true },
    });
    try {
      await eventually('running and waiting requests', 60, async () => {
        const page = await sidecar.page();
        return (
          page.sum('inference_engine_requests_running') === 1 &&
          (page.sum('inference_engine_requests_waiting') ?? 0) > 0
        );
      });
    } finally {
      await load.stop();
    }
    await expectSameRise(sidecar, engine.metricsUrl, engineAtStart, {
      inference_engine_generation_tokens_total: 'llamacpp:tokens_predicted_total',
    });
    expect((await sidecar.page()).sum('inference_engine_generation_tokens_total')).toBeGreaterThan(0);
  });
});

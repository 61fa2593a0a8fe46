import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from './support/background-load.ts';
import { type RunningEngine, startDynamo } from './support/engines.ts';
import { installed } from './support/installs.ts';
import { fetchPage, type MetricsPage } from './support/metrics-page.ts';
import { once } from './support/once.ts';
import { eventually, recentProbes } from './support/recent-probes.ts';
import { expectSameLoad, expectSameRise } from './support/same-values.ts';
import { type Sidecar, startSidecar } from './support/sidecar.ts';

const venv = installed('dynamo');
if (venv === null) console.warn('SKIPPED: Dynamo is not installed; test/engines/install/dynamo.sh installs it');

describe.skipIf(venv === null)('the exporter beside a real Dynamo frontend over its simulated vLLM', () => {
  let engine: RunningEngine;
  beforeAll(async () => {
    engine = await startDynamo({ venv: venv ?? '' });
  });
  afterAll(() => engine?.stop());

  it('answers `once` with one good probe, given only the address', async () => {
    const { exitCode, record } = await once('--url', engine.url);
    expect(record).toMatchObject({ outcome: 'good', model: 'tiny', token_source: 'usage' });
    expect(exitCode).toBe(0);
  });

  describe('given only the address of the frontend', () => {
    let sidecar: Sidecar;
    beforeAll(async () => {
      sidecar = await startSidecar({ env: { INFERENCE_PROBE_TARGET_URL: engine.url, INFERENCE_PROBE_EVERY: '2s' } });
    });
    afterAll(() => sidecar?.stop());

    it('knows the frontend and probes well', async () => {
      const record = await eventually('a good probe', 30, async () =>
        (await recentProbes(sidecar)).find((probe) => probe.outcome === 'good'),
      );
      expect(record).toMatchObject({ model: 'tiny', engine: { name: 'dynamo' } });
      await eventually('a good poll', 30, async () => (await sidecar.page()).sum('inference_engine_up') === 1);
    });
  });

  describe("given the worker's page as well", () => {
    let sidecar: Sidecar;
    let workerAtStart: MetricsPage;
    beforeAll(async () => {
      workerAtStart = await fetchPage(engine.metricsUrl);
      sidecar = await startSidecar({
        config: `
budget: { tokens_per_hour: 10000000, tokens_per_day: 100000000 }
slo: { ttft: { threshold: 300ms, objective: 0.95 } }
profiles: [{ name: cold, prefix: unique, every: 2s, prompt_tokens: 64, max_tokens: 16, allow_overlap: true }]
targets:
  - name: dynamo
    url: "${engine.url}"
    metrics: { url: "${engine.metricsUrl}" }
`,
      });
    });
    afterAll(() => sidecar?.stop());

    it("shows the worker's gauges while it is busy and its preemptions afterwards", async () => {
      const load = startLoad({
        url: engine.url,
        model: 'tiny',
        streams: 14,
        maxTokens: 300,
        body: { ignore_eos: true },
      });
      try {
        await expectSameLoad(sidecar, engine.metricsUrl, {
          kvUsage: 'vllm:kv_cache_usage_perc',
          running: 'vllm:num_requests_running',
          waiting: 'vllm:num_requests_waiting',
        });
        await eventually('a preemption', 60, async () => {
          const page = await sidecar.page();
          return (page.sum('inference_engine_preemptions_total') ?? 0) > 0;
        });
      } finally {
        await load.stop();
      }
      await expectSameRise(sidecar, engine.metricsUrl, workerAtStart, {
        inference_engine_preemptions_total: 'vllm:num_preemptions_total',
      });
    });
  });
});

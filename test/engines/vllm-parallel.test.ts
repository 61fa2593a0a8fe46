import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from './support/background-load.ts';
import { type RunningEngine, startVllm } from './support/engines.ts';
import { installed } from './support/installs.ts';
import { fetchPage, type MetricsPage } from './support/metrics-page.ts';
import { once } from './support/once.ts';
import { expectSameLoad, expectSameRise } from './support/same-values.ts';
import { type Sidecar, startSidecar } from './support/sidecar.ts';

const venv = installed('vllm');
if (venv === null) console.warn('SKIPPED: vLLM is not installed; test/engines/install/vllm.sh installs it');

describe.skipIf(venv === null)(
  'the sidecar beside a real vLLM with two data-parallel ranks and no prefix cache',
  () => {
    let engine: RunningEngine;
    let sidecar: Sidecar;
    let engineAtStart: MetricsPage;

    beforeAll(async () => {
      engine = await startVllm({
        venv: venv ?? '',
        args: [
          '--data-parallel-size',
          '2',
          '--no-enable-prefix-caching',
          '--max-model-len',
          '2048',
          '--max-num-seqs',
          '4',
        ],
      });
      engineAtStart = await fetchPage(engine.metricsUrl);
      sidecar = await startSidecar({ env: { INFERENCE_PROBE_TARGET_URL: engine.url, INFERENCE_PROBE_EVERY: '5s' } });
    });
    afterAll(async () => {
      await sidecar?.stop();
      await engine?.stop();
    });

    it('answers `once` with one good probe, given only the address', async () => {
      const { exitCode, record } = await once('--url', engine.url);
      expect(record).toMatchObject({ outcome: 'good', model: 'tiny', engine: { name: 'vllm' } });
      expect(exitCode).toBe(0);
    });

    it('keeps the ranks apart while both are busy, with their sum equal to the page', async () => {
      const load = startLoad({
        url: engine.url,
        model: 'tiny',
        streams: 10,
        // Long enough that no request ends while the pages are compared: every change of a gauge is then a slow one.
        maxTokens: 1500,
        body: { ignore_eos: true },
      });
      try {
        await expectSameLoad(sidecar, engine.metricsUrl, {
          kvUsage: 'vllm:kv_cache_usage_perc',
          running: 'vllm:num_requests_running',
          waiting: 'vllm:num_requests_waiting',
        });
        const page = await sidecar.page();
        const ranks = page.all('inference_engine_requests_running').map((sample) => sample.labels.dp_rank);
        expect([...ranks].sort()).toEqual(['0', '1']);
      } finally {
        await load.stop();
      }
    });

    it("shows counters that rose exactly as much as the engine's own, and no prefix hits", async () => {
      for (const rank of ['0', '1']) {
        await expectSameRise(
          sidecar,
          engine.metricsUrl,
          engineAtStart,
          {
            inference_engine_generation_tokens_total: 'vllm:generation_tokens_total',
            inference_engine_prompt_tokens_total: 'vllm:prompt_tokens_total',
          },
          { ours: { dp_rank: rank }, engine: { engine: rank } },
        );
      }
      expect((await sidecar.page()).sum('inference_engine_prefix_cache_hits_total')).toBe(0);
    });

    it('gives each rank a capacity of its own', async () => {
      const capacities = (await sidecar.page()).all('inference_engine_kv_cache_capacity_tokens');
      const engineConfig = (await fetchPage(engine.metricsUrl)).all('vllm:cache_config_info');
      // Not blocks times block size: with two ranks this version reports the blocks of both in each rank's line.
      const tokens = engineConfig.map(({ labels }) => Number(labels.kv_cache_size_tokens));
      expect(capacities.map((sample) => sample.value)).toEqual(tokens);
    });
  },
);

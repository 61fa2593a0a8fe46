import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoad } from './support/background-load.ts';
import { type RunningEngine, startSglang } from './support/engines.ts';
import { installed } from './support/installs.ts';
import { fetchPage, type MetricsPage } from './support/metrics-page.ts';
import { once } from './support/once.ts';
import { eventually, recentProbes } from './support/recent-probes.ts';
import { expectSameLoad, expectSameRise } from './support/same-values.ts';
import { type Sidecar, startSidecar } from './support/sidecar.ts';

const venv = installed('sglang');
if (venv === null) console.warn('SKIPPED: SGLang is not installed; test/engines/install/sglang.sh installs it');

const QUEUE_LIMIT = 12;

describe.skipIf(venv === null)('the sidecar beside a real SGLang', () => {
  let engine: RunningEngine;
  let sidecar: Sidecar;
  let engineAtStart: MetricsPage;

  beforeAll(async () => {
    engine = await startSglang({
      venv: venv ?? '',
      // Admits more than fits, so that the pool overflows; and refuses what does not fit into a short queue.
      args: ['--schedule-conservativeness', '0.1', '--max-queued-requests', String(QUEUE_LIMIT)],
    });
    await once('--url', engine.url, '--max-tokens', '8');
    engineAtStart = await fetchPage(engine.metricsUrl);
    sidecar = await startSidecar({ env: { INFERENCE_PROBE_TARGET_URL: engine.url, INFERENCE_PROBE_EVERY: '3s' } });
  });
  afterAll(async () => {
    await sidecar?.stop();
    await engine?.stop();
  });

  it('answers `once` with one good probe, given only the address', async () => {
    const { exitCode, record } = await once('--url', engine.url);
    expect(record).toMatchObject({ outcome: 'good', model: 'tiny', engine: { name: 'sglang', version: '0.5.23' } });
    expect(exitCode).toBe(0);
  });

  it('finds engine, version and model and probes well', async () => {
    const record = await eventually('a good probe', 60, async () =>
      (await recentProbes(sidecar)).find((probe) => probe.outcome === 'good'),
    );
    expect(record).toMatchObject({ model: 'tiny', engine: { name: 'sglang', version: '0.5.23' } });
    await eventually('a good poll', 30, async () => (await sidecar.page()).sum('inference_engine_up') === 1);
  });

  it("shows the engine's gauges under load, and every retraction although the counter is born late", async () => {
    const name = 'sglang:num_retracted_requests_total';
    expect(engineAtStart.sum(name)).toBeNull();
    const load = startLoad({ url: engine.url, model: 'tiny', streams: 8, maxTokens: 200, body: { min_tokens: 200 } });
    try {
      await expectSameLoad(sidecar, engine.metricsUrl, {
        kvUsage: 'sglang:token_usage',
        running: 'sglang:num_running_reqs',
        waiting: 'sglang:num_queue_reqs',
      });
      await eventually('a retraction', 120, async () => ((await fetchPage(engine.metricsUrl)).sum(name) ?? 0) > 0);
    } finally {
      await load.stop();
    }
    await expectSameRise(sidecar, engine.metricsUrl, engineAtStart, { inference_engine_preemptions_total: name });
  });

  it('names a full queue as what refused the probe', async () => {
    const began = Date.now();
    const load = startLoad({ url: engine.url, model: 'tiny', streams: 40, maxTokens: 200, body: { min_tokens: 200 } });
    try {
      // One that found a place in the queue may run into its deadline there; of the others each must be told as refused.
      const refused = await eventually('a refused probe', 120, async () =>
        (await recentProbes(sidecar)).find(
          ({ outcome, reason, started_at }) =>
            outcome === 'failed' && Date.parse(started_at) >= began && !/timeout$|^stalled$/.test(reason ?? ''),
        ),
      );
      expect(load.refused().size).toBeGreaterThan(0);
      // A real 503, or HTTP 200 with an error object of code 503 inside the stream: the same refusal.
      expect(refused.reason).toBe('overloaded');
    } finally {
      await load.stop();
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { Discovery } from '../../../src/engine/types.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import type { SimFault } from '../../../src/sim/fault-types.ts';
import { DEFAULT_LOAD, type SimLoadOptions } from '../../../src/sim/options.ts';
import { seconds } from '../../../src/units.ts';
import { discovery } from '../../unit/app/world.ts';
import { exporter, quickConfig, quickProfile, quickTarget, type Running, simulator, until } from './harness.ts';

const LABELS = 'target="engine",model="sim",profile="cold"';
const RUNNING = 'inference_engine_requests_running{target="engine",model="sim",dp_rank="0"}';
const HUNG = 'inference_engine_hung{target="engine"}';
const attempts = (running: Running, labels = LABELS) => running.metric(`inference_probe_attempts_total{${labels}}`);
const failures = (running: Running, reason: string, labels = LABELS) =>
  running.metric(`inference_probe_failures_total{${labels},reason="${reason}"}`);

interface Listed {
  readonly outcome: string;
  readonly reason: FailureReason | null;
  readonly cause: string | null;
  readonly evidence: { readonly hung: boolean; readonly samples: number } | null;
}
const probes = async (running: Running): Promise<readonly Listed[]> => JSON.parse((await running.get('/probes')).body);

describe('the exporter beside a simulated engine', () => {
  it('finds engine, model and API by itself, probes, and shows both sides on one page', async () => {
    const { url } = await simulator();
    const running = await exporter(quickConfig(quickTarget(url)));
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 3,
    );
    const page = await running.page();
    expect(page).toContain('inference_probe_target_info{');
    expect(page).toMatch(/engine="vllm"/);
    expect(await running.metric(`inference_probe_success{${LABELS}}`)).toBe(1);
    expect(await running.metric('inference_engine_up{target="engine"}')).toBe(1);
    expect(
      await running.metric(`inference_probe_output_tokens_total{${LABELS},token_source="usage"}`),
    ).toBeGreaterThanOrEqual(24);
    expect(await failures(running, 'ttft_timeout')).toBe(0);
    expect(page).toMatch(/inference_engine_requests_running\{/);
    expect((await running.get('/-/ready')).status).toBe(200);
    const [probe] = await probes(running);
    expect(probe).toMatchObject({
      outcome: 'good',
      engine: { name: 'vllm', version: '0.32.0+simulated' },
      cause: null,
    });
    expect(running.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  it('all series of the configuration are there at 0 before the first probe', async () => {
    const { url } = await simulator();
    const target = quickTarget(url, { model: 'sim', api: 'completions', profiles: [quickProfile('cold', 3600)] });
    const running = await exporter(quickConfig(target));
    expect(await attempts(running)).toBe(0);
    expect(await failures(running, 'stalled')).toBe(0);
    expect(await running.metric('inference_probe_paused{target="engine"}')).toBe(0);
    expect(await running.metric(`inference_probe_interval_seconds{${LABELS}}`)).toBe(3600);
  });

  const FAULTS: readonly { readonly fault: SimFault; readonly reason: FailureReason; readonly cause: string }[] = [
    {
      fault: { kind: 'error', where: 'http', afterTokens: 0, requests: null, forSeconds: null },
      reason: 'server_error',
      cause: 'unknown',
    },
    {
      fault: { kind: 'error', where: 'stream', afterTokens: 3, requests: null, forSeconds: null },
      reason: 'stream_error',
      cause: 'unknown',
    },
    {
      fault: { kind: 'truncate', afterTokens: 3, how: 'end', requests: null, forSeconds: null },
      reason: 'truncated',
      cause: 'unknown',
    },
    {
      fault: { kind: 'truncate', afterTokens: 3, how: 'reset', requests: null, forSeconds: null },
      reason: 'connection_lost',
      cause: 'unknown',
    },
    {
      fault: { kind: 'refuse', status: 429, retryAfterSeconds: 0, requests: null, forSeconds: null },
      reason: 'rate_limited',
      cause: 'rate_limit',
    },
  ];
  for (const { fault, reason, cause } of FAULTS) {
    it(`a fault "${fault.kind}${'where' in fault ? ` ${fault.where}` : ''}${'how' in fault ? ` ${fault.how}` : ''}" is ${reason}, caused by ${cause}`, async () => {
      const engine = await simulator();
      const running = await exporter(quickConfig(quickTarget(engine.url)));
      await until(
        () => attempts(running),
        (count) => (count ?? 0) >= 1,
      );
      engine.fault(fault);
      const seen = await until(
        async () => (await probes(running)).filter((probe) => probe.outcome === 'failed' && probe.cause === cause),
        (found) => found.length > 0,
      );
      expect(seen[0]?.reason).toBe(reason);
      expect(await failures(running, reason)).toBeGreaterThanOrEqual(1);
      expect(await running.metric(`inference_probe_causes_total{${LABELS},cause="${cause}"}`)).toBeGreaterThanOrEqual(
        1,
      );
      expect(running.lines.filter(({ message }) => message === 'probes fail')).toHaveLength(1);
    });
  }

  it('R-012: an engine that hangs under load is up and hung, and its probes are blamed on that', async () => {
    const load: SimLoadOptions = {
      ...DEFAULT_LOAD,
      shape: 'steady',
      ratePerSecond: 4,
      outputTokens: 2000,
      outputSigma: 0.1,
    };
    const engine = await simulator({ load });
    const impatient = quickProfile('cold', 0.3, 3.5);
    const running = await exporter(quickConfig(quickTarget(engine.url, { profiles: [impatient] })));
    await until(
      () => running.metric(RUNNING),
      // One of them may be our own probe.
      (count) => (count ?? 0) >= 3,
    );
    engine.fault({ kind: 'hang', forSeconds: null });
    await until(
      () => running.metric(HUNG),
      (hung) => hung === 1,
    );
    expect(await running.metric('inference_engine_up{target="engine"}')).toBe(1);
    await until(
      () => running.metric(`inference_probe_causes_total{${LABELS},cause="engine_hang"}`),
      (count) => (count ?? 0) >= 1,
    );
    engine.fault({ kind: 'clear', fault: 'hang' });
    await until(
      () => running.metric(HUNG),
      (hung) => hung === 0,
    );
  }, 40_000);

  it('R-012: an engine that stood idle when it stopped is found to hang by the probe alone', async () => {
    const engine = await simulator();
    // Time enough between two probes for the engine to stop there and not in the middle of one.
    const impatient = quickProfile('cold', 2, 3.5);
    const running = await exporter(quickConfig(quickTarget(engine.url, { profiles: [impatient] })));
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 1,
    );
    engine.fault({ kind: 'hang', forSeconds: null });
    const [failed] = await until(
      async () => (await probes(running)).filter(({ outcome }) => outcome === 'failed'),
      (found) => found.length > 0,
    );
    expect(failed).toMatchObject({ reason: 'ttft_timeout', cause: 'engine_hang' });
  }, 30_000);

  it('an engine that is put to sleep is skipped, not failed', async () => {
    const engine = await simulator();
    const running = await exporter(quickConfig(quickTarget(engine.url)));
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 1,
    );
    engine.fault({ kind: 'sleep', forSeconds: null });
    await until(
      () => running.metric(`inference_probe_skipped_total{${LABELS},reason="asleep"}`),
      (count) => (count ?? 0) >= 2,
    );
  });

  it('a target that is down disturbs no other, and is found when it comes', async () => {
    const engine = await simulator();
    const nobody = new URL('http://127.0.0.1:9');
    const running = await exporter(quickConfig(quickTarget(engine.url), quickTarget(nobody, { name: 'down' })));
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 3,
    );
    // The two targets keep their own time: what is said of the one may come a moment after what is said of the other.
    await until(
      () => running.metric('inference_engine_up{target="down"}'),
      (up) => up === 0,
    );
    expect((await running.get('/-/ready')).status).toBe(200);
    const skipped = 'inference_probe_skipped_total{target="down",model="unknown",profile="cold",reason="starting"}';
    await until(
      () => running.metric(skipped),
      (count) => (count ?? 0) >= 1,
    );
  });

  it('G-173: is healthy from the start and ready only when every endpoint has been asked once', async () => {
    let answer: (found: Discovery) => void = () => {};
    const found = new Promise<Discovery>((resolve) => {
      answer = resolve;
    });
    const { url } = await simulator();
    const running = await exporter(quickConfig(quickTarget(url)), { factories: { discover: () => found } });
    expect((await running.get('/-/healthy')).status).toBe(200);
    expect(await running.get('/-/ready')).toMatchObject({ status: 503, body: expect.stringContaining('asked') });
    answer(discovery({ metricsUrl: null }));
    await until(
      () => running.get('/-/ready'),
      ({ status }) => status === 200,
    );
  });

  it('an engine that restarts is seen to restart, and probed on', async () => {
    const engine = await simulator();
    const running = await exporter(quickConfig(quickTarget(engine.url)));
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 2,
    );
    engine.fault({ kind: 'restart', downSeconds: seconds(0.5) });
    await until(
      () => running.metric('inference_engine_restarts_total{target="engine"}'),
      (count) => (count ?? 0) >= 1,
    );
    const before = (await attempts(running)) ?? 0;
    await until(
      () => attempts(running),
      (count) => (count ?? 0) > before + 1,
    );
    await until(
      () => running.metric(`inference_probe_success{${LABELS}}`),
      (good) => good === 1,
    );
  });
});

describe('reloading', () => {
  it('keeps the counts of unchanged targets, begins new ones, and lets the series of removed ones go', async () => {
    const first = await simulator();
    const second = await simulator();
    const kept = quickTarget(first.url);
    const running = await exporter(quickConfig(kept, quickTarget(second.url, { name: 'old' })));
    const old = 'target="old",model="sim",profile="cold"';
    const before = await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 3,
    );
    await until(
      () => attempts(running, old),
      (count) => (count ?? 0) >= 1,
    );
    await running.app.reload(quickConfig(quickTarget(first.url), quickTarget(second.url, { name: 'new' })));
    expect(await attempts(running)).toBeGreaterThanOrEqual(before ?? 0);
    expect(await running.page()).not.toContain('target="old"');
    await until(
      () => attempts(running, 'target="new",model="sim",profile="cold"'),
      (count) => (count ?? 0) >= 1,
    );
    expect((await running.get('/config')).body).not.toContain('name: old');
  });

  it('says that changed settings of the web server need a restart', async () => {
    const { url } = await simulator();
    const config = quickConfig(quickTarget(url));
    const running = await exporter(config);
    await running.app.reload({ ...config, web: { ...config.web, telemetryPath: '/other' } });
    expect(running.lines.map(({ message }) => message)).toContain(
      'changed settings of the web server are used after a restart',
    );
  });

  it('POST /-/reload calls back, and a failed attempt shows in the metrics', async () => {
    const { url } = await simulator();
    let asked = 0;
    const running = await exporter(quickConfig(quickTarget(url)), {
      reload: async () => {
        asked += 1;
        return { ok: false, message: 'line 3: no' };
      },
    });
    expect(await running.post('/-/reload')).toBe(500);
    running.app.configLoaded(false);
    expect(asked).toBe(1);
    expect(await running.metric('inference_probe_exporter_config_last_reload_successful')).toBe(0);
  });

  it('POST /-/pause stops the probes and shows it; /-/resume lets them go on', async () => {
    const { url } = await simulator();
    const config = quickConfig(quickTarget(url));
    const running = await exporter({ ...config, web: { ...config.web, enablePause: true } });
    await until(
      () => attempts(running),
      (count) => (count ?? 0) >= 1,
    );
    expect(await running.post('/-/pause')).toBe(200);
    expect(await running.metric('inference_probe_paused{target="engine"}')).toBe(1);
    await until(
      () => running.metric(`inference_probe_skipped_total{${LABELS},reason="paused"}`),
      (count) => (count ?? 0) >= 2,
    );
    expect(await running.post('/-/resume')).toBe(200);
    const paused = (await attempts(running)) ?? 0;
    await until(
      () => attempts(running),
      (count) => (count ?? 0) > paused,
    );
  });
});

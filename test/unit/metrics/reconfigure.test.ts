import { describe, expect, it } from 'vitest';
import { seconds, unixTime } from '../../../src/units.ts';
import { sampleOf, samplesOf } from '../../support/metrics-page.ts';
import { metricsUnderTest } from '../../support/metrics-under-test.ts';
import { sampleConfig, sampleProfile, sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, finished, goodProbe } from '../../support/sample-probe.ts';

const slowGoal = (thresholdSeconds: number) => ({
  ...sampleTarget().slo,
  ttft: { thresholdSeconds: seconds(thresholdSeconds), objectiveRatio: 0.9 },
});

describe('a new configuration', () => {
  it('takes away the series of targets and profiles that are gone', async () => {
    const metrics = metricsUnderTest(sampleConfig({ targets: [sampleTarget(), sampleTarget({ name: 'second' })] }));
    metrics.reconfigure(sampleConfig({ targets: [sampleTarget({ profiles: [sampleProfile('warm')] })] }));
    const page = await metrics.page();
    expect(page).not.toContain('target="second"');
    expect(page).not.toContain('profile="cold"');
    expect(sampleOf(page, 'inference_probe_exporter_targets')).toBe(1);
  });

  it('leaves the counts of what stays', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    metrics.paused('engine', true);
    metrics.reconfigure(sampleConfig());
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_attempts_total', { profile: 'cold' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { profile: 'cold', outcome: 'success' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_paused')).toBe(1);
  });

  it('G-127: brings the series of an added target at 0', async () => {
    const metrics = metricsUnderTest();
    metrics.reconfigure(sampleConfig({ targets: [sampleTarget(), sampleTarget({ name: 'second' })] }));
    const page = await metrics.page();
    expect(
      sampleOf(page, 'inference_probe_failures_total', { target: 'second', profile: 'cold', reason: 'stalled' }),
    ).toBe(0);
  });

  it('makes a changed threshold an edge of its histogram, which starts anew while the counters go on', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    metrics.reconfigure(sampleConfig({ targets: [sampleTarget({ slo: slowGoal(0.77) })] }));
    const page = await metrics.page();
    expect(samplesOf(page, 'inference_probe_ttft_seconds_bucket', { profile: 'cold', le: '0.77' })).toHaveLength(2);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { profile: 'cold', outcome: 'success' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_attempts_total', { profile: 'cold' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_tpot_seconds_count', { profile: 'cold' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_slo_threshold_seconds', { profile: 'cold', slo: 'ttft' })).toBe(0.77);
  });

  it('starts another model from 0', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    metrics.reconfigure(sampleConfig({ targets: [sampleTarget({ model: 'bigger-model' })] }));
    const page = await metrics.page();
    expect(page).not.toContain('tiny-model');
    expect(sampleOf(page, 'inference_probe_attempts_total', { model: 'bigger-model', profile: 'cold' })).toBe(0);
  });

  it('that cannot be loaded shows in the reload metrics, and the time of the good one stays', async () => {
    const metrics = metricsUnderTest();
    const start = 1_767_225_600;
    const at = 'inference_probe_exporter_config_last_reload_success_timestamp_seconds';
    expect(sampleOf(await metrics.page(), at)).toBe(start);
    metrics.configReloaded(false, unixTime(start + 50));
    const broken = await metrics.page();
    expect(sampleOf(broken, 'inference_probe_exporter_config_last_reload_successful')).toBe(0);
    expect(sampleOf(broken, at)).toBe(start);
    metrics.configReloaded(true, unixTime(start + 90));
    expect(sampleOf(await metrics.page(), at)).toBe(start + 90);
  });
});

describe('a target whose model is found out', () => {
  const auto = sampleConfig({ targets: [sampleTarget({ model: 'auto', engine: 'auto', api: 'auto' })] });

  it('is there from the start under "unknown", and its series move on when the model is known', async () => {
    const metrics = metricsUnderTest(auto);
    expect(
      sampleOf(await metrics.page(), 'inference_probe_attempts_total', { model: 'unknown', profile: 'cold' }),
    ).toBe(0);
    metrics.targetResolved('engine', { model: 'tiny-model', engine: 'vllm', api: 'chat' });
    const page = await metrics.page();
    expect(page).not.toContain('model="unknown"');
    expect(
      sampleOf(page, 'inference_probe_failures_total', { model: 'tiny-model', profile: 'cold', reason: 'stalled' }),
    ).toBe(0);
    expect(sampleOf(page, 'inference_probe_target_info', { profile: 'cold', engine: 'vllm', api: 'chat' })).toBe(1);
  });

  it('keeps what was counted before the model was known', async () => {
    const metrics = metricsUnderTest(auto);
    metrics.probeFinished(finished(failedProbe('connect_refused', { model: 'unknown' })));
    metrics.targetResolved('engine', { model: 'tiny-model' });
    const page = await metrics.page();
    expect(
      sampleOf(page, 'inference_probe_failures_total', {
        model: 'tiny-model',
        profile: 'cold',
        reason: 'connect_refused',
      }),
    ).toBe(1);
  });

  it('has one model at a time, also when nobody told before the first probe', async () => {
    const metrics = metricsUnderTest(auto);
    metrics.probeFinished(finished(goodProbe()));
    metrics.targetResolved('engine', { model: 'other-model' });
    const page = await metrics.page();
    expect(new Set(samplesOf(page, 'inference_probe_attempts_total').map(({ labels }) => labels.model))).toEqual(
      new Set(['other-model']),
    );
    expect(sampleOf(page, 'inference_probe_attempts_total', { profile: 'cold' })).toBe(0);
  });

  it('remembers what was found out when the configuration is loaded again', async () => {
    const metrics = metricsUnderTest(auto);
    metrics.targetResolved('engine', { model: 'tiny-model' });
    metrics.reconfigure(auto);
    expect(
      sampleOf(await metrics.page(), 'inference_probe_attempts_total', { model: 'tiny-model', profile: 'cold' }),
    ).toBe(0);
    metrics.targetResolved('gone', { model: 'x' });
  });
});

import { describe, expect, it } from 'vitest';
import { COUNTER_ROLES, GAUGE_ROLES, HISTOGRAM_ROLES } from '../../../src/engine/types.ts';
import { estimateSeries } from '../../../src/metrics/estimate.ts';
import { seconds, unixTime } from '../../../src/units.ts';
import { readPage } from '../../support/metrics-page.ts';
import { metricsUnderTest } from '../../support/metrics-under-test.ts';
import { sampleConfig, sampleProfile, sampleTarget } from '../../support/sample-config.ts';
import { sampleSeries, sampleView } from '../../support/sample-engine.ts';
import { finished, goodProbe } from '../../support/sample-probe.ts';

describe('the estimate of series', () => {
  it('is the number of series that a target at work really has', async () => {
    const config = sampleConfig();
    const metrics = metricsUnderTest(config);
    for (const profile of ['cold', 'warm'])
      metrics.probeFinished(
        finished(
          goodProbe({ profile, certificateExpiresAt: unixTime(2e9), clientCertificateExpiresAt: unixTime(2e9) }),
        ),
      );
    const roles = [...GAUGE_ROLES, ...COUNTER_ROLES, ...HISTOGRAM_ROLES, 'kv_cache_capacity_tokens'];
    const supported = Object.fromEntries(roles.map((role) => [role, true]));
    metrics.engineViews(() => [
      sampleView({ supported, kvUsageSkewRatio: 0.1, series: [sampleSeries({ waitingByReason: { capacity: 1 } })] }),
    ]);
    const series = readPage(await metrics.page()).filter(({ labels }) => labels.target === 'engine');
    const estimate = estimateSeries(config);
    expect(estimate.perTarget[0]?.total).toBe(series.length);
    expect(metrics.seriesEstimate(config)).toEqual(estimate);
  });

  it('counts a threshold of its own as a bucket of each outcome, and a longer deadline as one more', () => {
    const base = estimateSeries(sampleConfig()).perTarget[0]?.profiles[0]?.series ?? 0;
    const slo = { ...sampleTarget().slo, ttft: { thresholdSeconds: seconds(1.23), objectiveRatio: 0.9 } };
    const other = estimateSeries(sampleConfig({ targets: [sampleTarget({ slo })] }));
    expect(other.perTarget[0]?.profiles[0]?.series).toBe(base + 2);
    const deadlines = { ...sampleProfile('cold').profile.deadlines, firstTokenSeconds: seconds(50) };
    const later = estimateSeries(
      sampleConfig({ targets: [sampleTarget({ profiles: [sampleProfile('cold', { deadlines })] })] }),
    );
    expect(later.perTarget[0]?.profiles[0]?.series).toBe(base + 2);
  });

  it('is less without the engine, and more with its histograms', () => {
    const engineOf = (metrics: Partial<ReturnType<typeof sampleTarget>['metrics']>): number =>
      estimateSeries(sampleConfig({ targets: [sampleTarget({ metrics: { ...sampleTarget().metrics, ...metrics } })] }))
        .perTarget[0]?.engine ?? 0;
    expect(engineOf({ enabled: false })).toBeLessThan(engineOf({}));
    expect(engineOf({ exportHistograms: true })).toBeGreaterThan(engineOf({}));
  });
});

import { describe, expect, it } from 'vitest';
import { POLL_FAILURE_REASONS } from '../../../src/engine/types.ts';
import { MOST_ENGINE_SERIES } from '../../../src/metrics/engine-rows.ts';
import { sampleOf, samplesOf } from '../../support/metrics-page.ts';
import { metricsUnderTest } from '../../support/metrics-under-test.ts';
import { sampleSeries, sampleView } from '../../support/sample-engine.ts';

async function pageOf(...views: readonly ReturnType<typeof sampleView>[]): Promise<string> {
  const metrics = metricsUnderTest();
  metrics.engineViews(() => views);
  return metrics.page();
}

const RANK = { target: 'engine', model: 'tiny-model', dp_rank: '0' };

describe('an engine that was polled', () => {
  it('shows gauges, their peaks and means, and counters of our own', async () => {
    const page = await pageOf(sampleView());
    expect(sampleOf(page, 'inference_engine_up', { target: 'engine' })).toBe(1);
    expect(sampleOf(page, 'inference_engine_kv_cache_usage_ratio', RANK)).toBe(0.5);
    expect(sampleOf(page, 'inference_engine_kv_cache_usage_ratio_peak', RANK)).toBe(0.98);
    expect(sampleOf(page, 'inference_engine_requests_running_mean', RANK)).toBe(15.5);
    expect(sampleOf(page, 'inference_engine_requests_waiting', RANK)).toBe(3);
    expect(sampleOf(page, 'inference_engine_requests_waiting_by_reason', { ...RANK, reason: 'capacity' })).toBe(3);
    expect(sampleOf(page, 'inference_engine_preemptions_total', RANK)).toBe(3);
    expect(sampleOf(page, 'inference_engine_kv_cache_capacity_tokens', RANK)).toBe(8192);
    expect(sampleOf(page, 'inference_engine_poll_interval_seconds')).toBe(1);
  });

  it('shows its zone as one of three, and what it is in an info', async () => {
    const page = await pageOf(sampleView());
    const zones = samplesOf(page, 'inference_engine_zone', { target: 'engine', model: 'tiny-model' });
    expect(zones.map(({ labels, value }) => [labels.zone, value])).toEqual([
      ['underload', 0],
      ['knee', 1],
      ['overload', 0],
    ]);
    expect(sampleOf(page, 'inference_engine_info', { engine: 'vllm', version: '0.32.0', block_size: '16' })).toBe(1);
  });

  it('keeps ranks and models apart', async () => {
    const page = await pageOf(
      sampleView({
        series: [sampleSeries(), sampleSeries({ dpRank: '1' }), sampleSeries({ model: 'other', dpRank: '' })],
      }),
    );
    expect(samplesOf(page, 'inference_engine_requests_running')).toHaveLength(3);
    expect(sampleOf(page, 'inference_engine_requests_running', { model: 'other', dp_rank: '' })).toBe(12);
    expect(samplesOf(page, 'inference_engine_zone')).toHaveLength(6);
  });

  it('counts failed polls by reason from 0', async () => {
    const pollFailures = { ...sampleView().pollFailures, timeout: 4 };
    const page = await pageOf(sampleView({ pollFailures }));
    for (const reason of POLL_FAILURE_REASONS) {
      expect(sampleOf(page, 'inference_engine_poll_failures_total', { reason })).toBe(reason === 'timeout' ? 4 : 0);
    }
  });

  it('says which quantities it does not offer', async () => {
    const page = await pageOf(sampleView({ supported: { preemptions: false, requests_running: true } }));
    expect(sampleOf(page, 'inference_engine_metric_supported', { metric: 'preemptions' })).toBe(0);
    expect(sampleOf(page, 'inference_engine_metric_supported', { metric: 'requests_running' })).toBe(1);
    expect(samplesOf(page, 'inference_engine_metric_supported')).toHaveLength(2);
  });

  it('has its own latency histograms re-exported with its own bounds', async () => {
    const ttft = { bounds: [0.001, 1, 2.5], counts: [0, 4, 9], count: 10, sum: 17.5 };
    const page = await pageOf(sampleView({ series: [sampleSeries({ histograms: { ttft } })] }));
    const buckets = samplesOf(page, 'inference_engine_ttft_seconds_bucket', RANK);
    expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
      ['0.001', 0],
      ['1.0', 4],
      ['2.5', 9],
      ['+Inf', 10],
    ]);
    expect(sampleOf(page, 'inference_engine_ttft_seconds_sum', RANK)).toBe(17.5);
    expect(samplesOf(page, 'inference_engine_e2e_seconds_bucket')).toEqual([]);
  });
});

describe('what an engine does not say', () => {
  it('G-095: a role that is missing or no number has no series, and is never 0', async () => {
    const page = await pageOf(
      sampleView({
        series: [
          sampleSeries({
            gauges: { kv_cache_usage_ratio: Number.NaN },
            peaks: {},
            means: {},
            counters: {},
            waitingByReason: { x: Number.POSITIVE_INFINITY },
            kvCapacityTokens: null,
          }),
        ],
      }),
    );
    for (const name of [
      'kv_cache_usage_ratio',
      'requests_running',
      'preemptions_total',
      'kv_cache_capacity_tokens',
      'requests_waiting_by_reason',
    ]) {
      expect(samplesOf(page, `inference_engine_${name}`)).toEqual([]);
    }
    expect(page).not.toContain('NaN');
  });

  it('stale data goes: the series vanish, up is 0, and what is known of the past stays', async () => {
    const page = await pageOf(sampleView({ up: false, series: [], zone: null, restarts: 2, unchangedSeconds: null }));
    expect(sampleOf(page, 'inference_engine_up')).toBe(0);
    expect(sampleOf(page, 'inference_engine_restarts_total')).toBe(2);
    expect(sampleOf(page, 'inference_engine_last_poll_timestamp_seconds')).toBe(1_767_225_600);
    for (const name of [
      'kv_cache_usage_ratio',
      'requests_running',
      'zone',
      'info',
      'preemptions_total',
      'unchanged_seconds',
    ]) {
      expect(samplesOf(page, `inference_engine_${name}`)).toEqual([]);
    }
  });

  it('an engine that was never polled has no time of a last poll', async () => {
    const page = await pageOf(
      sampleView({ up: false, series: [], lastPollAt: null, pollDurationSeconds: null, pollEverySeconds: null }),
    );
    expect(samplesOf(page, 'inference_engine_last_poll_timestamp_seconds')).toEqual([]);
    expect(samplesOf(page, 'inference_engine_poll_duration_seconds')).toEqual([]);
  });

  it('a target without a view, or a view without a target, has no engine series', async () => {
    expect(samplesOf(await pageOf(), 'inference_engine_up')).toEqual([]);
    expect(samplesOf(await pageOf(sampleView({ target: 'gone' })), 'inference_engine_up')).toEqual([]);
  });
});

describe('what an engine could do to the page', () => {
  it('G-145: labels that belong to Prometheus or to us are not taken over from its configuration', async () => {
    const cacheConfig = {
      instance: 'vllm-0',
      job: 'vllm',
      __name__: 'x',
      target: 'y',
      'bad name': 'z',
      block_size: '16',
    };
    const page = await pageOf(sampleView({ cacheConfig }));
    const [info] = samplesOf(page, 'inference_engine_info');
    expect(Object.keys(info?.labels ?? {}).sort()).toEqual(['block_size', 'engine', 'model', 'target', 'version']);
    expect(page).not.toMatch(/[{,](instance|job|__\w+)="/);
  });

  it('a label set that it repeats is shown once and counted as left out', async () => {
    const page = await pageOf(sampleView({ series: [sampleSeries(), sampleSeries()] }));
    expect(samplesOf(page, 'inference_engine_requests_running')).toHaveLength(1);
    expect(sampleOf(page, 'inference_engine_omitted_series')).toBe(1);
  });

  it('no more than a bounded number of models is shown', async () => {
    const series = Array.from({ length: MOST_ENGINE_SERIES + 44 }, (_, index) => sampleSeries({ model: `m${index}` }));
    const page = await pageOf(sampleView({ series }));
    expect(samplesOf(page, 'inference_engine_requests_running')).toHaveLength(MOST_ENGINE_SERIES);
    expect(sampleOf(page, 'inference_engine_omitted_series')).toBe(44);
  });

  it('one target has its series once, whoever reports it twice', async () => {
    const page = await pageOf(sampleView(), sampleView({ restarts: 9 }));
    expect(samplesOf(page, 'inference_engine_restarts_total')).toHaveLength(1);
  });

  it('G-086: a model name with quotes, backslashes and line breaks cannot break the page', async () => {
    const model = 'C:\\models\\a"b\nc';
    const page = await pageOf(sampleView({ series: [sampleSeries({ model })] }));
    expect(sampleOf(page, 'inference_engine_requests_running', { model })).toBe(12);
  });
});

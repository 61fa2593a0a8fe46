import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnose/types.ts';
import { SKIP_REASONS } from '../../../src/probe/outcome.ts';
import { FAILURE_REASONS } from '../../../src/probe/reasons.ts';
import { seconds, unixTime } from '../../../src/units.ts';
import { sampleOf, samplesOf } from '../../support/metrics-page.ts';
import { metricsUnderTest } from '../../support/metrics-under-test.ts';
import { sampleConfig, sampleProfile, sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from '../../support/sample-probe.ts';

const COLD = { target: 'engine', model: 'tiny-model', profile: 'cold' };

describe('before the first probe', () => {
  it('G-127: every known label set exists at 0, for each profile', async () => {
    const page = await metricsUnderTest().page();
    for (const profile of ['cold', 'warm']) {
      const labels = { ...COLD, profile };
      expect(sampleOf(page, 'inference_probe_attempts_total', labels)).toBe(0);
      for (const reason of FAILURE_REASONS)
        expect(sampleOf(page, 'inference_probe_failures_total', { ...labels, reason })).toBe(0);
      for (const reason of SKIP_REASONS)
        expect(sampleOf(page, 'inference_probe_skipped_total', { ...labels, reason })).toBe(0);
      for (const cause of CAUSES) expect(sampleOf(page, 'inference_probe_causes_total', { ...labels, cause })).toBe(0);
      for (const slo of ['availability', 'ttft', 'tpot']) {
        expect(sampleOf(page, 'inference_probe_slo_events_total', { ...labels, slo })).toBe(0);
        expect(sampleOf(page, 'inference_probe_slo_good_total', { ...labels, slo })).toBe(0);
      }
      for (const outcome of ['success', 'failure']) {
        expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { ...labels, outcome })).toBe(0);
        expect(sampleOf(page, 'inference_probe_duration_seconds_count', { ...labels, outcome })).toBe(0);
      }
      expect(sampleOf(page, 'inference_probe_tpot_seconds_count', labels)).toBe(0);
      expect(sampleOf(page, 'inference_probe_phase_seconds_count', { ...labels, phase: 'tls' })).toBe(0);
      expect(sampleOf(page, 'inference_probe_schedule_lag_seconds_count', labels)).toBe(0);
    }
  });

  it('the last probe has no result yet, and none is made up', async () => {
    const page = await metricsUnderTest().page();
    expect(samplesOf(page, 'inference_probe_success')).toEqual([]);
    expect(samplesOf(page, 'inference_probe_last_success_timestamp_seconds')).toEqual([]);
    expect(samplesOf(page, 'inference_probe_last_attempt_timestamp_seconds')).toEqual([]);
  });

  it('thresholds, objectives, interval and budget are there for the rules', async () => {
    const page = await metricsUnderTest().page();
    expect(sampleOf(page, 'inference_probe_slo_threshold_seconds', { ...COLD, slo: 'ttft' })).toBe(2);
    expect(sampleOf(page, 'inference_probe_slo_objective_ratio', { ...COLD, slo: 'availability' })).toBe(0.99);
    expect(sampleOf(page, 'inference_probe_interval_seconds', COLD)).toBe(15);
    expect(sampleOf(page, 'inference_probe_first_token_deadline_seconds', COLD)).toBe(30);
    expect(sampleOf(page, 'inference_probe_token_budget_remaining', { window: 'hour' })).toBe(100_000);
    expect(sampleOf(page, 'inference_probe_paused', { target: 'engine' })).toBe(0);
    expect(
      sampleOf(page, 'inference_probe_target_info', {
        ...COLD,
        engine: 'vllm',
        api: 'completions',
        vantage: 'sidecar',
        connection: 'reuse',
      }),
    ).toBe(1);
  });

  it('the interval of a cron expression is asked of whoever knows', async () => {
    const scheduled = sampleProfile('cold');
    const timetable = { everySeconds: null, cron: '0 * * * * *', jitterSeconds: seconds(0) };
    const config = sampleConfig({ targets: [sampleTarget({ profiles: [{ ...scheduled, timetable }] })] });
    const known = await metricsUnderTest(config, { intervalOf: () => seconds(60) }).page();
    expect(sampleOf(known, 'inference_probe_interval_seconds')).toBe(60);
    expect(samplesOf(await metricsUnderTest(config).page(), 'inference_probe_interval_seconds')).toEqual([]);
  });
});

describe('a good probe', () => {
  it('is counted and observed once in each histogram, and each of its gaps', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_attempts_total', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_success', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_last_success_timestamp_seconds', COLD)).toBe(1_767_225_600);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_sum', { ...COLD, outcome: 'success' })).toBe(0.25);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_bucket', { ...COLD, outcome: 'success', le: '0.22' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_bucket', { ...COLD, outcome: 'success', le: '2.0' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_tpot_seconds_count', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_chunk_gap_seconds_count', COLD)).toBe(31);
    expect(sampleOf(page, 'inference_probe_longest_gap_seconds_count', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_duration_seconds_count', { ...COLD, outcome: 'success' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_phase_seconds_count', { ...COLD, phase: 'headers' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_phase_seconds_count', { ...COLD, phase: 'dns' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_output_tokens_total', { ...COLD, token_source: 'usage' })).toBe(32);
    expect(sampleOf(page, 'inference_probe_prompt_tokens_total', COLD)).toBe(128);
    expect(sampleOf(page, 'inference_probe_slo_good_total', { ...COLD, slo: 'ttft' })).toBe(1);
    expect(samplesOf(page, 'inference_probe_first_content_seconds_count')).toEqual([]);
  });

  it('of a reasoning model shows when its first visible text came', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe({ ttfcSeconds: seconds(1.5) })));
    expect(sampleOf(await metrics.page(), 'inference_probe_first_content_seconds_sum', COLD)).toBe(1.5);
  });

  it('that was buffered keeps its TTFT and loses its gaps and TPOT', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe({ buffered: true })));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_buffered_streams_total', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { ...COLD, outcome: 'success' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_tpot_seconds_count', COLD)).toBe(0);
    expect(sampleOf(page, 'inference_probe_chunk_gap_seconds_count', COLD)).toBe(0);
    expect(sampleOf(page, 'inference_probe_longest_gap_seconds_count', COLD)).toBe(0);
  });

  it('G-169: that was disturbed is counted and kept out of every histogram', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe({ disturbed: true, eventLoopDelaySeconds: seconds(0.4) })));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_disturbed_samples_total', COLD)).toBe(1);
    const observed = samplesOf(page, 'inference_probe_ttft_seconds_count')
      .concat(samplesOf(page, 'inference_probe_tpot_seconds_count'))
      .concat(samplesOf(page, 'inference_probe_chunk_gap_seconds_count'))
      .concat(samplesOf(page, 'inference_probe_duration_seconds_count'))
      .concat(samplesOf(page, 'inference_probe_phase_seconds_count'));
    expect(observed.filter(({ value }) => value !== 0)).toEqual([]);
    expect(sampleOf(page, 'inference_probe_exporter_event_loop_delay_seconds_bucket', { le: '0.2' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_exporter_event_loop_delay_seconds_count')).toBe(1);
  });
});

describe('a failed probe', () => {
  it('without a first token stands in TTFT at the first-token deadline', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(failedProbe('connect_refused', { durationSeconds: null })));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_ttft_seconds_sum', { ...COLD, outcome: 'failure' })).toBe(30);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_bucket', { ...COLD, outcome: 'failure', le: '20.0' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_failures_total', { ...COLD, reason: 'connect_refused' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_success', COLD)).toBe(0);
    expect(sampleOf(page, 'inference_probe_duration_seconds_count', { ...COLD, outcome: 'failure' })).toBe(0);
  });

  it('that had a first token stands in TTFT with its own time', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(
      finished(
        failedProbe('stalled', { ttftSeconds: seconds(0.3), tpotSeconds: seconds(0.02), gapsSeconds: [seconds(0.02)] }),
      ),
    );
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_ttft_seconds_sum', { ...COLD, outcome: 'failure' })).toBe(0.3);
    expect(sampleOf(page, 'inference_probe_tpot_seconds_count', COLD)).toBe(0);
    expect(sampleOf(page, 'inference_probe_chunk_gap_seconds_count', COLD)).toBe(0);
  });

  it('by a fault on our side is counted by its reason and enters no histogram', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(failedProbe('unauthorized')));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_failures_total', { ...COLD, reason: 'unauthorized' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { ...COLD, outcome: 'failure' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_slo_events_total', { ...COLD, slo: 'availability' })).toBe(0);
  });

  it('G-149: a dying service does not get a better p99: failures stay in the same histogram', async () => {
    const metrics = metricsUnderTest();
    for (let index = 0; index < 10; index += 1) metrics.probeFinished(finished(goodProbe()));
    for (let index = 0; index < 40; index += 1) metrics.probeFinished(finished(failedProbe('ttft_timeout')));
    const page = await metrics.page();
    const within = samplesOf(page, 'inference_probe_ttft_seconds_bucket', { ...COLD, le: '20.0' });
    const all = samplesOf(page, 'inference_probe_ttft_seconds_count', COLD);
    const total = (samples: readonly { value: number }[]): number => samples.reduce((sum, { value }) => sum + value, 0);
    expect(total(within) / total(all)).toBe(0.2);
  });
});

describe('a warm-up probe', () => {
  it('counts as an attempt and for its tokens, and nowhere else', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe(), { warmup: true }));
    metrics.probeFinished(
      finished(failedProbe('connect_refused'), { warmup: true, diagnosis: sampleDiagnosis('unknown') }),
    );
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_attempts_total', COLD)).toBe(2);
    expect(sampleOf(page, 'inference_probe_warmup_attempts_total', { ...COLD, outcome: 'success' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_warmup_attempts_total', { ...COLD, outcome: 'failure' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_output_tokens_total', { ...COLD, token_source: 'usage' })).toBe(32);
    expect(sampleOf(page, 'inference_probe_failures_total', { ...COLD, reason: 'connect_refused' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_causes_total', { ...COLD, cause: 'unknown' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { ...COLD, outcome: 'success' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_success', COLD)).toBe(1);
  });
});

describe('other reports', () => {
  it('a skipped tick counts against availability only when the endpoint made us skip it', async () => {
    const metrics = metricsUnderTest();
    metrics.probeSkipped('engine', 'cold', 'overlap', true);
    metrics.probeSkipped('engine', 'cold', 'budget', false);
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_skipped_total', { ...COLD, reason: 'overlap' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_slo_events_total', { ...COLD, slo: 'availability' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_slo_good_total', { ...COLD, slo: 'availability' })).toBe(0);
  });

  it('each slow probe has one cause', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(
      finished(goodProbe({ ttftSeconds: seconds(4) }), { diagnosis: sampleDiagnosis('preemption') }),
    );
    const causes = samplesOf(await metrics.page(), 'inference_probe_causes_total', COLD);
    expect(causes.filter(({ value }) => value > 0).map(({ labels }) => labels.cause)).toEqual(['preemption']);
  });

  it('oddities of the transport are counted, and what the certificate says is shown', async () => {
    const metrics = metricsUnderTest();
    const odd = { retriedStaleConnection: true, fallback: true, compressed: true, nonconformingEvents: 3 };
    metrics.probeFinished(
      finished(
        goodProbe({
          ...odd,
          refusedParameters: ['ignore_eos', 'stream_options.include_usage', 'no such name'],
          certificateExpiresAt: unixTime(1_800_000_000),
          clientCertificateExpiresAt: unixTime(1_700_000_000),
        }),
      ),
    );
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_stale_connection_retries_total', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_fallback_responses_total', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_compressed_streams_total', COLD)).toBe(1);
    expect(sampleOf(page, 'inference_probe_nonconforming_events_total', COLD)).toBe(3);
    expect(sampleOf(page, 'inference_probe_tls_certificate_expiry_timestamp_seconds', { target: 'engine' })).toBe(
      1_800_000_000,
    );
    expect(
      sampleOf(page, 'inference_probe_tls_client_certificate_expiry_timestamp_seconds', { target: 'engine' }),
    ).toBe(1_700_000_000);
    const refused = samplesOf(page, 'inference_probe_refused_parameter_info', COLD).map(
      ({ labels }) => labels.parameter,
    );
    expect(refused).toEqual(['ignore_eos', 'stream_options.include_usage']);
  });

  it('pause, budget and schedule lag show what they were told', async () => {
    const metrics = metricsUnderTest();
    metrics.paused('engine', true);
    metrics.budget('engine', { hour: 12, day: -3 });
    metrics.scheduleLag('engine', 'cold', seconds(0.004));
    metrics.scheduleLag('engine', 'cold', seconds(-0.001));
    const page = await metrics.page();
    expect(sampleOf(page, 'inference_probe_paused', { target: 'engine' })).toBe(1);
    expect(sampleOf(page, 'inference_probe_token_budget_remaining', { window: 'hour' })).toBe(12);
    expect(sampleOf(page, 'inference_probe_token_budget_remaining', { window: 'day' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_schedule_lag_seconds_sum', COLD)).toBe(0.004);
    expect(sampleOf(page, 'inference_probe_schedule_lag_seconds_count', COLD)).toBe(2);
  });

  it('values that are no numbers are dropped and counted, never shown', async () => {
    const metrics = metricsUnderTest();
    metrics.scheduleLag('engine', 'cold', seconds(Number.NaN));
    metrics.probeFinished(
      finished(
        goodProbe({
          ttftSeconds: seconds(-1),
          outputTokens: Number.NaN,
          tpotSeconds: seconds(Number.POSITIVE_INFINITY),
        }),
      ),
    );
    const page = await metrics.page();
    expect(page).not.toMatch(/NaN|Infinity/);
    expect(sampleOf(page, 'inference_probe_ttft_seconds_count', { ...COLD, outcome: 'success' })).toBe(0);
    expect(sampleOf(page, 'inference_probe_exporter_invalid_samples_total')).toBe(4);
  });

  it('for a target or profile that is not configured are passed over', async () => {
    const metrics = metricsUnderTest();
    const before = await metrics.page();
    metrics.probeFinished(finished(goodProbe({ target: 'gone', eventLoopDelaySeconds: null })));
    metrics.probeFinished(finished(goodProbe({ profile: 'gone', eventLoopDelaySeconds: null })));
    metrics.probeSkipped('gone', 'cold', 'paused', true);
    metrics.budget('gone', { hour: 1, day: 1 });
    metrics.paused('gone', true);
    expect(await metrics.page()).toBe(before);
  });

  it('G-167: the number of series does not grow with what servers answer', async () => {
    const metrics = metricsUnderTest();
    metrics.probeFinished(finished(goodProbe()));
    metrics.probeFinished(finished(failedProbe('stream_error')));
    const before = (await metrics.page()).split('\n').length;
    for (let index = 0; index < 300; index += 1) {
      metrics.probeFinished(
        finished(
          goodProbe({ id: `${index}`, finishReason: `odd-${index}`, outputHash: `${index}`, httpStatus: 200 + index }),
        ),
      );
      metrics.probeFinished(finished(failedProbe('stream_error', { id: `f${index}` })));
    }
    expect((await metrics.page()).split('\n')).toHaveLength(before);
  });
});

import {
  type EngineSeries,
  type EngineView,
  POLL_FAILURE_REASONS,
  type PollFailureReason,
} from '../../src/engine/types.ts';
import { seconds, unixTime } from '../../src/units.ts';

/** One label set of a busy engine. */
export function sampleSeries(overrides: Partial<EngineSeries> = {}): EngineSeries {
  return {
    model: 'tiny-model',
    dpRank: '0',
    gauges: { kv_cache_usage_ratio: 0.5, requests_running: 12, requests_waiting: 3 },
    peaks: { kv_cache_usage_ratio: 0.98, requests_running: 32, requests_waiting: 9 },
    means: { kv_cache_usage_ratio: 0.6, requests_running: 15.5, requests_waiting: 2.25 },
    counters: {
      preemptions: 3,
      prefix_cache_queries: 900,
      prefix_cache_hits: 300,
      prompt_tokens: 1000,
      generation_tokens: 500,
    },
    waitingByReason: { capacity: 3, deferred: 0 },
    histograms: {},
    kvCapacityTokens: 8192,
    ...overrides,
  };
}

/** An engine that was polled a moment ago. */
export function sampleView(overrides: Partial<EngineView> = {}): EngineView {
  const pollFailures = Object.fromEntries(POLL_FAILURE_REASONS.map((reason) => [reason, 0])) as Record<
    PollFailureReason,
    number
  >;
  return {
    target: 'engine',
    engine: 'vllm',
    version: '0.32.0',
    up: true,
    lastPollAt: unixTime(1_767_225_600),
    pollFailures,
    lastPollError: null,
    pollDurationSeconds: seconds(0.003),
    restarts: 0,
    hung: false,
    asleep: false,
    zone: 'knee',
    supported: { preemptions: true, kv_cache_usage_ratio: true },
    sources: { preemptions: 'vllm:num_preemptions' },
    series: [sampleSeries()],
    malformedLines: 0,
    inconsistentSource: false,
    kvUsageSkewRatio: null,
    pollEverySeconds: seconds(1),
    pollEveryReason: 'default',
    unchangedSeconds: seconds(0),
    cacheConfig: { block_size: '16', num_gpu_blocks: '512' },
    ...overrides,
  };
}

import { DEFAULT_BUCKETS } from '../../src/config/defaults.ts';
import type { Config, ScheduledProfile, TargetConfig } from '../../src/config/types.ts';
import type { ProbeProfile } from '../../src/probe/profile.ts';
import { seconds } from '../../src/units.ts';

/** A profile as the configuration would make it. */
export function sampleProfile(name: string, overrides: Partial<ProbeProfile> = {}): ScheduledProfile {
  return {
    timetable: { everySeconds: seconds(15), cron: null, jitterSeconds: seconds(0) },
    profile: {
      name,
      prefix: name === 'warm' ? 'shared' : 'unique',
      connection: 'reuse',
      promptTokens: 128,
      prompt: null,
      maxTokens: 32,
      ignoreEos: 'auto',
      temperature: 0,
      deadlines: {
        connectSeconds: seconds(5),
        headersSeconds: seconds(30),
        firstTokenSeconds: seconds(30),
        betweenTokensSeconds: seconds(10),
        totalSeconds: seconds(60),
      },
      expect: { minTokens: null, pattern: null, answer: null, detectDegenerate: false },
      extraBody: {},
      ...overrides,
    },
  };
}

/** A target with the two default profiles. */
export function sampleTarget(overrides: Partial<TargetConfig> = {}): TargetConfig {
  return {
    name: 'engine',
    url: new URL('http://127.0.0.1:8000'),
    model: 'tiny-model',
    api: 'completions',
    engine: 'vllm',
    vantage: 'sidecar',
    apiKey: null,
    headers: {},
    secretHeaders: {},
    connection: {
      family: 'auto',
      addressAttemptSeconds: seconds(1),
      caFile: null,
      certFile: null,
      keyFile: null,
      serverName: null,
      insecureSkipVerify: false,
      proxyUrl: null,
    },
    paused: false,
    metrics: {
      enabled: true,
      metricsUrl: null,
      everySeconds: null,
      staleAfterSeconds: seconds(10),
      peakWindowSeconds: seconds(60),
      maxBytes: 1_000_000,
      exportHistograms: false,
      hangAfterSeconds: seconds(20),
    },
    profiles: [sampleProfile('cold'), sampleProfile('warm')],
    slo: {
      availability: { objectiveRatio: 0.99 },
      ttft: { thresholdSeconds: seconds(2), objectiveRatio: 0.95 },
      tpot: { thresholdSeconds: seconds(0.1), objectiveRatio: 0.95 },
    },
    budget: { tokensPerHour: 100_000, tokensPerDay: 2_000_000 },
    warmupProbes: 1,
    kvCache: null,
    ...overrides,
  };
}

/** A complete configuration with one target. */
export function sampleConfig(overrides: Partial<Config> = {}): Config {
  return {
    source: 'environment',
    log: { level: 'info', format: 'json' },
    web: {
      listenAddress: '127.0.0.1:0',
      telemetryPath: '/metrics',
      webConfigFile: null,
      enablePause: false,
      enableReload: true,
    },
    paused: false,
    buckets: DEFAULT_BUCKETS,
    targets: [sampleTarget()],
    disturbedAfterSeconds: seconds(0.02),
    traceparent: false,
    mostParallelProbes: null,
    ...overrides,
  };
}

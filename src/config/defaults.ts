import { type Seconds, seconds } from '../units.ts';
import type { BucketSettings, BudgetSettings, SloSettings } from './types.ts';

/** Every default of the configuration, in one place. Documentation and JSON Schema are generated from here. */
export const DEFAULTS = {
  targetUrl: 'http://127.0.0.1:8000',
  /** Name of the one target of the environment form. */
  targetName: 'engine',
  /** From where the endpoint is seen: on this machine, or anywhere else. */
  vantage: { loopback: 'sidecar', elsewhere: 'remote' },
  log: { level: 'info', format: 'json' },
  web: {
    listenAddress: ':20061',
    telemetryPath: '/metrics',
    // Pausing hides an outage, so it is offered only on request; a reload can do no more than the file says.
    enablePause: false,
    enableReload: true,
  },
  profile: {
    everySeconds: seconds(15),
    jitterSeconds: seconds(0),
    prefix: 'unique',
    connection: 'reuse',
    promptTokens: 128,
    // Enough for a TPOT over some thirty gaps, little enough to be unnoticed by the engine.
    maxTokens: 32,
    // Sent only where the engine is known to honour it; elsewhere an unknown parameter may be refused.
    ignoreEos: 'auto',
    temperature: 0,
    deadlines: {
      connectSeconds: seconds(5),
      headersSeconds: seconds(30),
      firstTokenSeconds: seconds(30),
      betweenTokensSeconds: seconds(10),
      totalSeconds: seconds(60),
    },
  },
  slo: {
    availability: { objectiveRatio: 0.99 },
    ttft: { thresholdSeconds: seconds(2), objectiveRatio: 0.95 },
    tpot: { thresholdSeconds: seconds(0.1), objectiveRatio: 0.95 },
  } satisfies SloSettings as SloSettings,
  // The two default profiles plan 76,800 tokens an hour and 1,843,200 a day.
  budget: { tokensPerHour: 100_000, tokensPerDay: 2_000_000 } satisfies BudgetSettings as BudgetSettings,
  metrics: {
    enabled: true,
    staleAfterSeconds: seconds(10),
    peakWindowSeconds: seconds(60),
    hangAfterSeconds: seconds(20),
    maxBytes: 32 * 1024 * 1024,
    exportHistograms: false,
  },
  connection: {
    family: 'auto',
    // Four times Node's own 250 ms, which gives up on healthy addresses a continent away.
    addressAttemptSeconds: seconds(1),
    insecureSkipVerify: false,
  },
  warmupProbes: 1,
  disturbedAfterSeconds: seconds(0.02),
  // Off: a traceparent makes gateways store a trace for every probe.
  traceparent: false,
  paused: false,
} as const;

/** The profiles of a configuration that names none. */
export const DEFAULT_PROFILES = [
  { name: 'cold', prefix: 'unique' },
  { name: 'warm', prefix: 'shared' },
] as const;

/**
 * Histogram bounds. Factor 1.3 where objectives live, so that an interpolated quantile is at most about 15 % off;
 * factor 2 below, where only the order of magnitude is of interest, and up to the deadline above.
 */
export const DEFAULT_BUCKETS: BucketSettings = {
  // 0.1 s (a warm small model) to 4.5 s (a long prefill behind a queue) is where TTFT objectives are set. 30 s is the
  // first-token deadline, where failures are entered.
  ttftSeconds: [
    0.005, 0.02, 0.05, 0.1, 0.13, 0.17, 0.22, 0.29, 0.38, 0.5, 0.65, 0.85, 1.1, 1.5, 2, 2.6, 3.4, 4.5, 6, 10, 20, 30,
    40,
  ],
  // 8 ms (120 tokens a second) to 0.2 s (slower than reading) is where TPOT objectives are set; factor 2 elsewhere, from
  // 1 ms on, so that no quantile of a fast engine is made of one wide bucket.
  tpotSeconds: [
    0.001, 0.002, 0.004, 0.008, 0.01, 0.013, 0.017, 0.022, 0.028, 0.037, 0.048, 0.062, 0.08, 0.1, 0.13, 0.17, 0.22, 0.4,
    0.8, 1.6, 5,
  ],
  // Gaps are read for their tail: a stall of seconds among tokens of milliseconds. Factor 2 up to a second.
  gapSeconds: [0.001, 0.002, 0.004, 0.008, 0.015, 0.025, 0.04, 0.065, 0.1, 0.2, 0.4, 0.8, 1.6, 4, 10],
  // A whole probe, up to the total deadline; no objective is set on it, so few will do.
  durationSeconds: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
};

/** Limits that make a configuration impossible, not merely weak. */
export const LIMITS = {
  /** Below this the timer's own error is a visible part of the interval. */
  shortestEverySeconds: seconds(0.2),
  longestEverySeconds: seconds(86_400),
  longestDeadlineSeconds: seconds(3600),
  promptTokens: 1_000_000,
  maxTokens: 100_000,
  targets: 5000,
  nameLength: 100,
  configBytes: 4 * 1024 * 1024,
  secretBytes: 64 * 1024,
  warmupProbes: 100,
} as const;

/** Where a warning starts. */
export const WEAK = {
  everySeconds: seconds(2) as Seconds,
  /** Some deployments refuse fewer output tokens (a minimum length of 16). */
  maxTokens: 16,
  /** A reasoning model may spend this many tokens before anything is visible. */
  reasoningMaxTokens: 64,
  /** Bounds that several targets' thresholds may add before the histograms become expensive. */
  addedBounds: 12,
} as const;

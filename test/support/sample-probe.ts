import type { Diagnosis, Evidence } from '../../src/diagnose/types.ts';
import type { FailedProbe, GoodProbe, ProbeMeasurement } from '../../src/probe/outcome.ts';
import { type FailureReason, REASON_TABLE } from '../../src/probe/reasons.ts';
import type { FinishedProbe } from '../../src/record.ts';
import { monotonicInstant, seconds, unixTime } from '../../src/units.ts';

/** A good probe of 32 tokens: first token after 0.25 s, 20 ms a token. */
function sampleMeasurement(overrides: Partial<ProbeMeasurement> = {}): ProbeMeasurement {
  return {
    id: '0123456789abcdef0123456789abcdef',
    target: 'engine',
    model: 'tiny-model',
    profile: 'cold',
    api: 'completions',
    startedAt: unixTime(1_767_225_600),
    beganAt: monotonicInstant(100),
    requestAt: monotonicInstant(100.01),
    endedAt: monotonicInstant(100.9),
    httpStatus: 200,
    connection: 'reused',
    phases: { dns: null, tcp: null, tls: null, write: seconds(0.0001), headers: seconds(0.02) },
    ttfeSeconds: seconds(0.25),
    ttftSeconds: seconds(0.25),
    ttfcSeconds: seconds(0.25),
    tpotSeconds: seconds(0.02),
    gapsSeconds: Array.from({ length: 31 }, () => seconds(0.02)),
    longestGapSeconds: seconds(0.02),
    durationSeconds: seconds(0.88),
    outputTokens: 32,
    firstChunkTokens: 1,
    tokenSource: 'usage',
    promptTokens: 128,
    cachedPromptTokens: 0,
    reasoningTokens: null,
    events: 33,
    tokenChunks: 32,
    nonconformingEvents: 0,
    finishReason: 'length',
    terminal: true,
    buffered: false,
    disturbed: false,
    eventLoopDelaySeconds: seconds(0.002),
    fallback: false,
    compressed: false,
    retriedStaleConnection: false,
    refusedParameters: [],
    retryAfterSeconds: null,
    certificateExpiresAt: null,
    clientCertificateExpiresAt: null,
    outputHash: '0011223344556677',
    timeline: [
      { atSeconds: seconds(0.25), kind: 'token', tokens: 1 },
      { atSeconds: seconds(0.88), kind: 'terminal', tokens: 0 },
    ],
    ...overrides,
  };
}

/** A probe that was good. */
export const goodProbe = (overrides: Partial<ProbeMeasurement> = {}): GoodProbe => ({
  ...sampleMeasurement(overrides),
  outcome: 'good',
});

/** A probe that failed before its first token, unless the overrides give it one. */
export function failedProbe(reason: FailureReason, overrides: Partial<ProbeMeasurement> = {}): FailedProbe {
  const { stage, side } = REASON_TABLE[reason];
  const nothing: Partial<ProbeMeasurement> = {
    ttfeSeconds: null,
    ttftSeconds: null,
    ttfcSeconds: null,
    tpotSeconds: null,
    gapsSeconds: [],
    longestGapSeconds: null,
    outputTokens: null,
    firstChunkTokens: null,
    tokenSource: null,
    promptTokens: null,
    cachedPromptTokens: null,
    tokenChunks: 0,
    finishReason: null,
    terminal: false,
    outputHash: null,
    timeline: [],
  };
  return {
    ...sampleMeasurement({ ...nothing, ...overrides }),
    outcome: 'failed',
    failure: { reason, stage, side, message: `the probe failed: ${reason}`, detail: {} },
  };
}

/** What the rest of the program gets of a probe. */
export const finished = (outcome: FinishedProbe['outcome'], overrides: Partial<FinishedProbe> = {}): FinishedProbe => ({
  outcome,
  engine: { name: 'vllm', version: '0.32.0' },
  diagnosis: null,
  warmup: false,
  ...overrides,
});

/** A verdict with evidence of a full KV cache. */
export function sampleDiagnosis(cause: Diagnosis['cause'], overrides: Partial<Evidence> = {}): Diagnosis {
  return {
    cause,
    evidence: {
      samples: 4,
      kvUsageRatioMax: 0.97,
      runningMax: 32,
      waitingMax: 7,
      preemptionsIncrease: 3,
      generationTokensIncrease: 812,
      restarted: false,
      hung: false,
      engineUp: true,
      zone: 'overload',
      connectSeconds: null,
      headersSeconds: 0.02,
      ttftSeconds: 4.1,
      longestGapSeconds: 0.4,
      eventLoopDelaySeconds: 0.002,
      ...overrides,
    },
  };
}

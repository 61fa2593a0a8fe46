import type { Diagnosis } from '../../../src/diagnose/types.ts';
import type { FailedProbe, Failure, GoodProbe, ProbeMeasurement, TimelineEntry } from '../../../src/probe/outcome.ts';
import type { FinishedProbe } from '../../../src/record.ts';
import { monotonicInstant, seconds, unixTime } from '../../../src/units.ts';

/** A token chunk every `stepSeconds` from `firstSeconds` on. */
export const tokensAt = (firstSeconds: number, stepSeconds: number, count: number): readonly TimelineEntry[] =>
  Array.from({ length: count }, (_, index) => ({
    atSeconds: seconds(firstSeconds + index * stepSeconds),
    kind: 'token',
    tokens: 1,
  }));

export const entry = (atSeconds: number, kind: TimelineEntry['kind']): TimelineEntry => ({
  atSeconds: seconds(atSeconds),
  kind,
  tokens: 0,
});

/** A good probe of 8 tokens: the first after 100 ms, then one each 50 ms. */
const MEASUREMENT: ProbeMeasurement = {
  id: '0123456789abcdef0123456789abcdef',
  target: 'once',
  model: 'llama-3',
  profile: 'once',
  api: 'completions',
  startedAt: unixTime(1_767_225_600),
  beganAt: monotonicInstant(100),
  requestAt: monotonicInstant(100.002),
  endedAt: monotonicInstant(100.462),
  httpStatus: 200,
  connection: 'fresh',
  phases: { dns: null, tcp: seconds(0.0004), tls: null, write: seconds(0.0001), headers: seconds(0.012) },
  ttfeSeconds: seconds(0.1),
  ttftSeconds: seconds(0.1),
  ttfcSeconds: seconds(0.1),
  tpotSeconds: seconds(0.05),
  gapsSeconds: new Array(7).fill(seconds(0.05)),
  longestGapSeconds: seconds(0.05),
  durationSeconds: seconds(0.46),
  outputTokens: 8,
  firstChunkTokens: 1,
  tokenSource: 'usage',
  promptTokens: 128,
  cachedPromptTokens: 96,
  reasoningTokens: null,
  events: 10,
  tokenChunks: 8,
  nonconformingEvents: 0,
  finishReason: 'length',
  terminal: true,
  buffered: false,
  disturbed: false,
  eventLoopDelaySeconds: seconds(0.0012),
  fallback: false,
  compressed: false,
  retriedStaleConnection: false,
  refusedParameters: [],
  retryAfterSeconds: null,
  certificateExpiresAt: null,
  clientCertificateExpiresAt: null,
  outputHash: '0011223344556677',
  timeline: [...tokensAt(0.1, 0.05, 8), entry(0.46, 'terminal')],
};

export const goodProbe = (changes: Partial<ProbeMeasurement> = {}): GoodProbe => ({
  ...MEASUREMENT,
  ...changes,
  outcome: 'good',
});

export const failedProbe = (failure: Failure, changes: Partial<ProbeMeasurement> = {}): FailedProbe => ({
  ...MEASUREMENT,
  ...changes,
  outcome: 'failed',
  failure,
});

export const finish = (outcome: FinishedProbe['outcome'], diagnosis: Diagnosis | null = null): FinishedProbe => ({
  outcome,
  diagnosis,
  engine: { name: 'vllm', version: '0.32.0' },
  warmup: false,
});

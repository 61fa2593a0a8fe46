import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata } from '../../src/experiment/types.ts';

/** A good request of the window: sent at 0, its first token after 1 s, three more 1 s apart, one token each. */
export const aRequest = (changes: Partial<RequestRecord> = {}): RequestRecord => {
  const sent = changes.sentAtSeconds ?? 0;
  return {
    index: 0,
    id: '00000000000000000000000000000000',
    phase: 'window',
    worker: 0,
    scheduledAtSeconds: null,
    beganAtSeconds: sent,
    sentAtSeconds: sent,
    endedAtSeconds: sent + 4,
    outcome: 'good',
    reason: null,
    side: null,
    httpStatus: 200,
    ttftSeconds: 1,
    tpotSeconds: 1,
    durationSeconds: 4,
    longestGapSeconds: 1,
    outputTokens: 4,
    tokenSource: 'usage',
    firstChunkTokens: 1,
    promptTokens: 100,
    cachedPromptTokens: 0,
    finishReason: 'length',
    buffered: false,
    disturbed: false,
    gapsMicroseconds: [1e6, 1e6, 1e6],
    ...changes,
  };
};

/** One that got no token. */
export const aFailure = (changes: Partial<RequestRecord> = {}): RequestRecord =>
  aRequest({
    outcome: 'failed',
    reason: 'ttft_timeout',
    side: 'endpoint',
    ttftSeconds: null,
    tpotSeconds: null,
    longestGapSeconds: null,
    outputTokens: null,
    firstChunkTokens: null,
    promptTokens: null,
    cachedPromptTokens: null,
    finishReason: null,
    gapsMicroseconds: [],
    ...changes,
  });

export const aPoll = (atSeconds: number, changes: Partial<EngineRecord> = {}): EngineRecord => ({
  atSeconds,
  up: true,
  kvUsageRatio: 0.5,
  running: 4,
  waiting: 0,
  preemptions: 0,
  promptTokens: 0,
  generationTokens: 0,
  prefixQueries: 0,
  prefixHits: 0,
  restarts: 0,
  ...changes,
});

export const aSecond = (atSeconds: number, changes: Partial<ClientRecord> = {}): ClientRecord => ({
  atSeconds,
  worker: 0,
  loopDelayP99Seconds: 0.001,
  cpuRatio: 0.1,
  sendLagMaxSeconds: 0,
  inFlight: 1,
  notStarted: 0,
  ...changes,
});

/** A run whose window reaches from 0 to 20 s, with 5 s trimmed at each end. */
export const aRun = (
  plan: Partial<RunMetadata['plan']> = {},
  changes: Partial<Omit<RunMetadata, 'plan'>> = {},
): RunMetadata => ({
  format: 1,
  tool: { version: '0', revision: 'unknown', node: 'v20', dependencies: {} },
  plan: {
    url: 'http://127.0.0.1:8000/',
    model: 'tiny',
    api: 'completions',
    engine: 'vllm',
    arrival: { kind: 'closed', concurrency: 1 },
    windowSeconds: 20,
    trimSeconds: 5,
    warmupMaxSeconds: 0,
    promptTokens: 100,
    maxOutputTokens: 4,
    prefix: 'unique',
    respectEos: false,
    promptsFile: null,
    promptSetHash: '',
    seed: '1',
    workers: 1,
    slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
    metrics: true,
    ...plan,
  },
  origin: '2026-01-01T00:00:00.000Z',
  host: { cpu: 'a processor', cores: 2, memoryBytes: 8e9, platform: 'linux' },
  engine: null,
  git: null,
  measuredPromptTokens: null,
  phases: {
    calibration: { from: null, to: null },
    warmup: { from: null, to: null },
    drain: { from: null, to: null },
    window: { from: 0, to: 20 },
    cooldown: { from: 20, to: 24 },
  },
  clientCpuSeconds: null,
  ended: 'complete',
  notes: [],
  ...changes,
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecords } from '../../src/experiment/summary.ts';
import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata } from '../../src/experiment/types.ts';

/** A run of a closed loop as it would have gone on an engine with a given speed. */
export interface SampleRun {
  readonly concurrency: number;
  readonly windowSeconds?: number;
  readonly trimSeconds?: number;
  readonly ttftSeconds?: number;
  readonly tpotSeconds?: number;
  readonly outputTokens?: number;
  /** Nothing arrives from here, in seconds of the window, for so long. */
  readonly gap?: { readonly at: number; readonly seconds: number };
  readonly waiting?: number;
  readonly preemptionsPerSecond?: number;
  readonly kvUsageRatio?: number;
  /** Every so many-th request fails. */
  readonly failEvery?: number;
  readonly ended?: RunMetadata['ended'];
  readonly model?: string;
}

const WINDOW_FROM = 10;

function metadataOf(run: SampleRun): RunMetadata {
  const windowSeconds = run.windowSeconds ?? 120;
  return {
    format: 1,
    tool: { version: '0.1.0', revision: 'unknown', node: 'v20.19.0', dependencies: {} },
    plan: {
      url: 'http://127.0.0.1:8000/',
      model: run.model ?? 'sample',
      api: 'completions',
      engine: 'vllm',
      arrival: { kind: 'closed', concurrency: run.concurrency },
      windowSeconds,
      trimSeconds: run.trimSeconds ?? 10,
      warmupMaxSeconds: 30,
      promptTokens: 256,
      maxOutputTokens: run.outputTokens ?? 64,
      prefix: 'unique',
      respectEos: false,
      promptsFile: null,
      promptSetHash: 'a1b2c3',
      seed: '1',
      workers: 1,
      slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
      metrics: true,
    },
    origin: '2026-01-01T00:00:00.000Z',
    host: { cpu: 'a processor', cores: 2, memoryBytes: 8e9, platform: 'linux' },
    engine: {
      name: 'vllm',
      version: '0.32.0',
      cacheConfig: { block_size: '16' },
      kvCapacityTokens: 24_576,
      maxModelLength: 2048,
      models: [run.model ?? 'sample'],
    },
    git: null,
    measuredPromptTokens: { min: 256, median: 256, max: 256 },
    phases: {
      calibration: { from: 0, to: 1 },
      warmup: { from: 1, to: 8 },
      drain: { from: 8, to: WINDOW_FROM },
      window: { from: WINDOW_FROM, to: WINDOW_FROM + windowSeconds },
      cooldown: { from: WINDOW_FROM + windowSeconds, to: WINDOW_FROM + windowSeconds + 1 },
    },
    clientCpuSeconds: 6,
    ended: run.ended ?? 'complete',
    notes: [],
  };
}

// Repeats itself, but not in step with anything.
const wobble = (index: number): number => 1 + 0.25 * Math.sin(index * 1.7) + 0.1 * Math.sin(index * 0.31);

/** Puts the frozen stretch into a stream: gaps before the chunk that comes after it. */
function gapsOf(run: SampleRun, from: number): number[] {
  const tpot = run.tpotSeconds ?? 0.02;
  const frozenFrom = run.gap === undefined ? Number.POSITIVE_INFINITY : WINDOW_FROM + run.gap.at;
  let at = from;
  return Array.from({ length: (run.outputTokens ?? 64) - 1 }, () => {
    const before = at;
    at += tpot;
    if (before <= frozenFrom && at > frozenFrom) at += run.gap?.seconds ?? 0;
    return Math.round((at - before) * 1e6);
  });
}

function requestOf(run: SampleRun, index: number, sent: number): RequestRecord {
  const failed = run.failEvery !== undefined && index % run.failEvery === run.failEvery - 1;
  const usual = (run.ttftSeconds ?? 0.1) * wobble(index);
  const frozenFrom = run.gap === undefined ? Number.POSITIVE_INFINITY : WINDOW_FROM + run.gap.at;
  const ttft = sent <= frozenFrom && frozenFrom < sent + usual ? usual + (run.gap?.seconds ?? 0) : usual;
  const gaps = failed ? [] : gapsOf(run, sent + ttft);
  const decode = gaps.reduce((sum, gap) => sum + gap, 0) / 1e6;
  const duration = ttft + decode;
  const tokens = run.outputTokens ?? 64;
  return {
    index,
    id: `request-${index}`,
    phase: 'window',
    worker: 0,
    scheduledAtSeconds: null,
    beganAtSeconds: sent,
    sentAtSeconds: sent,
    endedAtSeconds: sent + duration,
    outcome: failed ? 'failed' : 'good',
    reason: failed ? 'server_error' : null,
    side: failed ? 'endpoint' : null,
    httpStatus: failed ? 500 : 200,
    ttftSeconds: failed ? null : ttft,
    tpotSeconds: failed ? null : decode / (tokens - 1),
    durationSeconds: duration,
    longestGapSeconds: failed ? null : Math.max(...gaps) / 1e6,
    outputTokens: failed ? null : tokens,
    tokenSource: failed ? null : 'usage',
    firstChunkTokens: failed ? null : 1,
    promptTokens: failed ? null : 256,
    cachedPromptTokens: failed ? null : 0,
    finishReason: failed ? null : 'length',
    buffered: false,
    disturbed: false,
    gapsMicroseconds: gaps,
  };
}

function requestsOf(run: SampleRun, until: number): RequestRecord[] {
  const requests: RequestRecord[] = [];
  for (let lane = 0; lane < run.concurrency; lane += 1) {
    let at = WINDOW_FROM + lane * 0.01;
    for (let turn = 0; at < until; turn += 1) {
      const request = requestOf(run, turn * run.concurrency + lane, at);
      requests.push(request);
      at = request.endedAtSeconds + 0.001;
    }
  }
  return requests.filter((request) => request.endedAtSeconds <= until + 30);
}

/** Everything such a run leaves. */
export function sampleRun(run: SampleRun): RunRecords {
  const metadata = metadataOf(run);
  const until = WINDOW_FROM + (run.windowSeconds ?? 120);
  const requests = requestsOf(run, until);
  const generated = (at: number): number =>
    requests.filter((request) => request.endedAtSeconds <= at).length * (run.outputTokens ?? 64);
  const seconds = Array.from({ length: Math.ceil(until) + 1 }, (_, at) => at);
  const engine = seconds.map(
    (at): EngineRecord => ({
      atSeconds: at,
      up: true,
      kvUsageRatio: Math.min(1, (run.kvUsageRatio ?? 0.4) * wobble(at)),
      running: run.concurrency - Math.min(run.waiting ?? 0, run.concurrency - 1),
      waiting: run.waiting ?? 0,
      preemptions: Math.floor((run.preemptionsPerSecond ?? 0) * at),
      promptTokens: generated(at) * 4,
      generationTokens: generated(at),
      prefixQueries: generated(at) * 4,
      prefixHits: 0,
      restarts: 0,
    }),
  );
  const client = seconds.map(
    (at): ClientRecord => ({
      atSeconds: at,
      worker: 0,
      loopDelayP99Seconds: 0.001,
      cpuRatio: 0.05,
      sendLagMaxSeconds: 0,
      inFlight: requests.filter((request) => request.beganAtSeconds <= at && request.endedAtSeconds > at).length,
      notStarted: 0,
    }),
  );
  return { metadata, requests, engine, client };
}

/** Writes the records as a run folder. */
export function writeSampleRun(folder: string, records: RunRecords): void {
  mkdirSync(folder, { recursive: true });
  const lines = (items: readonly object[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('');
  writeFileSync(join(folder, 'metadata.json'), JSON.stringify(records.metadata));
  writeFileSync(join(folder, 'requests.jsonl'), lines(records.requests));
  writeFileSync(join(folder, 'engine.jsonl'), lines(records.engine));
  writeFileSync(join(folder, 'client.jsonl'), lines(records.client));
}

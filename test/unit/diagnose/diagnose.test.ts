import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/diagnose/diagnose.ts';
import type { Cause } from '../../../src/diagnose/types.ts';
import type { EngineSample } from '../../../src/engine/types.ts';
import type { ProbeMeasurement, ProbeOutcome } from '../../../src/probe/outcome.ts';
import type { FailureReason } from '../../../src/probe/reasons.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';
import { failedProbe, goodProbe } from '../../support/sample-probe.ts';

const thresholds = { ttftSeconds: seconds(1), tpotSeconds: seconds(0.05) };

/** Samples a second apart from half a second before the probe begins at 100 s; an idle engine that says it all. */
function samples(...changes: readonly Partial<EngineSample>[]): readonly EngineSample[] {
  return changes.map((change, index) => ({
    at: monotonicInstant(99.5 + index),
    up: true,
    kvUsageRatio: 0.1,
    running: 0,
    waiting: 0,
    preemptions: 0,
    generationTokens: index * 100,
    promptTokens: index * 1000,
    restarts: 0,
    hung: false,
    asleep: false,
    ...change,
  }));
}

const idle = samples({}, {}, {}, {}, {});
const frozen = { generationTokens: 500 };
const lasting = (duration: number) => ({
  endedAt: monotonicInstant(100 + duration),
  durationSeconds: seconds(duration),
});

/** First token after 4 s: headers at once, as an engine sends them that has taken the request. */
const late = (overrides: Partial<ProbeMeasurement> = {}): ProbeOutcome =>
  goodProbe({ ttftSeconds: seconds(4), ...lasting(4.2), ...overrides });

/** Decoding at 80 ms a token, evenly unless `gaps` says otherwise. */
const slowDecode = (gaps: readonly number[], overrides: Partial<ProbeMeasurement> = {}): ProbeOutcome =>
  goodProbe({ tpotSeconds: seconds(0.08), gapsSeconds: gaps.map(seconds), ...lasting(3), ...overrides });

const noHeaders = { phases: { dns: null, tcp: null, tls: null, write: null, headers: null } };

interface Row {
  readonly id: string;
  readonly outcome: ProbeOutcome;
  readonly samples: readonly EngineSample[];
  readonly cause: Cause;
}

const failed = (reason: FailureReason, overrides: Partial<ProbeMeasurement> = {}): ProbeOutcome =>
  failedProbe(reason, { ...lasting(4), ...overrides });

const disturbedFor = (delay: number) => ({ disturbed: true, eventLoopDelaySeconds: seconds(delay) });

const TABLE: readonly Row[] = [
  // client
  {
    id: 'without our late event loop the first token would have been in time',
    outcome: late(disturbedFor(3.5)),
    samples: samples({ waiting: 9 }),
    cause: 'client',
  },
  {
    id: 'without our late event loop decoding would have been fast enough',
    outcome: slowDecode([0.02, 0.02, 0.02, 0.3], disturbedFor(0.28)),
    samples: samples({ running: 9 }),
    cause: 'client',
  },
  {
    id: 'our event loop was late for a good part of the time that ran out',
    outcome: failed('ttft_timeout', disturbedFor(0.5)),
    samples: samples(frozen, frozen, frozen, frozen, frozen),
    cause: 'client',
  },
  {
    id: 'a little lateness does not explain seconds of waiting',
    outcome: late(disturbedFor(0.25)),
    samples: samples({ waiting: 9 }),
    cause: 'queueing',
  },
  {
    id: 'a little lateness does not explain a deadline that passed',
    outcome: failed('ttft_timeout', disturbedFor(0.03)),
    samples: samples(frozen, frozen, frozen, frozen, frozen),
    cause: 'engine_hang',
  },
  {
    id: 'a late event loop refuses nobody',
    outcome: failed('rate_limited', disturbedFor(2)),
    samples: idle,
    cause: 'rate_limit',
  },
  {
    id: 'disturbed by nobody knows how much',
    outcome: late({ disturbed: true, eventLoopDelaySeconds: null }),
    samples: samples({ waiting: 9 }),
    cause: 'client',
  },
  { id: 'a fault of the exporter', outcome: failed('internal'), samples: idle, cause: 'client' },
  {
    id: 'a wrong key, while the engine preempts',
    outcome: failed('unauthorized'),
    samples: samples({ preemptions: 1 }, { preemptions: 4 }),
    cause: 'client',
  },
  // engine_restart
  {
    id: 'the engine restarted meanwhile',
    outcome: failed('connection_lost'),
    samples: samples({}, { restarts: 1 }),
    cause: 'engine_restart',
  },
  {
    id: 'R-001: an error inside the stream, then no page',
    outcome: failed('stream_error'),
    samples: samples({ running: 3 }, { up: false }),
    cause: 'engine_restart',
  },
  {
    id: 'neither port nor page',
    outcome: failed('connect_refused'),
    samples: samples({ up: false }, { up: false }),
    cause: 'engine_restart',
  },
  { id: 'the engine says that it loads its model', outcome: failed('starting'), samples: [], cause: 'engine_restart' },
  {
    id: 'a page lost under load is no restart',
    outcome: late(),
    samples: samples({ waiting: 4 }, { up: false }),
    cause: 'queueing',
  },
  // engine_hang
  {
    id: 'R-012: headers, no event, all numbers frozen',
    outcome: failed('ttft_timeout'),
    samples: samples(frozen, frozen, frozen, frozen, frozen),
    cause: 'engine_hang',
  },
  {
    id: 'the sampler says that the engine hangs',
    outcome: failed('stalled'),
    samples: samples({ hung: true, running: 2 }),
    cause: 'engine_hang',
  },
  {
    id: 'no headers while others wait and nothing moves',
    outcome: failed('headers_timeout', noHeaders),
    samples: samples(...new Array(5).fill({ ...frozen, running: 4, waiting: 2 })),
    cause: 'engine_hang',
  },
  {
    id: 'tokens flowed, then stopped',
    outcome: failed('stalled'),
    samples: samples({}, { generationTokens: 500 }, frozen, frozen, frozen, frozen),
    cause: 'engine_hang',
  },
  {
    id: 'tokens that are counted when a request ends stand still, and the engine works',
    outcome: failed('ttft_timeout'),
    samples: samples(...[1, 2, 3, 4, 5].map((progress) => ({ ...frozen, progress, running: 8, waiting: 3 }))),
    cause: 'queueing',
  },
  {
    id: 'an engine that tells of its work only now and then has stood still for no longer than that',
    outcome: failed('ttft_timeout'),
    samples: samples(
      ...new Array(5).fill({ ...frozen, progress: 7, progressEverySeconds: 30, running: 8, waiting: 3 }),
    ),
    cause: 'queueing',
  },
  {
    id: 'and has stood still for longer',
    outcome: failed('ttft_timeout', lasting(31)),
    samples: samples(...new Array(32).fill({ ...frozen, progress: 7, progressEverySeconds: 30, running: 8 })),
    cause: 'engine_hang',
  },
  {
    id: 'an engine that sleeps',
    outcome: failed('ttft_timeout'),
    samples: samples(...new Array(5).fill({ ...frozen, progress: 7, asleep: true, waiting: 1 })),
    cause: 'queueing',
  },
  {
    id: 'frozen for too short a time to tell',
    outcome: failed('ttft_timeout'),
    samples: samples(frozen, { ...frozen, waiting: 1 }),
    cause: 'queueing',
  },
  {
    id: 'a slow probe of an engine whose tokens flow',
    outcome: failed('ttft_timeout'),
    samples: samples({ running: 9 }, { running: 9 }, { running: 9 }),
    cause: 'prefill_contention',
  },
  // rate_limit
  {
    id: '429 while the engine is full',
    outcome: failed('rate_limited'),
    samples: samples({ waiting: 9, kvUsageRatio: 1 }),
    cause: 'rate_limit',
  },
  {
    id: 'a spent budget is not our event loop',
    outcome: failed('quota_exhausted'),
    samples: idle,
    cause: 'rate_limit',
  },
  { id: '503 without any load behind it', outcome: failed('overloaded'), samples: idle, cause: 'rate_limit' },
  { id: '503 with a full queue', outcome: failed('overloaded'), samples: samples({ waiting: 12 }), cause: 'queueing' },
  // preemption
  {
    id: 'preemptions rose during the probe',
    outcome: late(),
    samples: samples({ preemptions: 3, waiting: 5 }, { preemptions: 5, waiting: 5 }),
    cause: 'preemption',
  },
  {
    id: 'preemptions of the past do not count',
    outcome: late(),
    samples: samples({ preemptions: 3, waiting: 5 }, { preemptions: 3, waiting: 5 }),
    cause: 'queueing',
  },
  {
    id: 'slow decoding with preemptions',
    outcome: slowDecode([0.02, 0.02, 0.9]),
    samples: samples({ preemptions: 0 }, { preemptions: 1 }),
    cause: 'preemption',
  },
  {
    id: 'an engine abort with preemptions',
    outcome: failed('engine_abort'),
    samples: samples({ preemptions: 0 }, { preemptions: 2 }),
    cause: 'preemption',
  },
  {
    id: 'a wrong answer is not explained by preemptions',
    outcome: failed('expectation_failed'),
    samples: samples({ preemptions: 0 }, { preemptions: 2 }),
    cause: 'unknown',
  },
  // queueing
  {
    id: 'requests waited',
    outcome: late(),
    samples: samples({ running: 32 }, { running: 32, waiting: 7 }),
    cause: 'queueing',
  },
  {
    id: 'G-112: requests wait while the cache is nearly empty',
    outcome: failed('ttft_timeout'),
    samples: samples({ running: 256, waiting: 400, kvUsageRatio: 0.2 }),
    cause: 'queueing',
  },
  {
    id: 'degenerate output is not explained by a queue',
    outcome: failed('degenerate_output'),
    samples: samples({ waiting: 7 }),
    cause: 'unknown',
  },
  // kv_pressure
  {
    id: 'the cache is nearly full',
    outcome: late(),
    samples: samples({ running: 9, kvUsageRatio: 0.95 }),
    cause: 'kv_pressure',
  },
  // prefill_contention
  {
    id: 'others ran, nobody waited, the first token was late',
    outcome: late(),
    samples: samples({ running: 6 }, { running: 7 }),
    cause: 'prefill_contention',
  },
  {
    id: 'one other request before ours',
    outcome: late(),
    samples: samples({ running: 1 }, { running: 1 }),
    cause: 'prefill_contention',
  },
  {
    id: 'gaps burst between even tokens',
    outcome: slowDecode([0.02, 0.02, 0.02, 0.6, 0.02]),
    samples: samples({ running: 6 }, { running: 6 }),
    cause: 'prefill_contention',
  },
  {
    id: 'even but slow gaps are a large batch and no burst',
    outcome: slowDecode([0.08, 0.08, 0.08, 0.08]),
    samples: samples({ running: 60 }, { running: 60 }),
    cause: 'unknown',
  },
  {
    id: 'the whole-probe deadline passed among others',
    outcome: failed('total_timeout'),
    samples: samples({ running: 60 }, { running: 60 }),
    cause: 'prefill_contention',
  },
  // network
  {
    id: 'headers made up the wait, the engine idle',
    outcome: late({ phases: { dns: null, tcp: null, tls: null, write: null, headers: seconds(3.9) } }),
    samples: idle,
    cause: 'network',
  },
  {
    id: 'no headers from an idle engine',
    outcome: failed('headers_timeout', noHeaders),
    samples: samples(frozen, frozen, frozen, frozen),
    cause: 'network',
  },
  { id: 'the name did not resolve', outcome: failed('dns', noHeaders), samples: [], cause: 'network' },
  {
    id: 'nobody listens, yet the engine shows its page',
    outcome: failed('connect_refused', noHeaders),
    samples: idle,
    cause: 'network',
  },
  { id: 'an answer that no engine writes', outcome: failed('not_streaming'), samples: idle, cause: 'network' },
  {
    id: 'the connection broke before headers, the engine idle',
    outcome: failed('connection_lost', noHeaders),
    samples: idle,
    cause: 'network',
  },
  {
    id: 'the engine was at work on our prompt all the time',
    outcome: late({ phases: { dns: null, tcp: null, tls: null, write: null, headers: seconds(3.9) } }),
    samples: samples({}, { running: 1 }, { running: 1 }, { running: 1 }),
    cause: 'unknown',
  },
  // unknown
  { id: 'slow without any sign', outcome: late(), samples: idle, cause: 'unknown' },
  { id: 'slow without an engine page', outcome: late(), samples: [], cause: 'unknown' },
  {
    id: 'nobody listens and no page is known',
    outcome: failed('connect_refused', noHeaders),
    samples: [],
    cause: 'unknown',
  },
  { id: 'the path does not exist', outcome: failed('not_found'), samples: idle, cause: 'unknown' },
];

describe('evidence of preemptions', () => {
  it('counts the first one, with which the counter is born, and nothing while there is none', () => {
    const seen = (...values: readonly (number | null)[]) =>
      diagnose(late(), samples(...values.map((preemptions) => ({ preemptions }))), thresholds, null);
    expect(seen(null, null, 1)).toMatchObject({ cause: 'preemption', evidence: { preemptionsIncrease: 1 } });
    expect(seen(7, null, 7)).toMatchObject({ evidence: { preemptionsIncrease: 0 } });
    for (const values of [[null, null], [3], []]) expect(seen(...values)?.evidence.preemptionsIncrease).toBeNull();
  });
});

describe('cause', () => {
  for (const row of TABLE) {
    it(`${row.cause}: ${row.id}`, () => {
      expect(diagnose(row.outcome, row.samples, thresholds, null)?.cause).toBe(row.cause);
    });
  }

  it('a good probe within both thresholds has none', () => {
    expect(diagnose(goodProbe(), idle, thresholds, 'underload')).toBeNull();
    expect(
      diagnose(goodProbe({ ttftSeconds: seconds(1), tpotSeconds: seconds(0.05) }), idle, thresholds, null),
    ).toBeNull();
  });

  it('a buffered stream is not slow for its time per token, which describes the buffer', () => {
    const outcome = goodProbe({ tpotSeconds: seconds(1), buffered: true });
    expect(diagnose(outcome, idle, thresholds, null)).toBeNull();
  });

  it('the evidence holds the values used, and null for what is not known', () => {
    const outcome = late({
      phases: { dns: seconds(0.01), tcp: seconds(0.02), tls: null, write: null, headers: seconds(0.3) },
    });
    const seen = samples(
      { kvUsageRatio: 0.4, running: 2, waiting: 1, preemptions: 7, generationTokens: 10 },
      { kvUsageRatio: 0.8, running: 5, waiting: null, preemptions: 9, generationTokens: 60 },
      { up: false, kvUsageRatio: null, running: null, waiting: null, preemptions: null, generationTokens: null },
    );
    expect(diagnose(outcome, seen, thresholds, 'overload')?.evidence).toEqual({
      samples: 3,
      kvUsageRatioMax: 0.8,
      runningMax: 5,
      waitingMax: 1,
      preemptionsIncrease: 2,
      generationTokensIncrease: 50,
      restarted: false,
      hung: false,
      engineUp: false,
      zone: 'overload',
      connectSeconds: expect.closeTo(0.03, 9),
      headersSeconds: 0.3,
      ttftSeconds: 4,
      longestGapSeconds: 0.02,
      eventLoopDelaySeconds: 0.002,
    });
    expect(diagnose(late(), [], thresholds, null)?.evidence).toMatchObject({
      samples: 0,
      kvUsageRatioMax: null,
      waitingMax: null,
      preemptionsIncrease: null,
      engineUp: false,
      connectSeconds: null,
    });
  });

  it('one sample shows no increase: null, not 0', () => {
    expect(diagnose(late(), samples({ preemptions: 4 }), thresholds, null)?.evidence.preemptionsIncrease).toBeNull();
  });
});

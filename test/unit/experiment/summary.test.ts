import { describe, expect, it } from 'vitest';
import { type RunRecords, summarise } from '../../../src/experiment/summary.ts';
import type { RequestRecord } from '../../../src/experiment/types.ts';
import { aFailure, aPoll, aRequest, aRun, aSecond } from '../../support/records.ts';

const seconds = Array.from({ length: 21 }, (_, at) => at);

/** One request after the other for 20 s, each 4 s long with a token a second. */
const oneSlot = [0, 4, 8, 12, 16].map((sent, index) => aRequest({ sentAtSeconds: sent, index }));

const run = (changes: Partial<RunRecords> = {}): RunRecords => ({
  metadata: aRun(),
  requests: oneSlot,
  engine: [],
  client: seconds.map((at) => aSecond(at)),
  ...changes,
});

/** Requests with these TTFTs, all sent inside the trimmed window. */
const withTtfts = (ttfts: readonly number[]): RequestRecord[] =>
  ttfts.map((ttftSeconds, index) => aRequest({ index, sentAtSeconds: 6, ttftSeconds }));

describe('throughput', () => {
  it('is the tokens that arrived inside the trimmed window by its length', () => {
    // Chunks at 1, 2, 3, 4, 5, ... 20: those at 5 to 14 are inside [5, 15).
    const { throughput, window } = summarise(run());
    expect(window).toMatchObject({ fromSeconds: 5, toSeconds: 15, lengthSeconds: 10, plannedSeconds: 20 });
    expect(throughput.outputTokens).toBe(10);
    expect(throughput.outputTokensPerSecond).toBe(1);
  });

  it('counts good requests by their end', () => {
    // Ends at 4, 8, 12, 16, 20.
    expect(summarise(run()).throughput.requestsPerSecond).toBe(0.2);
  });

  it('counts the tokens of requests that failed, but not those requests', () => {
    const broken = aFailure({
      sentAtSeconds: 6,
      ttftSeconds: 1,
      outputTokens: 3,
      gapsMicroseconds: [1e6, 1e6],
      endedAtSeconds: 10,
    });
    const { throughput } = summarise(run({ requests: [broken] }));
    expect(throughput).toEqual({ requestsPerSecond: 0, outputTokensPerSecond: 0.3, outputTokens: 3 });
  });
});

describe('requests', () => {
  it('are those sent inside the trimmed window', () => {
    expect(summarise(run()).requests).toMatchObject({ sent: 2, good: 2, failed: 0, failures: [], notStarted: 0 });
  });

  it('lists failures by reason, the most frequent first', () => {
    const requests = [
      aFailure({ sentAtSeconds: 6 }),
      aFailure({ sentAtSeconds: 6, reason: 'overloaded', side: 'capacity' }),
      aFailure({ sentAtSeconds: 7, reason: 'overloaded', side: 'capacity' }),
      aRequest({ sentAtSeconds: 8 }),
    ];
    const found = summarise(run({ requests })).requests;
    expect(found).toMatchObject({ sent: 4, good: 1, failed: 3 });
    expect(found.failures).toEqual([
      { reason: 'overloaded', side: 'capacity', requests: 2 },
      { reason: 'ttft_timeout', side: 'endpoint', requests: 1 },
    ]);
    expect(found.failedRatio?.centre).toBe(0.75);
  });

  it('adds up what the timetable could not start inside the trimmed window', () => {
    const client = [aSecond(4, { notStarted: 9 }), aSecond(6, { notStarted: 2 }), aSecond(7, { notStarted: 1 })];
    expect(summarise(run({ client })).requests.notStarted).toBe(3);
  });
});

describe('latencies', () => {
  it('are order statistics of the requests sent inside', () => {
    const ttft = summarise(run({ requests: withTtfts([5, 1, 4, 2, 3]) })).ttft.withoutFailures;
    expect(ttft.p50).toMatchObject({ seconds: 3, samples: 5, enough: true, unbounded: false });
    expect(ttft.meanSeconds).toBe(3);
  });

  it('have no p99 from 20 requests, and one from 100', () => {
    const few = summarise(run({ requests: withTtfts(new Array(20).fill(1)) })).ttft.withoutFailures;
    expect(few.p95.seconds).toBe(1);
    expect(few.p99).toMatchObject({ seconds: null, samples: 20, enough: false });
    const many = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(summarise(run({ requests: withTtfts(many) })).ttft.withoutFailures.p99.seconds).toBe(99);
  });

  it('count failures as slower than all that was seen', () => {
    const requests = [...withTtfts([1, 2]), ...[1, 2, 3].map(() => aFailure({ sentAtSeconds: 6 }))];
    const { ttft } = summarise(run({ requests }));
    expect(ttft.withoutFailures.p50.seconds).toBe(1);
    expect(ttft.withFailures.p50).toMatchObject({ seconds: null, samples: 5, enough: true, unbounded: true });
  });

  it('keep the TTFT of a request that failed after it, but not its duration', () => {
    const late = aFailure({ sentAtSeconds: 6, ttftSeconds: 7, reason: 'stalled' });
    const { ttft, e2e } = summarise(run({ requests: [...withTtfts([1]), late] }));
    expect(ttft.withFailures.p50).toMatchObject({ samples: 2, seconds: 1 });
    expect(ttft.withFailures.p50.unbounded).toBe(false);
    expect(ttft.withoutFailures.samples).toBe(1);
    expect(e2e.withFailures.samples).toBe(2);
    expect(e2e.withFailures.meanSeconds).toBe(4);
  });

  it('leave out failures of our own side', () => {
    const ours = aFailure({ sentAtSeconds: 6, reason: 'unauthorized', side: 'probe' });
    expect(summarise(run({ requests: [...withTtfts([1]), ours] })).ttft.withFailures.samples).toBe(1);
  });

  it('take no TPOT from an answer that came in lumps', () => {
    const requests = [
      aRequest({ sentAtSeconds: 6, buffered: true, tpotSeconds: 0.001 }),
      aRequest({ sentAtSeconds: 6 }),
    ];
    expect(summarise(run({ requests })).tpot.withoutFailures).toMatchObject({ samples: 1, meanSeconds: 1 });
  });

  it('count from the scheduled instant in an open loop, so that a late client cannot hide it', () => {
    const arrival = { kind: 'open', ratePerSecond: 1, process: 'constant', maxInFlight: 9 } as const;
    const requests = [aRequest({ sentAtSeconds: 8, scheduledAtSeconds: 6.5 })];
    const found = summarise(run({ metadata: aRun({ arrival }), requests }));
    expect(found.ttft.withoutFailures.meanSeconds).toBe(1);
    expect(found.fromScheduled?.ttft.withoutFailures.meanSeconds).toBe(2.5);
    expect(found.fromScheduled?.e2e.withoutFailures.meanSeconds).toBe(5.5);
    expect(summarise(run()).fromScheduled).toBeNull();
  });
});

it('tells of requests that were sent twice', () => {
  const requests = [aRequest({ sentAtSeconds: 6, sentTwice: true }), aRequest({ sentAtSeconds: 6 })];
  expect(summarise(run({ requests })).notes.join()).toContain('1 of 2 requests were sent twice');
  expect(summarise(run()).notes).toEqual([]);
});

describe('output and prompt', () => {
  it('gives mean and variance of the output length of good requests', () => {
    const requests = [2, 4, 9].map((outputTokens) => aRequest({ sentAtSeconds: 6, outputTokens }));
    // Mean 5, squared deviations 9 + 1 + 16 = 26, by n - 1 = 2.
    expect(summarise(run({ requests })).output).toEqual({
      samples: 3,
      meanTokens: 5,
      varianceTokens: 13,
      countedAsChunks: 0,
    });
  });

  it('warns of answers that are longer than was asked for, and does not clear their length', () => {
    const requests = [5, 5].map((outputTokens) => aRequest({ sentAtSeconds: 6, outputTokens }));
    const { notes, elimination } = summarise(run({ requests }));
    expect(notes.join()).toContain('answers had 5 tokens, more than the 4 that were asked for');
    expect(elimination.find(({ cause }) => cause === 'output_length')?.verdict).toBe('remains');
  });

  it('warns when prompts that were to be unique came from the cache', () => {
    const requests = [aRequest({ sentAtSeconds: 6, promptTokens: 100, cachedPromptTokens: 80 })];
    const found = summarise(run({ requests }));
    expect(found.prompt.cachedRatio).toBe(0.8);
    expect(found.notes.join()).toContain('80 % of the prompt tokens came from the prefix cache');
  });
});

describe('goodput', () => {
  const slo = { ttftSeconds: 1.5, tpotSeconds: 1, e2eSeconds: null };

  it('is the share of all requests that are within every objective', () => {
    const requests = [
      aRequest({ sentAtSeconds: 6 }),
      aRequest({ sentAtSeconds: 6, ttftSeconds: 1.6 }),
      aRequest({ sentAtSeconds: 6, tpotSeconds: 1.1 }),
      aFailure({ sentAtSeconds: 6 }),
    ];
    const found = summarise(run({ metadata: aRun({ slo }), requests })).goodput;
    expect(found).toMatchObject({ goodRequests: 1, requests: 4, goodRequestsPerSecond: 0.1 });
    expect(found?.ratio?.centre).toBe(0.25);
  });

  it('does not exist without an objective', () => {
    expect(summarise(run()).goodput).toBeNull();
  });
});

describe('timeline', () => {
  it('has slots for the trimmed ends and tenths of a short window, and adds up to the throughput', () => {
    const { timeline, throughput } = summarise(run());
    expect(timeline).toHaveLength(20);
    expect(timeline.filter((slot) => slot.inFigures)).toHaveLength(10);
    const tokens = timeline.filter((slot) => slot.inFigures).reduce((sum, slot) => sum + slot.outputTokens, 0);
    expect(tokens).toBe(throughput.outputTokens);
  });

  it('has 10-second slots in a window of the default length', () => {
    const { phases } = aRun();
    const metadata = aRun(
      { windowSeconds: 120, trimSeconds: 10 },
      { phases: { ...phases, window: { from: 0, to: 120 } } },
    );
    const { timeline } = summarise(run({ metadata }));
    expect(timeline.map(({ fromSeconds, toSeconds }) => toSeconds - fromSeconds)).toEqual(new Array(12).fill(10));
  });

  it('flags the slots of a gap, and keeps them in the figures', () => {
    // Ten streams with a token a second, of which nothing arrives from 7 to 10.
    const requests = Array.from({ length: 10 }, (_, index) =>
      aRequest({
        index,
        sentAtSeconds: 0,
        outputTokens: 17,
        gapsMicroseconds: [...new Array(5).fill(1e6), 4e6, ...new Array(10).fill(1e6)],
      }),
    );
    const { timeline, throughput, notes } = summarise(run({ requests }));
    expect(timeline.filter((slot) => slot.flagged).map((slot) => slot.fromSeconds)).toEqual([7, 8, 9]);
    expect(throughput.outputTokensPerSecond).toBe(7);
    expect(notes.join()).toContain('3 slots of the timeline are below 70 % of the mean');
  });
});

describe('the engine over the window', () => {
  const engine = [
    aPoll(4, { kvUsageRatio: 1, waiting: 50, preemptions: 7, generationTokens: 100, prefixQueries: 10, prefixHits: 0 }),
    aPoll(6, {
      kvUsageRatio: 0.4,
      running: 2,
      preemptions: 7,
      generationTokens: 102,
      prefixQueries: 20,
      prefixHits: 5,
    }),
    aPoll(10, {
      kvUsageRatio: 0.6,
      running: 4,
      waiting: 3,
      preemptions: 8,
      generationTokens: 106,
      prefixQueries: 40,
      prefixHits: 10,
    }),
    aPoll(14, { up: false }),
    aPoll(14.5, {
      kvUsageRatio: 0.8,
      running: 6,
      waiting: 0,
      preemptions: 9,
      generationTokens: 120,
      prefixQueries: 50,
      prefixHits: 12,
    }),
    aPoll(16, { kvUsageRatio: 1, waiting: 99, preemptions: 100 }),
  ];

  it('has peaks, means and shares of the polls inside, and increases since the last poll before', () => {
    const found = summarise(run({ engine })).engine;
    expect(found).toMatchObject({
      polls: 3,
      failedPolls: 1,
      kvUsageRatio: { peak: 0.8 },
      running: { peak: 6, mean: 4 },
      waiting: { peak: 3, mean: 1 },
      preemptions: 2,
      generationTokens: 20,
    });
    expect(found?.kvUsageRatio.mean).toBeCloseTo(0.6);
    expect(found?.waitingShare).toBeCloseTo(1 / 3);
    expect(found?.prefixHitRatio).toBe(0.3);
    expect(found?.zone).toBe('overload');
    // Eleven chunks arrived from 4 to 14.5, of 20 that the engine generated.
    expect(found?.ownTokensRatio).toBeCloseTo(11 / 20);
  });

  it('tells of polls that failed', () => {
    expect(summarise(run({ engine })).notes).toContain(
      "1 of 4 polls of the engine's metrics failed: its figures are of the others",
    );
  });

  it('count from 0 what is born with its first event', () => {
    const polls = [6, 7, 8].map((at) =>
      aPoll(at, { preemptions: at < 8 ? null : 2, generationTokens: at < 7 ? null : 9 }),
    );
    expect(summarise(run({ engine: polls })).engine).toMatchObject({ preemptions: 2, generationTokens: 9 });
  });

  it('says nothing where the engine says nothing', () => {
    const silent = [6, 7, 8].map((at) => aPoll(at, { preemptions: null, waiting: null, prefixQueries: null }));
    expect(summarise(run({ engine: silent })).engine).toMatchObject({
      preemptions: null,
      waitingShare: null,
      prefixHitRatio: null,
      waiting: { peak: null, mean: null },
      zone: null,
    });
    expect(summarise(run()).engine).toBeNull();
  });
});

describe('verdict', () => {
  it.each([
    { id: 'result', records: run(), verdict: 'result' },
    { id: 'cut short', records: run({ metadata: aRun({}, { ended: 'partial' }) }), verdict: 'partial' },
    { id: 'nothing sent', records: run({ requests: [] }), verdict: 'empty' },
    {
      id: 'a busy client',
      records: run({ client: seconds.map((at) => aSecond(at, { cpuRatio: 0.9 })) }),
      verdict: 'client_limited',
    },
  ])('$id: $verdict', ({ records, verdict }) => {
    expect(summarise(records).verdict).toBe(verdict);
  });

  it('is a client that was late in most seconds, and a note where it was in some', () => {
    const late = (share: number) =>
      summarise(
        run({ client: seconds.map((at) => aSecond(at, { loopDelayP99Seconds: at % 10 < share * 10 ? 0.06 : 0.001 })) }),
      );
    expect(late(0.7).client).toMatchObject({ limited: true, disturbances: [] });
    const some = late(0.3);
    expect(some.client).toMatchObject({ limited: false, reasons: [] });
    expect(some.notes.join()).toContain('the event loop was late by more than 50 ms in 30 % of the seconds');
  });
});

it('gives a summary that JSON can hold without loss, also of failures alone', () => {
  const summary = summarise(
    run({ requests: new Array(200).fill(aFailure({ sentAtSeconds: 6 })), engine: [aPoll(6), aPoll(7)] }),
  );
  expect(JSON.parse(JSON.stringify(summary))).toEqual(summary);
  expect(summary.ttft.withFailures.p99.unbounded).toBe(true);
});

describe("the engine's own latencies", () => {
  /** Sums that grow by as much each second: the engine says half of what is seen here. */
  const told = (at: number) => ({
    ttft: { count: at, sumSeconds: at * 0.5 },
    inter_token_latency: { count: at * 3, sumSeconds: at * 1.5 },
    e2e: { count: at, sumSeconds: at * 2 },
    queue_time: { count: at, sumSeconds: at * 0.1 },
  });
  const polls = (sums: (at: number) => ReturnType<typeof told>) =>
    seconds.map((at) => aPoll(at, { latencySums: sums(at) }));

  it('stand beside what arrived here between the same two polls', () => {
    // Polls at 5 and 14. Here: first tokens at 5, 9 and 13, gaps that end at 6 to 8 and 10 to 12, ends at 8 and 12.
    const { engine } = summarise(run({ engine: polls(told) }));
    expect(engine?.ownLatencies).toEqual([
      { role: 'ttft', observations: 9, meanSeconds: 0.5, clientObservations: 3, clientMeanSeconds: 1 },
      { role: 'inter_token_latency', observations: 27, meanSeconds: 0.5, clientObservations: 6, clientMeanSeconds: 1 },
      { role: 'e2e', observations: 9, meanSeconds: 2, clientObservations: 2, clientMeanSeconds: 4 },
      {
        role: 'queue_time',
        observations: 9,
        meanSeconds: expect.closeTo(0.1, 9),
        clientObservations: null,
        clientMeanSeconds: null,
      },
    ]);
  });

  it('are not told across a restart of the engine, nor where the engine has none', () => {
    expect(summarise(run({ engine: polls((at) => told(at < 10 ? at : at - 10)) })).engine?.ownLatencies).toEqual([]);
    expect(summarise(run({ engine: seconds.map((at) => aPoll(at)) })).engine?.ownLatencies).toEqual([]);
  });
});

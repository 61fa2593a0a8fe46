import fc from 'fast-check';
import { expect, it } from 'vitest';
import { summarise } from '../../src/experiment/summary.ts';
import type { RequestRecord } from '../../src/experiment/types.ts';
import { eachArrival, tokensInside } from '../../src/experiment/window.ts';
import { aFailure, aRequest, aRun, aSecond } from '../support/records.ts';

/** Requests of any shape, sent from before the window to its end. */
const request: fc.Arbitrary<RequestRecord> = fc
  .record({
    sent: fc.double({ min: 0, max: 20, noNaN: true }),
    ttft: fc.double({ min: 0.001, max: 10, noNaN: true }),
    gaps: fc.array(fc.integer({ min: 1, max: 2_000_000 }), { maxLength: 12 }),
    tokens: fc.option(fc.integer({ min: 1, max: 60 })),
    first: fc.option(fc.integer({ min: 1, max: 4 })),
    good: fc.boolean(),
  })
  .map(({ sent, ttft, gaps, tokens, first, good }) => {
    const duration = ttft + gaps.reduce((sum, gap) => sum + gap, 0) / 1e6;
    const facts = {
      sentAtSeconds: sent,
      beganAtSeconds: sent,
      endedAtSeconds: sent + duration,
      ttftSeconds: ttft,
      durationSeconds: duration,
      gapsMicroseconds: gaps,
      outputTokens: tokens,
      firstChunkTokens: first,
    };
    return good ? aRequest(facts) : aFailure(facts);
  });

const total = (record: RequestRecord): number => record.outputTokens ?? record.gapsMicroseconds.length + 1;

it('neither loses nor makes up a token, however a request is cut by a window', () => {
  fc.assert(
    fc.property(request, fc.array(fc.double({ min: -1, max: 60, noNaN: true }), { maxLength: 6 }), (record, cuts) => {
      const edges = [Number.NEGATIVE_INFINITY, ...cuts.sort((a, b) => a - b), Number.POSITIVE_INFINITY];
      const parts = edges
        .slice(1)
        .map((to, index) => tokensInside(record, { fromSeconds: edges[index] ?? 0, toSeconds: to }));
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(total(record), 6);
      for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
    }),
  );
});

it('lets chunks arrive in order, the first after the TTFT and the last after all gaps', () => {
  fc.assert(
    fc.property(request, (record) => {
      const at: number[] = [];
      eachArrival(record, (instant) => at.push(instant));
      expect(at[0]).toBeCloseTo((record.sentAtSeconds ?? 0) + (record.ttftSeconds ?? 0), 9);
      expect(at).toEqual([...at].sort((a, b) => a - b));
      expect(at).toHaveLength(record.gapsMicroseconds.length + 1);
    }),
  );
});

it('gives the same figures whatever the order of the records, and a timeline that adds up to the throughput', () => {
  const client = Array.from({ length: 21 }, (_, at) => aSecond(at));
  fc.assert(
    fc.property(
      fc
        .array(request, { maxLength: 25 })
        .chain((records) =>
          fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
        ),
      ([records, shuffled]) => {
        const summary = summarise({ metadata: aRun(), requests: records, engine: [], client });
        const other = summarise({ metadata: aRun(), requests: shuffled, engine: [], client });
        expect(other.ttft).toEqual(summary.ttft);
        expect(other.requests).toEqual(summary.requests);
        expect(other.throughput.outputTokens).toBeCloseTo(summary.throughput.outputTokens, 6);
        const slots = summary.timeline.filter((slot) => slot.inFigures);
        const tokens = slots.reduce((sum, slot) => sum + slot.outputTokens, 0);
        expect(tokens).toBeCloseTo(summary.throughput.outputTokens, 6);
        expect(summary.requests.good + summary.requests.failed).toBe(summary.requests.sent);
      },
    ),
    { numRuns: 60 },
  );
});

import { describe, expect, test } from 'vitest';
import { chat } from '../../../src/probe/apis/chat.ts';
import { assemble, type ProbeFrame } from '../../../src/probe/assemble.ts';
import { type ExchangeFacts, noExchange } from '../../../src/probe/exchange.ts';
import { failure } from '../../../src/probe/failure.ts';
import { monotonicInstant, seconds, unixTime } from '../../../src/units.ts';
import { F, token, U } from '../../support/stream-text.ts';

const at = (afterMs: number) => monotonicInstant(100 + afterMs / 1000);
const FRAME: ProbeFrame = {
  id: 'a'.repeat(32),
  target: 'engine',
  model: 'm',
  profile: 'cold',
  api: 'chat',
  startedAt: unixTime(1),
  beganAt: at(-50),
  refusedParameters: [],
  retryAfterSeconds: null,
  clientCertificateExpiresAt: null,
  loopDelaySeconds: seconds(0),
  disturbedAfterSeconds: seconds(0.02),
};
const CONNECTION = {
  reused: false,
  retriedStale: false,
  phases: { dns: seconds(0.01), tcp: seconds(0.02), tls: null },
  certificateExpiresAt: unixTime(9),
};

function exchange(fields: Partial<ExchangeFacts> = {}): ExchangeFacts {
  const reading = chat.createReading({ eventBytes: 9999, streamBytes: 99_999, timelineEntries: 9 });
  reading.push(at(200), Buffer.from(token('A')));
  reading.push(at(230), Buffer.from(token('B')));
  reading.push(at(270), Buffer.from(token('C') + F('stop')));
  reading.push(at(280), Buffer.from(U(9, 3)));
  const wire = { connection: CONNECTION, requestAt: at(0), writtenAt: at(1), headersAt: at(150), status: 200 };
  return {
    ...noExchange(at(400)),
    ...wire,
    kind: 'stream',
    result: reading.result(),
    ending: { kind: 'ended' },
    ...fields,
  };
}

describe('the outcome of a good probe', () => {
  test('has every time from the hand-over of the request', () => {
    const outcome = assemble(exchange(), null, FRAME);
    expect(outcome.outcome).toBe('good');
    expect(outcome.ttftSeconds).toBeCloseTo(0.2, 9);
    expect(outcome.ttfeSeconds).toBeCloseTo(0.2, 9);
    expect(outcome.gapsSeconds).toEqual([expect.closeTo(0.03, 9), expect.closeTo(0.04, 9)]);
    expect(outcome.longestGapSeconds).toBeCloseTo(0.04, 9);
    expect(outcome.tpotSeconds).toBeCloseTo(0.035, 9);
    expect(outcome.phases.write).toBeCloseTo(0.001, 9);
    expect(outcome.phases.headers).toBeCloseTo(0.15, 9);
    expect(outcome.phases).toMatchObject({ dns: 0.01, tcp: 0.02, tls: null });
    expect(outcome.timeline[0]).toEqual({ atSeconds: expect.closeTo(0.2, 9), kind: 'token', tokens: 1 });
  });

  test('lasts until the terminal event, not until the end of the body', () => {
    expect(assemble(exchange(), null, FRAME).durationSeconds).toBeCloseTo(0.27, 9);
  });
});

describe('the outcome of a failed probe', () => {
  const fault = failure('connection_lost', 'p', 'w');

  test('that never sent anything has no times, no counts and no sockets to speak of', () => {
    const outcome = assemble(noExchange(at(0)), failure('internal', 'p', 'w'), FRAME);
    expect(outcome).toMatchObject({
      outcome: 'failed',
      requestAt: null,
      durationSeconds: null,
      ttftSeconds: null,
      tpotSeconds: null,
      longestGapSeconds: null,
      httpStatus: null,
      connection: null,
      phases: { dns: null, tcp: null, tls: null, write: null, headers: null },
      outputTokens: null,
      events: 0,
      terminal: false,
      timeline: [],
    });
  });

  test('lasts until the failure', () => {
    const cut = chat.createReading({ eventBytes: 9999, streamBytes: 99_999, timelineEntries: 9 });
    cut.push(at(200), Buffer.from(token('A')));
    const outcome = assemble(exchange({ result: cut.result() }), fault, FRAME);
    expect(outcome.durationSeconds).toBeCloseTo(0.4, 9);
    expect(outcome.ttftSeconds).toBeCloseTo(0.2, 9);
  });

  test('that broke the expectation lasts as long as the answer', () => {
    expect(assemble(exchange(), failure('expectation_failed', 'p', 'w'), FRAME).durationSeconds).toBeCloseTo(0.27, 9);
  });
});

describe('a disturbed sample', () => {
  test.each([
    [0.019, 0.02, false],
    [0.021, 0.02, true],
    [0.009, 0.005, false],
    [0.011, 0.005, true],
  ])('with a delay of %d s and a bound of %d s: %j (5 %% of a TTFT of 0.2 s count too)', (delay, bound, disturbed) => {
    const frame = { ...FRAME, loopDelaySeconds: seconds(delay), disturbedAfterSeconds: seconds(bound) };
    expect(assemble(exchange(), null, frame)).toMatchObject({ disturbed, eventLoopDelaySeconds: delay });
  });

  test('is not called buffered, as we may have slept over its tokens ourselves; its TPOT is withheld all the same', () => {
    const reading = chat.createReading({ eventBytes: 9999, streamBytes: 99_999, timelineEntries: 9 }, at(0));
    reading.push(at(900), Buffer.from(token('A').repeat(16) + F('stop') + U(9, 16)));
    const slept = { ...FRAME, loopDelaySeconds: seconds(0.7) };
    const lump = exchange({ result: reading.result() });
    expect(assemble(lump, null, FRAME)).toMatchObject({ buffered: true, disturbed: false, tpotSeconds: null });
    expect(assemble(lump, null, slept)).toMatchObject({ buffered: false, disturbed: true, tpotSeconds: null });
  });
});

describe('times on a clock that goes backwards', () => {
  test('are never negative', () => {
    const outcome = assemble(exchange({ requestAt: at(10_000) }), null, FRAME);
    for (const value of [outcome.ttftSeconds, outcome.durationSeconds, outcome.phases.headers]) expect(value).toBe(0);
  });
});

describe('a fallback of the gateway', () => {
  test.each([
    ['1', true],
    ['0', false],
    ['x', false],
    [undefined, false],
  ])('with the header %j is %j', (value, fallback) => {
    const headers: Record<string, string> = value === undefined ? {} : { 'x-litellm-attempted-fallbacks': value };
    expect(assemble(exchange({ headers }), null, FRAME).fallback).toBe(fallback);
  });
});

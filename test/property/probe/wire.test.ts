import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';
import { FAILURE_REASONS } from '../../../src/probe/reasons.ts';
import { seconds } from '../../../src/units.ts';
import { type Rig, startRig } from '../../support/probe-rig.ts';
import type { Step } from '../../support/scripted-server.ts';
import { C, chunk, D, EVENT_STREAM, F, LAST_CHUNK, token, U } from '../../support/stream-text.ts';

// Loopback probes take milliseconds each; these counts keep the file at a few seconds.
const RUNS = { numRuns: 60, interruptAfterTimeLimit: 12_000, markInterruptAsFailure: false };
const PATIENCE = { connectSeconds: seconds(2), headersSeconds: seconds(0.15), firstTokenSeconds: seconds(0.2) };

let steps: readonly Step[] = [];
let rig: Rig;

beforeAll(async () => {
  const deadlines = { ...PATIENCE, betweenTokensSeconds: seconds(0.15), totalSeconds: seconds(0.6) };
  rig = await startRig({ script: () => steps, profile: { deadlines } });
});

// Proves that none of the probes of this file left a socket or a timer behind.
afterAll(() => rig.close());

/** What holds for every outcome, whatever came over the wire. */
function expectSane(outcome: ProbeOutcome, from = rig): void {
  const { ttfeSeconds, ttftSeconds, ttfcSeconds, durationSeconds, timeline, gapsSeconds, tpotSeconds, phases } =
    outcome;
  const times = [ttfeSeconds, ttftSeconds, ttfcSeconds].filter((time) => time !== null);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  for (const time of [...times, ...gapsSeconds, tpotSeconds ?? 0, phases.write ?? 0, phases.headers ?? 0]) {
    expect(time).toBeGreaterThanOrEqual(0);
    expect(time).toBeLessThanOrEqual(durationSeconds ?? 0);
  }
  const stamps = timeline.map(({ atSeconds }) => atSeconds);
  expect(stamps).toEqual([...stamps].sort((a, b) => a - b));
  expect(outcome.endedAt).toBeGreaterThanOrEqual(outcome.beganAt);
  if (outcome.outcome === 'failed') {
    expect(FAILURE_REASONS).toContain(outcome.failure.reason);
    expect(outcome.failure.reason).not.toBe('internal');
    expect(outcome.failure.message).toMatch(/^[^\n]{1,300}$/);
  } else {
    expect(outcome.terminal).toBe(true);
    expect(outcome.tokenChunks).toBeGreaterThan(0);
  }
  expect(from.clock.armed()).toBe(0);
}

const pieces = fc.constantFrom(
  C({ role: 'assistant', content: '' }),
  token('A'),
  token('好🌍'),
  C({ reasoning_content: 'hm' }),
  F('stop'),
  F('abort'),
  U(9, 3),
  D,
  ': ping\n\n',
  'data: {"error":{"message":"x","code":429}}\n\n',
  'data: {"choices":[{"index":0,"del\n\n',
  'event: ping\ndata: {}\n\n',
  'data: ',
  '\r\n',
  '\uFEFF',
);
const bodies = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 6 });
// A body without an end costs the whole grace, so there are few of them.
const endings = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom<Step['act'] | null>('FIN', 'RST', LAST_CHUNK, 'zz\r\n') },
  { weight: 1, arbitrary: fc.constant(null) },
);
const heads = fc.constantFrom(
  EVENT_STREAM,
  EVENT_STREAM,
  EVENT_STREAM.replace('text/event-stream', 'application/json'),
  EVENT_STREAM.replace('200 OK', '503 Busy'),
  EVENT_STREAM.replace('200 OK', '302 Found'),
  EVENT_STREAM.replace('Transfer', 'Content-Encoding: gzip\r\nTransfer'),
);

/** `bytes` cut at the given places, each part written on its own. */
function split(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((place) => Math.min(place, bytes.length)), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('whatever a server writes', () => {
  test('a probe ends with a sane outcome: bodies of all kinds, cut and ended anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(heads, bodies, cuts, endings, async (head, body, at, ending) => {
        const parts = split(body, at).filter((part) => part.length > 0);
        steps = [
          { atMs: 0, act: head },
          ...parts.map((part) => ({ atMs: 0, act: chunk(part) })),
          ...(ending === null ? [] : [{ atMs: 1, act: ending }]),
        ];
        expectSane(await rig.probe());
      }),
      RUNS,
    );
  }, 30_000);

  test('a probe ends with a sane outcome: bytes that are no HTTP', async () => {
    const garbage = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.string({ minLength: 1 }).map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(garbage, fc.boolean(), async (bytes, http) => {
        const act = http ? Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n'), bytes]) : bytes;
        steps = [
          { atMs: 0, act },
          { atMs: 1, act: 'FIN' },
        ];
        expectSane(await rig.probe());
      }),
      { ...RUNS, numRuns: 40 },
    );
  }, 30_000);
});

describe('a valid stream', () => {
  const valid = Buffer.from(
    C({ role: 'assistant', content: '' }) + token('好') + token('🌍') + token('!') + F('stop') + U(9, 3) + D,
  );

  // Good under any schedule of the machine, so with the patience of a probe that is not meant to give up.
  let patient: Rig;
  beforeAll(async () => {
    patient = await startRig({ script: () => steps });
  });
  afterAll(() => patient.close());

  test('has the same verdict and counts however it is split into writes', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const parts = split(valid, at).filter((part) => part.length > 0);
        steps = [
          { atMs: 0, act: EVENT_STREAM },
          ...parts.map((part, index) => ({ atMs: index, act: chunk(part) })),
          { atMs: parts.length, act: LAST_CHUNK },
        ];
        const outcome = await patient.probe();
        expectSane(outcome, patient);
        expect(outcome).toMatchObject({
          outcome: 'good',
          outputTokens: 3,
          tokenChunks: 3,
          promptTokens: 9,
          finishReason: 'stop',
          nonconformingEvents: 0,
        });
      }),
      { ...RUNS, numRuns: 40 },
    );
  }, 30_000);
});

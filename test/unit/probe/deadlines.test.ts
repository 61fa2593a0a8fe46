import { describe, expect, test } from 'vitest';
import { createDeadlines, GRACE_SECONDS } from '../../../src/probe/deadlines.ts';
import type { Deadlines } from '../../../src/probe/profile.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

const LIMITS: Deadlines = {
  connectSeconds: seconds(1),
  headersSeconds: seconds(5),
  firstTokenSeconds: seconds(10),
  betweenTokensSeconds: seconds(3),
  totalSeconds: seconds(30),
};

function setUp(limits: Partial<Deadlines> = {}) {
  const clock = manualClock();
  const expired: string[] = [];
  const deadlines = createDeadlines({ ...LIMITS, ...limits }, clock, (what) => expired.push(what));
  return { clock, deadlines, expired, now: clock.monotonic };
}

describe('deadlines', () => {
  test('end a connection that is not there in time, and leave no timer', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.connecting(now());
    await clock.advance(0.999);
    expect(expired).toEqual([]);
    await clock.advance(0.001);
    expect(expired).toEqual(['connect_timeout']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('count headers, first token and total from the hand-over of the request, not from the connection', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.connecting(now());
    await clock.advance(0.9);
    deadlines.requestStarted(now());
    await clock.advance(4.99);
    expect(expired).toEqual([]);
    await clock.advance(0.01);
    expect(expired).toEqual(['headers_timeout']);
  });

  test('end a stream without a token, whatever bytes come', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    await clock.advance(10);
    expect(expired).toEqual(['ttft_timeout']);
  });

  test('end a stream that falls silent, counted from the last token', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    for (let token = 0; token < 4; token += 1) {
      await clock.advance(2.5);
      deadlines.tokensReceived(now());
    }
    await clock.advance(2.99);
    expect(expired).toEqual([]);
    await clock.advance(0.01);
    expect(expired).toEqual(['stalled']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('end a stream whose tokens never end', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    for (let token = 0; token < 29; token += 1) {
      await clock.advance(1);
      deadlines.tokensReceived(now());
    }
    await clock.advance(1);
    expect(expired).toEqual(['total_timeout']);
  });

  test('arm one timer between tokens however many tokens come', async () => {
    const { clock, deadlines, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    for (let token = 0; token < 100; token += 1) deadlines.tokensReceived(now());
    // Between tokens, and the whole probe.
    expect(clock.pendingTimers()).toBe(2);
  });

  test('are back when tokens follow what looked like the end', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    deadlines.grace(now());
    await clock.advance(GRACE_SECONDS / 2);
    deadlines.tokensReceived(now());
    await clock.advance(LIMITS.betweenTokensSeconds - 0.1);
    expect(expired).toEqual([]);
    await clock.advance(0.1);
    expect(expired).toEqual(['stalled']);
  });

  test('of the whole probe stays, for streams that end with each of their chunks', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    for (let second = 0; second < LIMITS.totalSeconds - 1; second += 1) {
      deadlines.tokensReceived(now());
      deadlines.grace(now());
      await clock.advance(1);
    }
    deadlines.tokensReceived(now());
    deadlines.grace(now());
    await clock.advance(1);
    expect(expired).toEqual(['total_timeout']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('give way to a bounded grace after the terminal marker, which nothing but a token prolongs', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.tokensReceived(now());
    deadlines.grace(now());
    await clock.advance(GRACE_SECONDS / 2);
    deadlines.grace(now());
    await clock.advance(GRACE_SECONDS / 2);
    expect(expired).toEqual(['grace']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('name the earlier stage when two fall due at the same instant', async () => {
    const same = { headersSeconds: seconds(4), firstTokenSeconds: seconds(4), totalSeconds: seconds(4) };
    const { clock, deadlines, expired, now } = setUp(same);
    deadlines.requestStarted(now());
    await clock.advance(4);
    expect(expired).toEqual(['headers_timeout']);
  });

  test('name the earlier stage also when its timer is the later of the two by a rounding', () => {
    let now = 100;
    const pending: (() => void)[] = [];
    const clock = {
      ...manualClock(),
      monotonic: () => monotonicInstant(now),
      setTimer: (_: number, callback: () => void) => {
        pending.push(callback);
        return { cancel: () => {} };
      },
    };
    const expired: string[] = [];
    const same = { ...LIMITS, headersSeconds: seconds(9), firstTokenSeconds: seconds(4), totalSeconds: seconds(4) };
    createDeadlines(same, clock, (what) => expired.push(what)).requestStarted(monotonicInstant(now));
    now = 104;
    pending[2]?.();
    expect(expired).toEqual(['ttft_timeout']);
  });

  test('begin anew when the request is repeated on another connection', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    await clock.advance(0.5);
    deadlines.connecting(now());
    await clock.advance(0.5);
    deadlines.requestStarted(now());
    await clock.advance(4.9);
    expect(expired).toEqual([]);
    await clock.advance(0.1);
    expect(expired).toEqual(['headers_timeout']);
  });

  test('are silent once stopped', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.stop();
    await clock.advance(100);
    expect(expired).toEqual([]);
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('a deadline whose timer fires late, because our own loop stood still', () => {
  test('looks once more before it ends the probe', () => {
    let now = 100;
    const pending: Array<{ delay: number; callback: () => void }> = [];
    const clock = {
      ...manualClock(),
      monotonic: () => monotonicInstant(now),
      setTimer: (delay: number, callback: () => void) => {
        const timer = { delay, callback };
        pending.push(timer);
        return { cancel: () => void pending.splice(pending.indexOf(timer), 1) };
      },
    };
    const expired: string[] = [];
    const deadlines = createDeadlines(LIMITS, clock, (what) => expired.push(what));
    deadlines.requestStarted(monotonicInstant(now));
    deadlines.headersReceived();
    const late = pending.find(({ delay }) => delay === 10);
    now = 160;
    late?.callback();
    expect(expired).toEqual([]);
    const again = pending.find(({ delay }) => delay === 0);
    again?.callback();
    expect(expired).toEqual(['ttft_timeout']);
  });

  test('spares a probe whose token lay unread meanwhile', async () => {
    const { clock, deadlines, expired, now } = setUp();
    deadlines.requestStarted(now());
    deadlines.headersReceived();
    await clock.advance(9.99);
    deadlines.tokensReceived(now());
    await clock.advance(2);
    expect(expired).toEqual([]);
  });
});

import type { Clock, Timer } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import type { Deadlines } from './profile.ts';

/** The reasons that a deadline can end a probe with: one each. */
export const DEADLINE_REASONS = [
  'connect_timeout',
  'headers_timeout',
  'ttft_timeout',
  'stalled',
  'total_timeout',
] as const;
export type DeadlineReason = (typeof DEADLINE_REASONS)[number];

/**
 * The timers of one probe. Each call is an event of the request at `at`; only tokens move the token deadlines, so
 * neither comments, pings, roles nor single bytes keep a hanging stream alive.
 */
export interface DeadlineTimers {
  connecting(at: MonotonicInstant): void;
  requestStarted(at: MonotonicInstant): void;
  headersReceived(): void;
  tokensReceived(at: MonotonicInstant): void;
  /** The verdict is known, or will not get better; the rest of the body is read for a bounded time. */
  grace(at: MonotonicInstant): void;
  /** Cancels everything; nothing fires afterwards. */
  stop(): void;
}

/** Reading on after the terminal marker: long enough for usage and the end of the body, which keeps the socket usable. */
export const GRACE_SECONDS = seconds(2);

// A timer this late means that our loop stood still: what lies unread in the socket has to be seen first.
const LATE_SECONDS = 0.005;
// Node fires a timer up to a millisecond early; a deadline is never early by more than this.
const EARLY_SECONDS = 0.0001;
// Timers of one instant fire up to two milliseconds apart: each is rounded for itself.
const SAME_INSTANT_SECONDS = 0.002;

/**
 * @param expired called at most once: with the reason of the deadline, or `grace` when the time to read on is over
 */
export function createDeadlines(
  limits: Deadlines,
  clock: Clock,
  expired: (what: DeadlineReason | 'grace') => void,
): DeadlineTimers {
  const timers = new Map<DeadlineReason | 'grace', { readonly timer: Timer; readonly due: MonotonicInstant }>();
  let lastTokenAt: MonotonicInstant | null = null;
  let graced = false;

  const cancel = (what: DeadlineReason | 'grace'): void => {
    timers.get(what)?.timer.cancel();
    timers.delete(what);
  };
  const stop = (): void => {
    for (const what of [...timers.keys()]) cancel(what);
  };
  /** Of several deadlines that pass at the instant of `what`, the earliest stage: none of the later ones began. */
  const firstOf = (what: DeadlineReason | 'grace', due: MonotonicInstant): DeadlineReason | 'grace' => {
    const passed = ({ due: other }: { readonly due: MonotonicInstant }): boolean =>
      elapsed(due, other) <= SAME_INSTANT_SECONDS;
    const first = DEADLINE_REASONS.find((reason) => {
      const timer = timers.get(reason);
      return timer !== undefined && reason !== 'stalled' && passed(timer);
    });
    return what === 'grace' ? what : (first ?? what);
  };
  const arm = (what: DeadlineReason | 'grace', from: MonotonicInstant, limit: Seconds, lookedAgain = false): void => {
    const due = after(from, limit);
    timers.get(what)?.timer.cancel();
    const fire = (): void => {
      const now = clock.monotonic();
      const late = elapsed(due, now);
      // Tokens do not re-arm the timer one by one; it finds out here that they came.
      if (what === 'stalled' && lastTokenAt !== null && lastTokenAt > from) arm(what, lastTokenAt, limit);
      else if (late < -EARLY_SECONDS) arm(what, from, limit, lookedAgain);
      else if (late > LATE_SECONDS && !lookedAgain) arm(what, from, limit, true);
      else {
        const reason = firstOf(what, due);
        stop();
        expired(reason);
      }
    };
    const timer = clock.setTimer(seconds(Math.max(0, elapsed(clock.monotonic(), due))), fire);
    timers.set(what, { timer, due });
  };

  return {
    connecting(at) {
      stop();
      arm('connect_timeout', at, limits.connectSeconds);
    },
    requestStarted(at) {
      stop();
      // In this order: of two deadlines at the same instant the earlier stage is the reason.
      arm('headers_timeout', at, limits.headersSeconds);
      arm('ttft_timeout', at, limits.firstTokenSeconds);
      arm('total_timeout', at, limits.totalSeconds);
    },
    headersReceived: () => cancel('headers_timeout'),
    tokensReceived(at) {
      // What looked like the end was none.
      if (graced) cancel('grace');
      graced = false;
      cancel('ttft_timeout');
      lastTokenAt = at;
      if (!timers.has('stalled')) arm('stalled', at, limits.betweenTokensSeconds);
    },
    grace(at) {
      if (graced) return;
      graced = true;
      // The whole probe's deadline stays: a stream that ends with each of its chunks must not go on for ever.
      for (const what of ['connect_timeout', 'headers_timeout', 'ttft_timeout', 'stalled'] as const) cancel(what);
      arm('grace', at, GRACE_SECONDS);
    },
    stop,
  };
}

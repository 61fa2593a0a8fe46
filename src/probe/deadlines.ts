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

type Stage = DeadlineReason | 'grace';

interface Armed {
  readonly timer: Timer;
  readonly due: MonotonicInstant;
}

/** A class with one field a stage, as one is made for each request and asked at each of its tokens. */
class Timers implements DeadlineTimers {
  private readonly limits: Deadlines;
  private readonly clock: Clock;
  private readonly expired: (what: Stage) => void;
  private readonly armed: Record<Stage, Armed | null> = {
    connect_timeout: null,
    headers_timeout: null,
    ttft_timeout: null,
    stalled: null,
    total_timeout: null,
    grace: null,
  };
  private lastTokenAt: MonotonicInstant | null = null;
  private graced = false;

  constructor(limits: Deadlines, clock: Clock, expired: (what: Stage) => void) {
    this.limits = limits;
    this.clock = clock;
    this.expired = expired;
  }

  connecting(at: MonotonicInstant): void {
    this.stop();
    this.arm('connect_timeout', at, this.limits.connectSeconds);
  }

  requestStarted(at: MonotonicInstant): void {
    this.stop();
    // In this order: of two deadlines at the same instant the earlier stage is the reason.
    this.arm('headers_timeout', at, this.limits.headersSeconds);
    this.arm('ttft_timeout', at, this.limits.firstTokenSeconds);
    this.arm('total_timeout', at, this.limits.totalSeconds);
  }

  headersReceived(): void {
    this.cancel('headers_timeout');
  }

  tokensReceived(at: MonotonicInstant): void {
    // What looked like the end was none.
    if (this.graced) this.cancel('grace');
    this.graced = false;
    if (this.armed.ttft_timeout !== null) this.cancel('ttft_timeout');
    this.lastTokenAt = at;
    if (this.armed.stalled === null) this.arm('stalled', at, this.limits.betweenTokensSeconds);
  }

  grace(at: MonotonicInstant): void {
    if (this.graced) return;
    this.graced = true;
    // The whole probe's deadline stays: a stream that ends with each of its chunks must not go on for ever.
    for (const what of ['connect_timeout', 'headers_timeout', 'ttft_timeout', 'stalled'] as const) this.cancel(what);
    this.arm('grace', at, GRACE_SECONDS);
  }

  stop(): void {
    for (const what of DEADLINE_REASONS) this.cancel(what);
    this.cancel('grace');
  }

  private cancel(what: Stage): void {
    this.armed[what]?.timer.cancel();
    this.armed[what] = null;
  }

  private arm(what: Stage, from: MonotonicInstant, limit: Seconds, lookedAgain = false): void {
    const due = after(from, limit);
    this.armed[what]?.timer.cancel();
    const fire = (): void => {
      const { lastTokenAt } = this;
      const late = elapsed(due, this.clock.monotonic());
      // Tokens do not re-arm the timer one by one; it finds out here that they came.
      if (what === 'stalled' && lastTokenAt !== null && lastTokenAt > from) this.arm(what, lastTokenAt, limit);
      else if (late < -EARLY_SECONDS) this.arm(what, from, limit, lookedAgain);
      else if (late > LATE_SECONDS && !lookedAgain) this.arm(what, from, limit, true);
      else {
        const reason = this.firstOf(what, due);
        this.stop();
        this.expired(reason);
      }
    };
    const timer = this.clock.setTimer(seconds(Math.max(0, elapsed(this.clock.monotonic(), due))), fire);
    this.armed[what] = { timer, due };
  }

  /** Of several deadlines that pass at the instant of `what`, the earliest stage: none of the later ones began. */
  private firstOf(what: Stage, due: MonotonicInstant): Stage {
    if (what === 'grace') return what;
    const first = DEADLINE_REASONS.find((reason) => {
      const other = this.armed[reason];
      return other !== null && reason !== 'stalled' && elapsed(due, other.due) <= SAME_INSTANT_SECONDS;
    });
    return first ?? what;
  }
}

/**
 * @param expired called at most once: with the reason of the deadline, or `grace` when the time to read on is over
 */
export const createDeadlines = (
  limits: Deadlines,
  clock: Clock,
  expired: (what: DeadlineReason | 'grace') => void,
): DeadlineTimers => new Timers(limits, clock, expired);

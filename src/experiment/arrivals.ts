import { type Clock, sleep } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import { createRandom } from './random.ts';
import type { Arrival } from './types.ts';

type Open = Extract<Arrival, { readonly kind: 'open' }>;

/** The part of the load that one worker makes. All parts together are the load that was asked for. */
export interface ArrivalShare {
  readonly arrival: Arrival;
  readonly worker: number;
  readonly workers: number;
  readonly seed: string;
}

/** How many of `total` things fall to this worker. */
export const shareOf = (total: number, { worker, workers }: Pick<ArrivalShare, 'worker' | 'workers'>): number =>
  Math.floor(total / workers) + (worker < total % workers ? 1 : 0);

/**
 * When the requests of one worker are due, in seconds from the start; endless. Constant: every `workers`-th instant of
 * one even grid. Poisson: a process of its own at its share of the rate; the sum of such processes is one at the whole.
 */
export function* dueOffsets(
  arrival: Open,
  { worker, workers, seed }: Omit<ArrivalShare, 'arrival'>,
): Generator<number> {
  if (arrival.process === 'constant') {
    for (let index = worker; ; index += workers) yield index / arrival.ratePerSecond;
  }
  const random = createRandom(`${seed}\narrivals\n${worker} of ${workers}`);
  const mean = workers / arrival.ratePerSecond;
  for (let at = 0; ; ) {
    at += -Math.log(1 - random()) * mean;
    yield at;
  }
}

/** From when to when new requests are begun. */
export interface ArrivalSpan {
  readonly startAt: MonotonicInstant;
  readonly until: MonotonicInstant;
  /**
   * Closed loop: the first requests are spread over this time. Begun all at once, requests of one length would stay in
   * step for the whole run, and the engine would see waves instead of a level.
   */
  readonly rampSeconds: Seconds;
}

export interface ArrivalDependencies {
  readonly clock: Clock;
  /** Resolves when the request has ended: true when it was good. */
  send(scheduledAt: MonotonicInstant | null): Promise<boolean>;
  /** A request was due and not begun, because too many are in flight. */
  notStarted(): void;
}

/** A slot of a closed loop whose request failed at once begins the next one only this long after it. */
const FAILED_SLOT_SECONDS = 0.25;

async function closedSlot(
  startAt: MonotonicInstant,
  span: ArrivalSpan,
  deps: ArrivalDependencies,
  signal: AbortSignal,
) {
  const { clock, send } = deps;
  await sleep(clock, elapsed(clock.monotonic(), startAt), signal);
  while (!signal.aborted && clock.monotonic() < span.until) {
    const beganAt = clock.monotonic();
    if (await send(null)) continue;
    // An endpoint that refuses everything at once would otherwise be asked thousands of times a second.
    const pause = elapsed(clock.monotonic(), after(beganAt, seconds(FAILED_SLOT_SECONDS)));
    if (pause > 0) await sleep(clock, pause, signal);
  }
}

async function closedLoop(
  concurrency: number,
  share: ArrivalShare,
  span: ArrivalSpan,
  deps: ArrivalDependencies,
  signal: AbortSignal,
): Promise<void> {
  const slots = Array.from({ length: shareOf(concurrency, share) }, (_, index) => index * share.workers + share.worker);
  const startOf = (slot: number): MonotonicInstant =>
    after(span.startAt, seconds((span.rampSeconds * slot) / concurrency));
  await Promise.all(slots.map((slot) => closedSlot(startOf(slot), span, deps, signal)));
}

async function openLoop(
  arrival: Open,
  share: ArrivalShare,
  span: ArrivalSpan,
  deps: ArrivalDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { clock, send, notStarted } = deps;
  const most = Math.max(1, shareOf(arrival.maxInFlight, share));
  const inFlight = new Set<Promise<unknown>>();
  for (const offset of dueOffsets(arrival, share)) {
    // The timetable is absolute: being late for one request shifts none of the others.
    const due = after(span.startAt, seconds(offset));
    if (due >= span.until) break;
    const wait = elapsed(clock.monotonic(), due);
    if (wait > 0) await sleep(clock, wait, signal);
    if (signal.aborted) break;
    if (inFlight.size >= most) {
      notStarted();
      continue;
    }
    const request = send(due).finally(() => inFlight.delete(request));
    inFlight.add(request);
  }
  await Promise.all(inFlight);
}

/**
 * Makes one worker's share of the load. Resolves when no more is begun, by time or by `signal`, and everything that was
 * begun has ended.
 */
export function runArrivals(
  share: ArrivalShare,
  span: ArrivalSpan,
  deps: ArrivalDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { arrival } = share;
  return arrival.kind === 'closed'
    ? closedLoop(arrival.concurrency, share, span, deps, signal)
    : openLoop(arrival, share, span, deps, signal);
}

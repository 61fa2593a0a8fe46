import { type Clock, sleep } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, seconds } from '../units.ts';
import { drainEngine } from './drain.ts';
import type { EngineWatch } from './engine-watch.ts';
import type { LoadTally } from './load-tally.ts';
import type { LoadRequest } from './load-types.ts';
import type { LoadUnit, UnitSpan } from './load-unit.ts';
import { median } from './statistics.ts';
import type { RunPhase } from './types.ts';
import { groupSize, isSteady } from './warmup.ts';

/** What the phases of a run work with. */
export interface PhaseParts {
  readonly request: LoadRequest;
  readonly clock: Clock;
  readonly origin: MonotonicInstant;
  readonly units: readonly LoadUnit[];
  readonly watch: EngineWatch | null;
  readonly tally: LoadTally;
  /** The run is to end, with what it has. */
  readonly signal: AbortSignal;
  /** Called with the instant at which a phase begins or ends. */
  mark(phase: RunPhase, edge: 'from' | 'to', atSeconds: number): void;
  note(text: string): void;
}

const LOOK_SECONDS = seconds(0.25);
/** Spread of the first requests of the warm-up, whose duration is not known yet. */
const WARMUP_RAMP_SECONDS = 1;
/** Workers in other threads hear of a span a moment later than it is decided. */
const LEAD_SECONDS = 0.05;
/** Requests in flight when somebody interrupts are waited for, but not for long. */
const GIVE_UP_SECONDS = seconds(5);

const now = ({ clock, origin }: PhaseParts): number => elapsed(origin, clock.monotonic());

const runUnits = ({ units }: PhaseParts, phase: RunPhase, span: UnitSpan): Promise<unknown> =>
  Promise.all(units.map((unit) => unit.run(phase, span)));

const stopUnits = ({ units }: PhaseParts): void => {
  for (const unit of units) unit.stop();
};

/** Waits for requests in flight; once the run is to end, for a bounded time. False when some were given up. */
async function settle(parts: PhaseParts, running: Promise<unknown>): Promise<boolean> {
  const { clock, signal, units } = parts;
  const settled = running.then(
    () => true,
    () => {
      if (!signal.aborted) parts.note('a worker ended before its time: what it had in flight is lost');
      return false;
    },
  );
  const interrupted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const first = await Promise.race([settled, interrupted]);
  if (typeof first === 'boolean') return first;
  stopUnits(parts);
  const waiting = new AbortController();
  const done = await Promise.race([settled, sleep(clock, GIVE_UP_SECONDS, waiting.signal).then(() => null)]);
  waiting.abort();
  if (done !== null) return done;
  const { inFlight } = parts.tally;
  parts.note(`${inFlight} requests that were still in flight were given up`);
  await Promise.all(units.map((unit) => unit.close()));
  await settled;
  return false;
}

/** The same load as in the window until the TTFT is steady (see `isSteady`). Gives the typical duration of a request. */
export async function warmUp(parts: PhaseParts): Promise<number | null> {
  const { request, clock, tally, signal } = parts;
  const longest = request.warmupMaxSeconds;
  if (longest <= 0) return null;
  tally.begin('warmup');
  const from = now(parts);
  parts.mark('warmup', 'from', from);
  const span: UnitSpan = {
    startAtSeconds: from + LEAD_SECONDS,
    untilSeconds: from + longest,
    rampSeconds: Math.min(WARMUP_RAMP_SECONDS, longest / 4),
  };
  const running = runUnits(parts, 'warmup', span);
  const group = groupSize(request.arrival);
  let steady = false;
  while (!steady && !signal.aborted && now(parts) < span.untilSeconds) {
    await sleep(clock, LOOK_SECONDS, signal);
    steady = isSteady(tally.samples, group);
  }
  stopUnits(parts);
  await settle(parts, running);
  parts.mark('warmup', 'to', now(parts));
  if (!steady && !signal.aborted) parts.note(`the TTFT was not steady after ${longest} s of warm-up`);
  return median(tally.samples.map(([, , durationSeconds]) => durationSeconds));
}

/** Why the window is not worth beginning; null when it is. */
export function warmUpVerdict({ tally, request }: Pick<PhaseParts, 'tally' | 'request'>): string | null {
  if (request.warmupMaxSeconds <= 0 || tally.ended === 0 || tally.failed < tally.ended) return null;
  const [message = ''] = tally.messages.values();
  return `every request of the warm-up failed, so the window was not begun: ${message}`;
}

export async function drain(parts: PhaseParts): Promise<void> {
  const { request, watch, clock, signal } = parts;
  parts.tally.begin('drain');
  parts.mark('drain', 'from', now(parts));
  const { note } = await drainEngine(watch, seconds(request.drainMaxSeconds), { clock, signal });
  if (note !== null && !signal.aborted) parts.note(note);
  parts.mark('drain', 'to', now(parts));
}

/** Reads the engine's page at the ends of the trimmed window, so that increases are about just that. */
function markEdges(parts: PhaseParts, span: UnitSpan): () => void {
  const { clock, origin, watch, request } = parts;
  if (watch === null) return () => undefined;
  const timers = [span.startAtSeconds + request.trimSeconds, span.untilSeconds - request.trimSeconds].map((at) => {
    const due = after(origin, seconds(at));
    return clock.setTimer(elapsed(clock.monotonic(), due), () => void watch.mark());
  });
  return () => {
    for (const timer of timers) timer.cancel();
  };
}

/**
 * The window, and the end of everything that was sent in it. True when nothing of it is missing.
 *
 * @param typicalSeconds duration of a request: the first ones are spread over it, so that they do not end together
 */
export async function measure(parts: PhaseParts, typicalSeconds: number): Promise<boolean> {
  const { request, clock, tally, signal } = parts;
  const rampSeconds = Math.max(0, Math.min(request.trimSeconds, typicalSeconds));
  tally.begin('window');
  const from = now(parts) + LEAD_SECONDS;
  const span: UnitSpan = { startAtSeconds: from, untilSeconds: from + request.windowSeconds, rampSeconds };
  parts.mark('window', 'from', from);
  const cancelEdges = markEdges(parts, span);
  const running = runUnits(parts, 'window', span);
  // Node fires a timer up to a millisecond early.
  while (!signal.aborted && now(parts) < span.untilSeconds) {
    await sleep(clock, seconds(span.untilSeconds - now(parts)), signal);
  }
  const to = Math.min(span.untilSeconds, now(parts));
  const whole = to === span.untilSeconds;
  cancelEdges();
  parts.mark('window', 'to', to);
  parts.mark('cooldown', 'from', to);
  const settled = await settle(parts, running);
  parts.mark('cooldown', 'to', now(parts));
  return whole && settled;
}

import { type Clock, sleep } from '../clock.ts';
import { after, elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import type { EngineWatch } from './engine-watch.ts';

export interface Drained {
  readonly idle: boolean;
  /** For people; null when the engine is idle and says so. */
  readonly note: string | null;
}

const LOOK_SECONDS = seconds(0.25);
/** Gauges that stay up for this long while no token is made are old: some engines refresh them only while they work. */
const STALE_SECONDS = 5;

const seen = (value: number | null): string => (value === null ? 'unknown' : String(value));

/**
 * Waits until the engine says that nothing runs and nothing waits. Only for a bounded time: others may be using it.
 *
 * @param watch null: nothing is known of the engine, so there is nothing to wait for
 */
export async function drainEngine(
  watch: Pick<EngineWatch, 'latest' | 'mark'> | null,
  longest: Seconds,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Drained> {
  if (watch === null) return { idle: false, note: null };
  const until = after(clock.monotonic(), longest);
  let tokens: number | null = null;
  let stillSince: MonotonicInstant | null = null;
  for (;;) {
    await watch.mark();
    const now = clock.monotonic();
    const sample = watch.latest();
    const { running = null, waiting = null, generationTokens = null } = sample ?? {};
    if (sample === null || !sample.up || running === null) {
      return {
        idle: false,
        note: 'the engine does not say what it runs: whether it was idle before the window is not known',
      };
    }
    if (running === 0 && (waiting ?? 0) === 0) return { idle: true, note: null };
    if (generationTokens === null || generationTokens !== tokens) {
      tokens = generationTokens;
      stillSince = now;
    } else if (stillSince !== null && elapsed(stillSince, now) >= STALE_SECONDS) {
      return {
        idle: true,
        note: `the engine's gauges stand at running ${seen(running)}, waiting ${seen(waiting)} while no token is made: taken as idle`,
      };
    }
    if (signal.aborted || now >= until) {
      return {
        idle: false,
        note: `the engine was not idle before the window (running ${seen(running)}, waiting ${seen(waiting)}): others use it, too`,
      };
    }
    await sleep(clock, LOOK_SECONDS, signal);
  }
}

import type { UnitReport } from './load-unit.ts';
import type { RunPhase } from './types.ts';

/** What the workers have told so far, for the progress line and for the end of the warm-up. */
export interface LoadTally {
  add(worker: number, report: UnitReport, atSeconds: number): void;
  /** Counts start anew. */
  begin(phase: RunPhase): void;
  readonly phase: RunPhase;
  readonly inFlight: number;
  readonly ended: number;
  readonly failed: number;
  readonly samples: UnitReport['samples'];
  /** Tokens of requests that ended in the last seconds, a second. */
  rate(atSeconds: number): number;
  /** The first failure of each reason, in words. */
  readonly messages: ReadonlyMap<string, string>;
}

const RATE_SECONDS = 10;
/** Enough for any group of the warm-up's rule. */
const KEPT_SAMPLES = 4096;

export function createLoadTally(): LoadTally {
  const inFlight = new Map<number, number>();
  const messages = new Map<string, string>();
  let recent: { readonly at: number; readonly tokens: number }[] = [];
  let samples: UnitReport['samples'][number][] = [];
  let phase: RunPhase = 'calibration';
  let [ended, failed] = [0, 0];
  let beganAt: number | null = null;

  return {
    add(worker, report, atSeconds) {
      beganAt ??= atSeconds;
      inFlight.set(worker, report.inFlight);
      ended += report.ended;
      failed += report.failed;
      samples.push(...report.samples);
      if (samples.length > 2 * KEPT_SAMPLES) samples = samples.slice(-KEPT_SAMPLES);
      recent.push({ at: atSeconds, tokens: report.outputTokens });
      for (const [reason, message] of report.messages) if (!messages.has(reason)) messages.set(reason, message);
    },
    begin(next) {
      phase = next;
      [ended, failed] = [0, 0];
      samples = [];
      recent = [];
      beganAt = null;
    },
    get phase() {
      return phase;
    },
    get inFlight() {
      return [...inFlight.values()].reduce((sum, count) => sum + count, 0);
    },
    get ended() {
      return ended;
    },
    get failed() {
      return failed;
    },
    get samples() {
      return samples;
    },
    rate(atSeconds) {
      recent = recent.filter(({ at }) => atSeconds - at < RATE_SECONDS);
      const tokens = recent.reduce((sum, one) => sum + one.tokens, 0);
      const length = Math.min(RATE_SECONDS, atSeconds - (beganAt ?? atSeconds));
      return length > 0 ? tokens / length : 0;
    },
    messages,
  };
}

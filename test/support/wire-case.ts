import { expect, test } from 'vitest';
import type { ProbeOutcome } from '../../src/probe/outcome.ts';
import type { FailureReason } from '../../src/probe/reasons.ts';
import { type Rig, type RigOptions, withRig } from './probe-rig.ts';
import type { Step } from './scripted-server.ts';

/** For streams that are to be called buffered, as a disturbed one never is: a busy machine may hold our own loop up. */
export const NEVER_DISTURBED = 60;

/** One oddity of the field, as bytes on a wire and as the verdict that is wanted. */
export interface WireCase extends RigOptions {
  readonly id: string;
  readonly title: string;
  /** The same steps for each request; or use `script`. */
  readonly steps?: readonly Step[];
  readonly verdict: 'good' | FailureReason;
  /** Fields of the outcome that must be so. */
  readonly outcome?: Partial<ProbeOutcome>;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly also?: (outcome: ProbeOutcome, rig: Rig) => void | Promise<void>;
}

/**
 * How far a time may be off on a busy machine: the server's timer and the probe's read can each be as late as the loop
 * that they share was, and the probe says how late that was.
 */
const slackSeconds = ({ eventLoopDelaySeconds }: ProbeOutcome): number => 0.08 + 2.5 * (eventLoopDelaySeconds ?? 0);

/** A duration that the script's times give: never shorter than they say, and longer only by what the machine adds. */
export function expectSeconds(outcome: ProbeOutcome, actual: number | null | undefined, wantedMs: number): void {
  // Timers of the server and of the probe are rounded to milliseconds apart from each other.
  expect(actual).toBeGreaterThanOrEqual(wantedMs / 1000 - 0.005);
  expect(actual).toBeLessThan(wantedMs / 1000 + slackSeconds(outcome));
}

/** A difference of two times, which lateness can make shorter as well as longer. */
export function expectSpan(outcome: ProbeOutcome, actual: number | null | undefined, wantedMs: number): void {
  const slack = slackSeconds(outcome) - 0.06;
  expect(actual).toBeGreaterThan(wantedMs / 1000 - slack);
  expect(actual).toBeLessThan(wantedMs / 1000 + slack);
}

/** TPOT, judged by the whole span of `tokens` tokens: the shorter the span, the less the machine lets us say. */
export const expectTpot = (outcome: ProbeOutcome, wantedMs: number, tokens: number): void =>
  expectSpan(outcome, (outcome.tpotSeconds ?? Number.NaN) * tokens, wantedMs * tokens);

/** Every case is a test of its own, and proves that the probe leaves no timer and no socket behind. */
export function wireCases(cases: readonly WireCase[]): void {
  for (const { id, title, steps, verdict, outcome, detail, also, ...options } of cases) {
    test(`${id}: ${title}`, async () => {
      await withRig({ ...(steps !== undefined && { script: () => steps }), ...options }, async (rig) => {
        const result = await rig.probe();
        const reason = result.outcome === 'failed' ? result.failure.reason : 'good';
        expect(reason, result.outcome === 'failed' ? result.failure.message : '').toBe(verdict);
        if (outcome !== undefined) expect(result).toMatchObject(outcome);
        if (detail !== undefined)
          expect(result.outcome === 'failed' ? result.failure.detail : {}).toMatchObject(detail);
        await also?.(result, rig);
      });
    });
  }
}

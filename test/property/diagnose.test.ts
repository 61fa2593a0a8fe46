import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnose/diagnose.ts';
import { CAUSES } from '../../src/diagnose/types.ts';
import { ENGINE_ZONES, type EngineSample } from '../../src/engine/types.ts';
import { FAILURE_REASONS, REASON_TABLE } from '../../src/probe/reasons.ts';
import { monotonicInstant, seconds } from '../../src/units.ts';
import { failedProbe, goodProbe } from '../support/sample-probe.ts';

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const figure = fc.double({ min: 0, max: 1e6 });
const duration = maybe(fc.double({ min: 0, max: 120, noNaN: true }).map(seconds));

const sample: fc.Arbitrary<EngineSample> = fc.record({
  at: fc.double({ min: 90, max: 130, noNaN: true }).map(monotonicInstant),
  up: fc.boolean(),
  kvUsageRatio: maybe(fc.double({ min: 0, max: 1.2 })),
  running: maybe(figure),
  waiting: maybe(figure),
  preemptions: maybe(figure),
  generationTokens: maybe(figure),
  promptTokens: maybe(figure),
  restarts: fc.nat(5),
  hung: fc.boolean(),
  asleep: fc.boolean(),
});

const measurement = fc.record({
  ttftSeconds: duration,
  tpotSeconds: duration,
  durationSeconds: duration,
  longestGapSeconds: duration,
  gapsSeconds: fc.array(fc.double({ min: 0, max: 10, noNaN: true }).map(seconds), { maxLength: 6 }),
  phases: fc.record({ dns: duration, tcp: duration, tls: duration, write: duration, headers: duration }),
  buffered: fc.boolean(),
  disturbed: fc.boolean(),
  eventLoopDelaySeconds: duration,
});

const thresholds = { ttftSeconds: seconds(1), tpotSeconds: seconds(0.05) };
const samples = fc.array(sample, { maxLength: 8 });
const zone = maybe(fc.constantFrom(...ENGINE_ZONES));

describe('cause of any probe', () => {
  it('a failed probe has exactly one, whatever the engine said or did not say', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FAILURE_REASONS), measurement, samples, zone, (reason, measured, seen, where) => {
        const diagnosis = diagnose(failedProbe(reason, measured), seen, thresholds, where);
        expect(CAUSES).toContain(diagnosis?.cause);
        expect(diagnosis?.evidence.samples).toBe(seen.length);
        for (const value of Object.values(diagnosis?.evidence ?? {})) {
          if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a good probe has one if, and only if, it was slow', () => {
    fc.assert(
      fc.property(measurement, samples, zone, (measured, seen, where) => {
        const outcome = goodProbe(measured);
        const slow = (measured.ttftSeconds ?? 0) > 1 || (!measured.buffered && (measured.tpotSeconds ?? 0) > 0.05);
        const diagnosis = diagnose(outcome, seen, thresholds, where);
        expect(diagnosis !== null).toBe(slow);
        if (diagnosis !== null) expect(CAUSES).toContain(diagnosis.cause);
      }),
      { numRuns: 500 },
    );
  });

  it('a probe is never put down to our event loop when that was not late', () => {
    const ours = new Set(FAILURE_REASONS.filter((reason) => REASON_TABLE[reason].side === 'probe'));
    const others = FAILURE_REASONS.filter((reason) => !ours.has(reason));
    fc.assert(
      fc.property(fc.constantFrom(...others), measurement, samples, (reason, measured, seen) => {
        const outcome = failedProbe(reason, { ...measured, disturbed: false });
        expect(diagnose(outcome, seen, thresholds, null)?.cause).not.toBe('client');
      }),
      { numRuns: 200 },
    );
  });
});

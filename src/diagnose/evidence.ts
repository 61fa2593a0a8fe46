import { increaseOf } from '../engine/increase.ts';
import type { EngineSample, EngineZone } from '../engine/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import type { Evidence } from './types.ts';

function isNumber<T extends number>(value: T | null): value is T {
  return value !== null && Number.isFinite(value);
}

/** Highest of the known values; null when none is known. */
function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter(isNumber);
  return known.length === 0 ? null : Math.max(...known);
}

/** Sum of the connect phases that happened; null when the connection was reused or never came to be. */
function connectSeconds(outcome: ProbeOutcome): number | null {
  const { dns, tcp, tls } = outcome.phases;
  const known = [dns, tcp, tls].filter(isNumber);
  return known.length === 0 ? null : known.reduce<number>((sum, phase) => sum + phase, 0);
}

/** The figures that a cause is judged by: the probe's own phases, and what the engine said meanwhile. */
export function gatherEvidence(
  outcome: ProbeOutcome,
  samples: readonly EngineSample[],
  zone: EngineZone | null,
): Evidence {
  const up = samples.filter((sample) => sample.up);
  const restarts = samples.map((sample) => sample.restarts);
  return {
    samples: samples.length,
    kvUsageRatioMax: highest(up.map((sample) => sample.kvUsageRatio)),
    runningMax: highest(up.map((sample) => sample.running)),
    waitingMax: highest(up.map((sample) => sample.waiting)),
    preemptionsIncrease: increaseOf(up.map((sample) => sample.preemptions)),
    generationTokensIncrease: increaseOf(up.map((sample) => sample.generationTokens)),
    restarted: (increaseOf(restarts) ?? 0) > 0,
    hung: samples.some((sample) => sample.hung),
    engineUp: samples.at(-1)?.up ?? false,
    zone,
    connectSeconds: connectSeconds(outcome),
    headersSeconds: outcome.phases.headers,
    ttftSeconds: outcome.ttftSeconds,
    longestGapSeconds: outcome.longestGapSeconds,
    eventLoopDelaySeconds: outcome.eventLoopDelaySeconds,
  };
}

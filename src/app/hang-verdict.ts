import type { Diagnosis } from '../diagnose/types.ts';
import type { EngineView } from '../engine/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';

/**
 * An idle engine that stops shows nothing on its page: no request runs or waits, so standing counters are no news. The
 * probe that got headers and no token is what proves it, together with the counters that stood still meanwhile. This
 * holds the verdict of such a probe until the engine is seen to work again.
 */
export interface HangVerdict {
  /** Takes a finished probe, diagnosed. */
  observe(outcome: ProbeOutcome, diagnosis: Diagnosis | null, view: EngineView | null): void;
  /** The view with the verdict in it. */
  apply(view: EngineView): EngineView;
}

// More than health checks that generate can add between two probes: a working engine makes this in seconds.
const TOKENS_OF_A_WORKING_ENGINE = 100;

interface Standstill {
  readonly tokens: number;
  readonly restarts: number;
}

const tokensOf = (view: EngineView): number =>
  view.series.reduce((sum, series) => sum + (series.counters.generation_tokens ?? 0), 0);

export function createHangVerdict(): HangVerdict {
  let standstill: Standstill | null = null;
  return {
    observe(outcome, diagnosis, view) {
      if (outcome.outcome === 'good') standstill = null;
      else if (diagnosis?.cause === 'engine_hang' && view?.up) {
        standstill ??= { tokens: tokensOf(view), restarts: view.restarts };
      }
    },
    apply(view) {
      if (standstill === null || view.hung) return view;
      const works = tokensOf(view) - standstill.tokens > TOKENS_OF_A_WORKING_ENGINE;
      if (works || view.restarts !== standstill.restarts) standstill = null;
      // A page that is gone says nothing: the engine may be restarting.
      return standstill === null || !view.up ? view : { ...view, hung: true };
    },
  };
}

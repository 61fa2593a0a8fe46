import { sleep } from '../clock.ts';
import type { TargetConfig } from '../config/types.ts';
import { diagnose } from '../diagnose/diagnose.ts';
import type { Diagnosis } from '../diagnose/types.ts';
import type { EngineName, EnginePoller, EngineView } from '../engine/types.ts';
import type { ProbeOutcome } from '../probe/outcome.ts';
import { seconds } from '../units.ts';
import type { EndpointFacts } from './endpoint-facts.ts';
import type { Base, Factories } from './factories.ts';
import { createHangVerdict } from './hang-verdict.ts';
import { keyOf, liveHeaders } from './secrets.ts';

/** The engine's side of one target: the poller in force, and what it says about a probe. */
export interface Sampling {
  /** Null when the configuration turns the engine's metrics off. */
  view(): EngineView | null;
  start(): void;
  /** Polls where the endpoint was found to have its metrics. A page that is being read is not given up. */
  follow(facts: EndpointFacts): void;
  /** Why a probe was slow or failed; null when it was neither. */
  explain(outcome: ProbeOutcome, signal: AbortSignal): Promise<Diagnosis | null>;
  close(): Promise<void>;
}

export interface SamplingDependencies extends Base {
  readonly factories: Pick<Factories, 'createEnginePoller'>;
  readonly target: () => TargetConfig;
}

// A page that takes longer than this is itself a symptom; the cause is then found without the last sample.
const LAST_SAMPLE_WAIT = seconds(2);

interface Source {
  readonly engine: EngineName | 'auto';
  readonly metricsUrl: URL | null;
  readonly version: string | null;
}

const sameSource = (a: Source, b: Source): boolean =>
  a.engine === b.engine && a.metricsUrl?.href === b.metricsUrl?.href;

function startPoller(deps: SamplingDependencies, source: Source): EnginePoller {
  const target = deps.target();
  const { metrics } = target;
  return deps.factories.createEnginePoller(
    {
      target: target.name,
      url: target.url,
      engine: source.engine,
      metricsUrl: source.metricsUrl,
      version: source.version,
      everySeconds: metrics.everySeconds,
      staleAfterSeconds: metrics.staleAfterSeconds,
      peakWindowSeconds: metrics.peakWindowSeconds,
      hangAfterSeconds: metrics.hangAfterSeconds,
      maxBytes: metrics.maxBytes,
      histograms: metrics.exportHistograms,
      apiKey: () => keyOf(deps.target()),
      headers: liveHeaders(deps.target),
      tls: target.connection,
    },
    { clock: deps.clock, log: deps.log },
  );
}

export function createSampling(deps: SamplingDependencies): Sampling {
  const initial = deps.target();
  let source: Source = { engine: initial.engine, metricsUrl: initial.metrics.metricsUrl, version: null };
  let poller = initial.metrics.enabled ? startPoller(deps, source) : null;
  let version: string | null = null;
  let started = false;
  const hang = createHangVerdict();
  const retired = new Set<Promise<void>>();

  const retire = (old: EnginePoller): void => {
    const closing = old.close().finally(() => retired.delete(closing));
    retired.add(closing);
  };

  /** Makes sure that the samples reach to the end of the probe. */
  const lastSample = async (from: EnginePoller, signal: AbortSignal): Promise<void> => {
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (!signal.aborted) await Promise.race([from.pollNow(), sleep(deps.clock, LAST_SAMPLE_WAIT, waiting.signal)]);
    signal.removeEventListener('abort', stop);
    stop();
  };

  return {
    view() {
      const own = poller?.view() ?? null;
      const view = own === null ? null : hang.apply(own);
      // A poller that was reading its page before the endpoint was asked does not know the version.
      return view === null || view.version !== null || version === null ? view : { ...view, version };
    },
    start() {
      started = true;
      poller?.start();
    },
    follow(facts) {
      version = facts.version;
      const next: Source = {
        engine: facts.engine ?? deps.target().engine,
        metricsUrl: facts.metricsUrl,
        version: facts.version,
      };
      if (poller === null || sameSource(source, next) || poller.view().up) return;
      source = next;
      retire(poller);
      poller = startPoller(deps, source);
      if (started) poller.start();
    },
    async explain(outcome, signal) {
      const { ttft, tpot } = deps.target().slo;
      const thresholds = { ttftSeconds: ttft.thresholdSeconds, tpotSeconds: tpot.thresholdSeconds };
      const current = poller;
      // Without a sample at hand, to know whether there is anything to explain.
      if (current === null || diagnose(outcome, [], thresholds, null) === null) {
        const alone = diagnose(outcome, [], thresholds, null);
        hang.observe(outcome, alone, null);
        return alone;
      }
      await lastSample(current, signal);
      const samples = current.samplesBetween(outcome.beganAt, deps.clock.monotonic());
      const view = current.view();
      const diagnosis = diagnose(outcome, samples, thresholds, view.zone);
      hang.observe(outcome, diagnosis, view);
      return diagnosis;
    },
    async close() {
      if (poller !== null) retire(poller);
      poller = null;
      await Promise.all(retired);
    },
  };
}

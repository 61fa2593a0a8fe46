import type { Config, ScheduledProfile, TargetConfig } from '../config/types.ts';
import type { EngineView } from '../engine/types.ts';
import type { FinishedProbe } from '../record.ts';
import { createBackoff } from '../schedule/backoff.ts';
import type { TokenBudget } from '../schedule/budget.ts';
import type { LoopEvents } from '../schedule/loop.ts';
import type { KillSwitch } from '../schedule/pause.ts';
import { createWarmup, START_ALLOWANCE_SECONDS } from '../schedule/warmup.ts';
import { seconds } from '../units.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import { createExchange } from './exchange.ts';
import type { Base, Factories, Reports } from './factories.ts';
import { createGates } from './gates.ts';
import type { Limiter } from './limiter.ts';
import type { Places } from './places.ts';
import { createProbeRun, type ProbeRun } from './probe-run.ts';
import { createProbers } from './probers.ts';
import { createSampling } from './sampling.ts';
import { createProbeLog } from './state-log.ts';
import { createTargetLoop } from './target-loop.ts';

/** One target at work: asks, polls, probes and reports. Nothing that it does or suffers reaches another target. */
export interface TargetRunner {
  start(): void;
  /** Null when the configuration turns the engine's metrics off. */
  view(): EngineView | null;
  /** The endpoint has been asked once, whatever it said. */
  asked(): boolean;
  /** Takes over a configuration that differs in its secrets only. */
  adopt(target: TargetConfig): void;
  /** No timer, connection or half of a record stays behind. */
  close(): Promise<void>;
}

export interface TargetOptions {
  readonly target: TargetConfig;
  readonly podName: string;
  readonly disturbedAfterSeconds: Config['disturbedAfterSeconds'];
}

export interface TargetDependencies extends Base {
  readonly factories: Factories;
  /** Bounds how many endpoints are asked at the same time. */
  readonly limiter: Limiter;
  readonly sink: Reports;
  readonly killSwitch: KillSwitch;
  readonly budget: TokenBudget;
  /** Bounds how many probes are in flight, over all targets. */
  readonly places: Places;
  readonly traceparent: () => boolean;
  readonly remember: (finished: FinishedProbe) => void;
}

const CLOSE_GRACE = seconds(1.5);

export function createTargetRunner(options: TargetOptions, deps: TargetDependencies): TargetRunner {
  const { clock, sink, budget, killSwitch } = deps;
  const { name, warmupProbes } = options.target;
  const log = deps.log.child({ target: name });
  let current = options.target;
  const base = { ...deps, log, target: () => current };

  const warmup = createWarmup({ probes: warmupProbes, startAllowanceSeconds: START_ALLOWANCE_SECONDS }, { clock });
  const backoff = createBackoff({ clock });
  // Poller and prober put the target into their lines themselves.
  const plain = { ...base, log: deps.log };
  const sampling = createSampling(plain);
  const probers = createProbers({ ...plain, disturbedAfterSeconds: options.disturbedAfterSeconds });
  const exchange = createExchange({
    ...base,
    probers,
    onResolved: ({ model, engine }, api) =>
      sink.targetResolved(name, { model, api, ...(engine === null ? {} : { engine }) }),
  });
  const endpoint: Endpoint = createEndpoint({
    ...base,
    proven: () => run.proven(),
    onFacts(facts) {
      sampling.follow(facts);
      exchange.follow(facts);
    },
  });
  const state = { ...base, endpoint, exchange, sampling, warmup, backoff };
  const run: ProbeRun = createProbeRun({ ...state, probeLog: createProbeLog(log), onDoubt: () => endpoint.doubt() });
  const gates = createGates({ ...state, name });

  const events: LoopEvents = {
    lag: (profile, lag) => sink.scheduleLag(name, profile, lag),
    overlap: (profile, endpointSlow) => gates.skip(profile, 'overlap', endpointSlow),
    missed(profile, count) {
      for (let index = 0; index < count; index += 1) gates.skip(profile, 'missed');
    },
    abandoned: () => run.failedOurselves('the probe did not end by its hard deadline'),
    threw(profile, error) {
      log.error({ profile, error: error instanceof Error ? error.name : typeof error }, 'a probe threw');
      run.failedOurselves('the probe threw');
    },
  };
  const begin = (scheduled: ScheduledProfile) => {
    const { name: profile } = scheduled.profile;
    const place = deps.places.take();
    if (place === null) {
      gates.skip(profile, 'overlap');
      return null;
    }
    const work = run.begin(scheduled);
    if (work === null) {
      place.leave();
      gates.skip(profile, 'budget');
      return null;
    }
    return (signal: AbortSignal) => {
      // One that is given up at its hard deadline may never end.
      signal.addEventListener('abort', place.leave, { once: true });
      return work(signal).finally(place.leave);
    };
  };
  const { target, podName } = options;
  const loop = createTargetLoop({ target, podName, admit: gates.admit, begin }, { clock, events });

  return {
    start() {
      sink.budget(name, budget.remaining());
      sink.paused(name, killSwitch.isPaused(name));
      sampling.start();
      endpoint.start();
      loop.start();
    },
    view: sampling.view,
    asked: endpoint.asked,
    adopt(next) {
      current = next;
    },
    async close() {
      await Promise.all([loop.close(CLOSE_GRACE), endpoint.close()]);
      await Promise.all([sampling.close(), probers.close()]);
    },
  };
}

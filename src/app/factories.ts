import type { Clock } from '../clock.ts';
import { type DiscoverDeps, type DiscoverOptions, discover } from '../engine/detect.ts';
import { createEnginePoller, type EnginePollerDeps, type EnginePollerOptions } from '../engine/sampler.ts';
import type { Discovery, EnginePoller } from '../engine/types.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import type { MetricsSink } from '../metrics/sink.ts';
import { createProber, type Prober, type ProberDependencies, type ProberOptions } from '../probe/prober.ts';

/** What every part of the composition needs. */
export interface Base {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The parts that touch the network; tests put their own in. */
export interface Factories {
  readonly discover: (options: DiscoverOptions, deps: DiscoverDeps) => Promise<Discovery>;
  readonly createEnginePoller: (options: EnginePollerOptions, deps: EnginePollerDeps) => EnginePoller;
  readonly createProber: (options: ProberOptions, deps: ProberDependencies) => Prober;
}

export const FACTORIES: Factories = { discover, createEnginePoller, createProber };

/** Where a target reports to. */
export type Reports = Pick<Metrics, keyof MetricsSink | 'targetResolved'>;

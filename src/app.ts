import type { AddressInfo } from 'node:net';
import { FACTORIES, type Factories } from './app/factories.ts';
import { createFleet } from './app/fleet.ts';
import { type Clock, sleep } from './clock.ts';
import { maskedConfig } from './config/masked.ts';
import type { ReloadOutcome } from './config/reload.ts';
import type { Config } from './config/types.ts';
import { createRecentProbes } from './http/recent.ts';
import type { Readiness } from './http/routes.ts';
import { createHttpServer } from './http/server.ts';
import type { Logger } from './log.ts';
import { createMetrics } from './metrics/create-metrics.ts';
import { nominalInterval } from './schedule/timetable.ts';
import { elapsed, seconds } from './units.ts';
import { buildVersion } from './version.ts';

export interface AppOptions {
  readonly config: Config;
  /** Sets the phase of probes apart from those of other replicas; without it all replicas have the same. */
  readonly podName?: string;
}

export interface AppDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** What `POST /-/reload` does; without it reloading is refused. */
  readonly reload?: () => Promise<ReloadOutcome>;
  /** Parts that touch the network, for tests. */
  readonly factories?: Partial<Factories>;
}

/** The exporter at work. */
export interface App {
  /**
   * Listens, and then begins to ask, to poll and to probe; what an endpoint does or does not do is no error. Throws
   * LISTEN_FAILED or CONFIG_INVALID of the web server.
   */
  start(): Promise<void>;
  /**
   * Puts another configuration into force. Unchanged targets keep their counters, their phase and the probe in flight;
   * changed ones are built anew; removed ones lose their series. Web settings need a restart.
   */
  reload(config: Config): Promise<void>;
  /** Tells of an attempt to load a configuration, for the metrics of reloading. */
  configLoaded(successful: boolean): void;
  /** Ends everything in less than five seconds: no half of a record, no timer, no connection stays behind. */
  close(): Promise<void>;
  /** Where it listens; null while it does not. */
  address(): AddressInfo | null;
}

const RECENT = { successes: 200, failures: 300 };
/** A process that cannot ask all its endpoints in this time is ready nevertheless: they are what is wrong, not it. */
const READY_AFTER = seconds(15);
const TARGETS_GRACE = seconds(2.5);
const WEB_GRACE = seconds(1.5);

/** Builds the program from its configuration. Nothing runs before `start`. */
export function createApp(options: AppOptions, deps: AppDependencies): App {
  const { clock, log } = deps;
  const { version, revision } = buildVersion();
  let config = options.config;
  let startedAt: ReturnType<Clock['monotonic']> | null = null;
  let closing: Promise<void> | null = null;

  const metrics = createMetrics({ config, version, revision }, { clock, log, intervalOf: nominalInterval });
  const recent = createRecentProbes(RECENT);
  const fleet = createFleet(
    { config, podName: options.podName ?? '' },
    {
      clock,
      log,
      factories: { ...FACTORIES, ...deps.factories },
      sink: metrics,
      remember: (finished) => recent.add(finished),
    },
  );

  const ready = (): Readiness => {
    if (closing !== null) return { ready: false, reason: 'shutting down' };
    const waited = startedAt === null ? 0 : elapsed(startedAt, clock.monotonic());
    if (startedAt !== null && (fleet.asked() || waited >= READY_AFTER)) return { ready: true, reason: 'ready' };
    return { ready: false, reason: 'targets are being asked for the first time' };
  };

  const web = createHttpServer(
    { web: config.web, version },
    {
      clock,
      log,
      metrics,
      recent,
      ready,
      targets: () => config.targets,
      views: () => fleet.views(),
      isPaused: (target) => fleet.isPaused(target),
      configText: () => maskedConfig(config),
      actions: {
        pause: (target) => fleet.pause(target),
        resume: (target) => fleet.resume(target),
        ...(deps.reload === undefined ? {} : { reload: deps.reload }),
      },
    },
  );

  const stop = async (): Promise<void> => {
    const waiting = new AbortController();
    await Promise.race([fleet.close(), sleep(clock, TARGETS_GRACE, waiting.signal)]);
    waiting.abort();
    // Last, so that a scrape meanwhile still finds the final counts.
    await web.close(WEB_GRACE);
  };

  return {
    async start() {
      metrics.engineViews(() => fleet.views());
      metrics.configReloaded(true, clock.unix());
      await web.start();
      startedAt = clock.monotonic();
      fleet.start();
      const address = web.address();
      log.info({ address: address?.address, port: address?.port, targets: config.targets.length }, 'listening');
    },
    async reload(next) {
      if (JSON.stringify(next.web) !== JSON.stringify(config.web)) {
        log.warn({}, 'changed settings of the web server are used after a restart');
      }
      config = next;
      metrics.reconfigure(next);
      recent.keepOnly(new Set(next.targets.map((target) => target.name)));
      await fleet.reload(next);
    },
    configLoaded: (successful) => metrics.configReloaded(successful, clock.unix()),
    close() {
      closing ??= stop();
      return closing;
    },
    address: () => web.address(),
  };
}

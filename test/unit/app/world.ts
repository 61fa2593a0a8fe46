import { FACTORIES, type Factories, type Reports } from '../../../src/app/factories.ts';
import type { TargetConfig } from '../../../src/config/types.ts';
import type { Discovery, EnginePoller, EngineSample, EngineView } from '../../../src/engine/types.ts';
import type { LogFields, Logger } from '../../../src/log.ts';
import type { ProbeOutcome } from '../../../src/probe/outcome.ts';
import type { Prober, ProberOptions } from '../../../src/probe/prober.ts';
import type { FinishedProbe } from '../../../src/record.ts';
import { type MonotonicInstant, monotonicInstant, seconds } from '../../../src/units.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { sampleView } from '../../support/sample-engine.ts';
import { goodProbe } from '../../support/sample-probe.ts';

/** An endpoint that lists its model and shows a vLLM page. */
export const discovery = (overrides: Partial<Discovery> = {}): Discovery => ({
  engine: 'vllm',
  version: '0.32.0',
  metricsUrl: new URL('http://127.0.0.1:8000/metrics'),
  models: ['tiny-model'],
  apis: ['completions', 'chat'],
  maxModelLength: 4096,
  chatTemplate: true,
  findings: [],
  ...overrides,
});

/** An endpoint at which nobody answers. */
export const NOBODY = discovery({ engine: 'unknown', version: null, metricsUrl: null, models: [], apis: [] });

/** What one probe does: an outcome, or a promise of one; null for "aborted". */
export type Answer = (options: ProberOptions, signal: AbortSignal | undefined) => Promise<ProbeOutcome | null>;

interface LogLine {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

/** Everything a target touches, faked and written down. */
export interface World {
  readonly clock: ManualClock;
  readonly log: Logger;
  readonly lines: LogLine[];
  readonly sink: Reports;
  readonly finished: FinishedProbe[];
  readonly skips: { readonly profile: string; readonly reason: string; readonly slo: boolean }[];
  readonly resolved: object[];
  readonly pausedStates: boolean[];
  readonly budgets: { readonly hour: number; readonly day: number }[];
  readonly factories: Factories;
  readonly remembered: FinishedProbe[];
  readonly probed: { readonly options: ProberOptions; readonly at: number; readonly key: string | null }[];
  readonly discovered: number[];
  readonly pollers: { readonly url: string | null; readonly engine: string; started: boolean; closed: boolean }[];
  readonly probersClosed: string[];
  /** How the next probes go; changed by tests at will. */
  answer: Answer;
  discover: () => Promise<Discovery>;
  view: EngineView;
  samples: readonly EngineSample[];
  pollNow: () => Promise<EngineSample>;
}

/** A sample of an engine with nothing to do. */
export const sample = (at: MonotonicInstant, overrides: Partial<EngineSample> = {}): EngineSample => ({
  at,
  up: true,
  kvUsageRatio: 0.1,
  running: 0,
  waiting: 0,
  preemptions: 0,
  generationTokens: 0,
  promptTokens: 0,
  restarts: 0,
  hung: false,
  asleep: false,
  ...overrides,
});

/** An outcome that carries the target's own names and the clock's instants. */
export function stamped(
  outcome: ProbeOutcome,
  options: ProberOptions,
  clock: ManualClock,
  lasts: number,
): ProbeOutcome {
  const now = clock.monotonic();
  const { name, model, api } = options.target;
  return {
    ...outcome,
    target: name,
    model,
    api,
    profile: options.profile.name,
    startedAt: clock.unix(),
    beganAt: monotonicInstant(now - lasts),
    requestAt: outcome.requestAt === null ? null : monotonicInstant(now - lasts),
    endedAt: now,
  };
}

/** Probes that take `lasts` seconds and end like `outcome`; aborted ones end at once with null. */
export function answering(world: World, outcome: () => ProbeOutcome, lasts = 0.5): Answer {
  return (options, signal) =>
    new Promise((resolve) => {
      const timer = world.clock.setTimer(seconds(lasts), () =>
        resolve(stamped(outcome(), options, world.clock, lasts)),
      );
      signal?.addEventListener('abort', () => {
        timer.cancel();
        resolve(null);
      });
    });
}

function recordingLog(lines: LogLine[], context: LogFields = {}): Logger {
  const write = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields: { ...context, ...fields }, message });
  return {
    debug: () => {},
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recordingLog(lines, { ...context, ...fields }),
  };
}

function fakePoller(world: World, options: Parameters<Factories['createEnginePoller']>[0]): EnginePoller {
  const entry = {
    url: options.metricsUrl?.href ?? null,
    engine: options.engine,
    started: false,
    closed: false,
  };
  world.pollers.push(entry);
  return {
    start: () => {
      entry.started = true;
    },
    close: async () => {
      entry.closed = true;
    },
    view: () => ({ ...world.view, target: options.target }),
    samplesBetween: () => world.samples,
    pollNow: () => world.pollNow(),
  };
}

function fakeProber(world: World, options: ProberOptions): Prober {
  return {
    probe({ signal }) {
      world.probed.push({ options, at: world.clock.monotonic() - 100, key: options.target.apiKey() });
      return world.answer(options, signal);
    },
    close: async () => void world.probersClosed.push(`${options.profile.name} ${options.target.api}`),
  };
}

export function createWorld(): World {
  const clock = manualClock();
  const lines: LogLine[] = [];
  const world: World = {
    clock,
    log: recordingLog(lines),
    lines,
    finished: [],
    skips: [],
    resolved: [],
    pausedStates: [],
    budgets: [],
    remembered: [],
    probed: [],
    discovered: [],
    pollers: [],
    probersClosed: [],
    view: sampleView(),
    samples: [],
    answer: async () => null,
    discover: async () => discovery(),
    pollNow: async () => sample(clock.monotonic()),
    sink: {
      probeFinished: (finished) => void world.finished.push(finished),
      probeSkipped: (_target, profile, reason, slo) => void world.skips.push({ profile, reason, slo }),
      scheduleLag: () => {},
      paused: (_target, paused) => void world.pausedStates.push(paused),
      budget: (_target, remaining) => void world.budgets.push(remaining),
      engineViews: () => {},
      configReloaded: () => {},
      targetResolved: (target, facts) => void world.resolved.push({ target, ...facts }),
    },
    factories: {
      ...FACTORIES,
      discover: () => {
        world.discovered.push(clock.monotonic() - 100);
        return world.discover();
      },
      createEnginePoller: (options) => fakePoller(world, options),
      createProber: (options) => fakeProber(world, options),
    },
  };
  world.answer = answering(world, () => goodProbe());
  return world;
}

/** Reasons of all ticks that sent nothing, with how often. */
export function skipCounts(world: World): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { reason } of world.skips) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

/** A target with one profile every ten seconds. */
export function oneProfile(target: TargetConfig): TargetConfig {
  const profiles = target.profiles.slice(0, 1).map((scheduled) => ({
    ...scheduled,
    timetable: { ...scheduled.timetable, everySeconds: seconds(10) },
  }));
  return { ...target, profiles, warmupProbes: 0 };
}

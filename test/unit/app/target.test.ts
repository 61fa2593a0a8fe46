import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/app/limiter.ts';
import { createPlaces } from '../../../src/app/places.ts';
import { createTargetRunner, type TargetRunner } from '../../../src/app/target.ts';
import type { Secret, TargetConfig } from '../../../src/config/types.ts';
import { createTokenBudget } from '../../../src/schedule/budget.ts';
import { createKillSwitch, type KillSwitch } from '../../../src/schedule/pause.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';
import { sampleTarget } from '../../support/sample-config.ts';
import { sampleView } from '../../support/sample-engine.ts';
import { failedProbe, goodProbe } from '../../support/sample-probe.ts';
import { answering, createWorld, discovery, NOBODY, oneProfile, sample, skipCounts, type World } from './world.ts';

const AUTO = { model: 'auto', api: 'auto', engine: 'auto' } as const;

const running: TargetRunner[] = [];

function launch(world: World, overrides: Partial<TargetConfig> = {}, killSwitch?: KillSwitch): TargetRunner {
  const target = oneProfile(sampleTarget(overrides));
  const withOverrides = { ...target, warmupProbes: overrides.warmupProbes ?? 0 };
  const { clock, log, factories, sink } = world;
  const runner = createTargetRunner(
    { target: withOverrides, podName: 'pod-a', disturbedAfterSeconds: seconds(0.02) },
    {
      clock,
      log,
      factories,
      sink,
      limiter: createLimiter(4),
      places: createPlaces(null),
      killSwitch: killSwitch ?? createKillSwitch({ all: false, targets: new Set() }),
      budget: createTokenBudget(target.budget, { clock }),
      traceparent: () => false,
      remember: (finished) => void world.remembered.push(finished),
    },
  );
  running.push(runner);
  runner.start();
  return runner;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.close()));
});

const reasons = (world: World) =>
  world.finished.map(({ outcome }) => (outcome.outcome === 'failed' ? outcome.failure.reason : 'good'));
const messages = (world: World) => world.lines.map((line) => line.message);

describe('a target', () => {
  it('is asked first, then probed on its timetable, and each probe is reported once', async () => {
    const world = createWorld();
    launch(world, AUTO);
    await world.clock.advance(30);
    expect(world.discovered).toHaveLength(1);
    expect(world.resolved).toEqual([{ target: 'engine', model: 'tiny-model', api: 'completions', engine: 'vllm' }]);
    expect(world.finished).toHaveLength(3);
    expect(world.remembered).toEqual(world.finished);
    expect(world.finished[0]).toMatchObject({
      engine: { name: 'vllm', version: '0.32.0' },
      diagnosis: null,
      warmup: false,
    });
    expect(world.skips).toEqual([]);
  });

  it('polls the engine where its page was found', async () => {
    const world = createWorld();
    world.view = sampleView({ up: false });
    launch(world, AUTO);
    await world.clock.advance(1);
    expect(world.pollers).toEqual([
      { url: null, engine: 'auto', started: true, closed: true },
      { url: 'http://127.0.0.1:8000/metrics', engine: 'vllm', started: true, closed: false },
    ]);
  });

  it('leaves a page alone that is being read already', async () => {
    const world = createWorld();
    launch(world, { ...AUTO });
    await world.clock.advance(1);
    expect(world.pollers).toHaveLength(1);
  });

  it('G-173: a model that cannot be found yet makes ticks "starting", and asking goes on ever more slowly', async () => {
    const world = createWorld();
    world.view = sampleView({ up: false });
    world.discover = async () => NOBODY;
    launch(world, AUTO);
    await world.clock.advance(95);
    expect(world.discovered).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    expect(world.skips.every(({ reason, slo }) => reason === 'starting' && !slo)).toBe(true);
    expect(world.skips).toHaveLength(9);
    world.discover = async () => discovery();
    await world.clock.advance(40);
    expect(world.finished.length).toBeGreaterThanOrEqual(1);
  });

  it('G-064: an endpoint that has not told its model ten minutes after the start counts against availability', async () => {
    const world = createWorld();
    world.view = sampleView({ up: false });
    world.discover = async () => NOBODY;
    launch(world, AUTO);
    await world.clock.advance(650);
    expect(world.skips.filter(({ slo }) => slo)).toHaveLength(5);
  });

  it('with model and API configured it is probed although nobody can be asked, and those probes are warm-up', async () => {
    const world = createWorld();
    world.view = sampleView({ up: false });
    world.discover = async () => NOBODY;
    world.answer = answering(world, () => failedProbe('connect_refused'), 0.01);
    launch(world, { engine: 'auto' });
    await world.clock.advance(30);
    expect(reasons(world)).toEqual(['connect_refused', 'connect_refused', 'connect_refused']);
    expect(world.finished.every(({ warmup }) => warmup)).toBe(true);
    world.answer = answering(world, () => goodProbe());
    await world.clock.advance(10);
    expect(world.finished.at(-1)?.warmup).toBe(false);
  });

  it('stops asking a silent gateway once a probe was good', async () => {
    const world = createWorld();
    world.view = sampleView({ up: false });
    world.discover = async () => NOBODY;
    launch(world, { engine: 'auto' });
    await world.clock.advance(20);
    const asked = world.discovered.length;
    await world.clock.advance(600);
    expect(world.discovered.length).toBeLessThanOrEqual(asked + 1);
  });

  it('warns once, not each time, of a model that is not in the list', async () => {
    const world = createWorld();
    world.discover = async () => discovery({ models: ['other-model'] });
    launch(world, { warmupProbes: 0 });
    world.answer = answering(world, () => failedProbe('not_found'), 0.01);
    await world.clock.advance(200);
    expect(world.discovered.length).toBeGreaterThan(1);
    expect(messages(world).filter((message) => message.includes('not in the list'))).toHaveLength(1);
  });
});

describe('APIs of a target', () => {
  it('are tried in order until one is there, and the one that is there is remembered', async () => {
    const world = createWorld();
    world.answer = async (options, signal) => {
      const reason =
        options.target.api === 'completions' ? () => failedProbe('not_found', { httpStatus: 404 }) : goodProbe;
      return answering(world, reason, 0.01)(options, signal);
    };
    launch(world, AUTO);
    await world.clock.advance(30);
    expect(world.probed.map(({ options }) => options.target.api)).toEqual(['completions', 'chat', 'chat', 'chat']);
    expect(reasons(world)).toEqual(['good', 'good', 'good']);
    expect(world.resolved.at(-1)).toMatchObject({ api: 'chat' });
  });

  it('when none is there, the likeliest is blamed, once a tick', async () => {
    const world = createWorld();
    world.answer = answering(world, () => failedProbe('not_found', { httpStatus: 404 }), 0.01);
    launch(world, AUTO);
    await world.clock.advance(20);
    expect(world.probed.map(({ options }) => options.target.api)).toEqual(['completions', 'chat', 'completions']);
    expect(world.finished.map(({ outcome }) => outcome.api)).toEqual(['chat', 'completions']);
  });

  it('one that has answered is not given up for a later 404', async () => {
    const world = createWorld();
    launch(world, AUTO);
    await world.clock.advance(10);
    world.answer = answering(world, () => failedProbe('not_found', { httpStatus: 404 }), 0.01);
    await world.clock.advance(20);
    expect(new Set(world.probed.map(({ options }) => options.target.api))).toEqual(new Set(['completions']));
  });
});

describe('secrets of a target', () => {
  const secret = (values: string[]): Secret & { refreshed: number } => {
    const held = {
      refreshed: 0,
      reveal: () => values[0] ?? '',
      refresh: () => {
        held.refreshed += 1;
        if (values.length < 2) return false;
        values.shift();
        return true;
      },
      toString: () => '<redacted>' as const,
      toJSON: () => '<redacted>' as const,
    };
    return held;
  };

  it('G-166: a 401 has the key read again, and with a new one the probe is repeated before anything is counted', async () => {
    const world = createWorld();
    const apiKey = secret(['old', 'new']);
    world.answer = (options, signal) => {
      const ending =
        options.target.apiKey() === 'new' ? () => goodProbe() : () => failedProbe('unauthorized', { httpStatus: 401 });
      return answering(world, ending, 0.01)(options, signal);
    };
    launch(world, { apiKey });
    await world.clock.advance(20);
    expect(reasons(world)).toEqual(['good', 'good']);
    expect(world.probed.map(({ key }) => key)).toEqual(['old', 'new', 'new']);
  });

  it('G-166: an unchanged key is refused once a tick, and never asked for twice in one', async () => {
    const world = createWorld();
    const apiKey = secret(['old']);
    world.answer = answering(world, () => failedProbe('unauthorized', { httpStatus: 401 }), 0.01);
    launch(world, { apiKey });
    await world.clock.advance(20);
    expect(reasons(world)).toEqual(['unauthorized', 'unauthorized']);
    expect(apiKey.refreshed).toBe(2);
    expect(world.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

describe('ticks that send nothing', () => {
  it('are counted as paused while the kill switch is pulled', async () => {
    const world = createWorld();
    const killSwitch = createKillSwitch({ all: true, targets: new Set() });
    launch(world, {}, killSwitch);
    await world.clock.advance(30);
    expect(world.probed).toEqual([]);
    expect(skipCounts(world)).toEqual({ paused: 3 });
    expect(world.pausedStates).toEqual([true]);
  });

  it('are counted as asleep while the engine says that it sleeps', async () => {
    const world = createWorld();
    world.view = sampleView({ asleep: true });
    launch(world);
    await world.clock.advance(30);
    expect(world.probed).toEqual([]);
    expect(skipCounts(world)).toEqual({ asleep: 3 });
  });

  it('are counted as budget when the next probe might pass the limit, a hard stop', async () => {
    const world = createWorld();
    // A probe of 128 + 32 tokens reserves 288 at first, 224 once its prompt has been counted, and costs 160.
    launch(world, { budget: { tokensPerHour: 700, tokensPerDay: 1e6 } });
    await world.clock.advance(100);
    expect(world.finished).toHaveLength(3);
    expect(skipCounts(world)).toEqual({ budget: 7 });
    expect(world.budgets.at(-1)).toEqual({ hour: 220, day: 1e6 - 480 });
  });

  it('are counted as backoff for as long as a 429 asks for', async () => {
    const world = createWorld();
    world.answer = answering(
      world,
      () => failedProbe('rate_limited', { httpStatus: 429, retryAfterSeconds: seconds(45) }),
      0.01,
    );
    launch(world);
    await world.clock.advance(60);
    expect(reasons(world)).toEqual(['rate_limited', 'rate_limited']);
    expect(skipCounts(world)).toEqual({ backoff: 4 });
  });

  it('G-058: a spent quota is not backed off from: waiting does not fill it', async () => {
    const world = createWorld();
    world.answer = answering(world, () => failedProbe('quota_exhausted', { httpStatus: 429 }), 0.01);
    launch(world);
    await world.clock.advance(60);
    expect(world.finished).toHaveLength(6);
  });

  it('G-187: after timeouts they keep the number of orphaned generations at two', async () => {
    const world = createWorld();
    world.answer = answering(world, () => failedProbe('ttft_timeout'), 5);
    launch(world);
    await world.clock.advance(600);
    const ends = world.probed.map(({ at }) => at + 5);
    const atOnce = ends.map((end) => ends.filter((other) => other <= end && other + 60 > end).length);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);
  });

  it('a slow probe makes the ticks that it covers overlaps, which count against availability', async () => {
    const world = createWorld();
    world.answer = answering(world, () => goodProbe({ ttftSeconds: seconds(24) }), 25);
    launch(world);
    await world.clock.advance(30);
    expect(world.skips).toEqual(new Array(2).fill({ profile: 'cold', reason: 'overlap', slo: true }));
  });
});

describe('what a probe comes to', () => {
  it('is explained by the engine samples up to its end when it was slow or failed', async () => {
    const world = createWorld();
    let polls = 0;
    world.pollNow = async () => {
      polls += 1;
      world.samples = [
        sample(monotonicInstant(0), { preemptions: 1, running: 8 }),
        sample(world.clock.monotonic(), { preemptions: 4, running: 8 }),
      ];
      return sample(world.clock.monotonic());
    };
    launch(world);
    await world.clock.advance(10);
    expect(polls).toBe(0);
    world.answer = answering(world, () => goodProbe({ ttftSeconds: seconds(4) }));
    await world.clock.advance(10);
    expect(world.finished.at(-1)?.diagnosis).toMatchObject({
      cause: 'preemption',
      evidence: { preemptionsIncrease: 3, runningMax: 8, zone: 'knee' },
    });
    expect(polls).toBe(1);
  });

  it('does not wait for an engine page that does not come', async () => {
    const world = createWorld();
    world.pollNow = () => new Promise<never>(() => {});
    world.answer = answering(world, () => failedProbe('ttft_timeout'), 1);
    launch(world);
    await world.clock.advance(13.5);
    expect(reasons(world)).toEqual(['ttft_timeout']);
  });

  it('without an engine page a failure still has one cause', async () => {
    const world = createWorld();
    world.answer = answering(world, () => failedProbe('dns'), 0.01);
    const { metrics } = sampleTarget();
    const runner = launch(world, { metrics: { ...metrics, enabled: false } });
    await world.clock.advance(10);
    expect(runner.view()).toBeNull();
    expect(world.pollers).toEqual([]);
    expect(world.finished[0]?.diagnosis?.cause).toBe('network');
  });

  it('the first probes of a profile are warm-up', async () => {
    const world = createWorld();
    launch(world, { warmupProbes: 2 });
    await world.clock.advance(40);
    expect(world.finished.map(({ warmup }) => warmup)).toEqual([true, true, false, false]);
  });

  it('G-158: a prober that never settles is reported as our own fault at the hard deadline, and the schedule goes on', async () => {
    const world = createWorld();
    world.answer = () => new Promise<never>(() => {});
    launch(world);
    // Connect twice, the whole probe, and a margin: 75 s.
    await world.clock.advance(170);
    expect(reasons(world)).toEqual(['internal', 'internal']);
    expect(world.finished[0]?.diagnosis?.cause).toBe('client');
    expect(skipCounts(world).overlap).toBeGreaterThan(10);
    world.answer = answering(world, () => goodProbe());
    await world.clock.advance(100);
    expect(reasons(world).at(-1)).toBe('good');
  });

  it('a prober that throws is reported as our own fault and does not stop the schedule', async () => {
    const world = createWorld();
    world.answer = () => Promise.reject(new Error('a bug'));
    launch(world);
    await world.clock.advance(20);
    expect(reasons(world)).toEqual(['internal', 'internal']);
    expect(JSON.stringify(world.lines)).not.toContain('a bug');
  });

  it('G-077: a deadline that passed while the process was suspended is a missed tick, not a failure', async () => {
    const world = createWorld();
    world.answer = answering(world, () =>
      failedProbe('total_timeout', { disturbed: true, eventLoopDelaySeconds: seconds(3600) }),
    );
    launch(world);
    await world.clock.advance(10);
    expect(world.finished).toEqual([]);
    expect(skipCounts(world)).toEqual({ missed: 1 });
  });

  it('G-163: closing drops the probe in flight, leaves no timer, and takes less than five seconds', async () => {
    const world = createWorld();
    world.answer = answering(world, () => goodProbe(), 50);
    const runner = launch(world);
    await world.clock.advance(15);
    await runner.close();
    expect(world.finished).toEqual([]);
    expect(world.clock.pendingTimers()).toBe(0);
    expect(world.probersClosed).toEqual(['cold completions']);
    expect(world.pollers.every(({ closed }) => closed)).toBe(true);
  });

  it('closing does not wait for an endpoint that is being asked', async () => {
    const world = createWorld();
    world.discover = () => new Promise<never>(() => {});
    const runner = launch(world, AUTO);
    await world.clock.advance(1);
    expect(runner.asked()).toBe(false);
    await runner.close();
    expect(world.clock.pendingTimers()).toBe(0);
  });
});

describe('log lines of a target', () => {
  it('say each change of state once, with reason, cause and evidence, and nothing of the probes between', async () => {
    const world = createWorld();
    launch(world);
    await world.clock.advance(50);
    world.answer = answering(world, () => failedProbe('connect_refused'), 0.01);
    await world.clock.advance(50);
    world.answer = answering(world, () => goodProbe());
    await world.clock.advance(50);
    world.answer = answering(world, () => goodProbe({ ttftSeconds: seconds(4) }));
    await world.clock.advance(50);
    world.answer = answering(world, () => goodProbe());
    await world.clock.advance(50);
    const probeLines = world.lines.filter(({ message }) => message.includes('probe'));
    expect(probeLines.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'info: first probe is good',
      'warn: probes fail',
      'info: probes are good again',
      'warn: probes are slow',
      'info: probes are fast again',
    ]);
    expect(probeLines[1]?.fields).toMatchObject({
      target: 'engine',
      profile: 'cold',
      reason: 'connect_refused',
      side: 'endpoint',
      cause: expect.any(String),
    });
    // Without a page of the engine there is none.
    expect(probeLines[1]?.fields).not.toHaveProperty('evidence');
  });

  it('another reason is another state', async () => {
    const world = createWorld();
    world.answer = answering(world, () => failedProbe('connect_refused'), 0.01);
    launch(world);
    await world.clock.advance(20);
    world.answer = answering(world, () => failedProbe('server_error', { httpStatus: 500 }), 0.01);
    await world.clock.advance(20);
    expect(messages(world).filter((message) => message === 'probes fail')).toHaveLength(2);
  });

  it('a profile at the edge of its threshold does not make a line of each probe', async () => {
    const world = createWorld();
    let probes = 0;
    world.answer = answering(world, () => {
      probes += 1;
      return goodProbe({ ttftSeconds: seconds(probes % 2 === 0 ? 3 : 0.2) });
    });
    launch(world);
    await world.clock.advance(300);
    expect(messages(world).filter((message) => message.includes('slow'))).toHaveLength(1);
  });
});

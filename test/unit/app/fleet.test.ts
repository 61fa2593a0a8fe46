import { afterEach, describe, expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../../src/app/fleet.ts';
import { targetKey } from '../../../src/app/target-key.ts';
import type { Config, Secret, TargetConfig } from '../../../src/config/types.ts';
import { seconds } from '../../../src/units.ts';
import { sampleConfig, sampleTarget } from '../../support/sample-config.ts';
import { failedProbe, goodProbe } from '../../support/sample-probe.ts';
import { answering, createWorld, discovery, NOBODY, oneProfile, stamped, type World } from './world.ts';

const fleets: Fleet[] = [];

afterEach(async () => {
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()));
});

const target = (name: string, overrides: Partial<TargetConfig> = {}): TargetConfig =>
  oneProfile(sampleTarget({ name, ...overrides }));
const configOf = (...targets: readonly TargetConfig[]): Config => sampleConfig({ targets });

function launch(world: World, config: Config): Fleet {
  const { clock, log, factories, sink } = world;
  const remember = (): void => {};
  const fleet = createFleet({ config, podName: 'pod-a' }, { clock, log, factories, sink, remember });
  fleets.push(fleet);
  fleet.start();
  return fleet;
}

const startsOf = (world: World, name: string) =>
  world.probed.filter(({ options }) => options.target.name === name).map(({ at }) => Math.round(at * 1000) / 1000);

const secret = (value: string): Secret => ({
  reveal: () => value,
  refresh: () => false,
  toString: () => '<redacted>',
  toJSON: () => '<redacted>',
});

describe('fleet', () => {
  it("one target's failures never reach another", async () => {
    const world = createWorld();
    world.answer = (options, signal) => {
      if (options.target.name === 'broken') throw new Error('a bug');
      if (options.target.name === 'stuck') return answering(world, () => goodProbe(), 1e6)(options, signal);
      return answering(world, () => goodProbe())(options, signal);
    };
    world.discover = () => Promise.reject(new Error('nobody can be asked'));
    launch(world, configOf(target('broken'), target('stuck'), target('healthy')));
    await world.clock.advance(60);
    expect(startsOf(world, 'healthy')).toHaveLength(6);
    expect(world.finished.filter(({ outcome }) => outcome.outcome === 'good')).toHaveLength(6);
  });

  it('G-175: never more probes in flight than the configuration allows, over all targets; the rest is counted', async () => {
    const world = createWorld();
    let [inFlight, most] = [0, 0];
    world.answer = async (options, signal) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      // Longer than the interval, so that without a bound all of them would be in flight.
      return await answering(
        world,
        () => goodProbe(),
        15,
      )(options, signal).finally(() => {
        inFlight -= 1;
      });
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    const config = configOf(...names.map((name) => target(name)));
    const fleet = launch(world, { ...config, mostParallelProbes: 2 });
    await world.clock.advance(60);
    expect(most).toBe(2);
    expect(world.probed.length).toBeGreaterThanOrEqual(6);
    // Five targets, six ticks each, and each tick ends in a probe or is counted.
    const skipped = world.skips.filter(({ reason }) => reason === 'overlap');
    expect(skipped.length + world.probed.length).toBe(30);
    expect(skipped.some(({ slo }) => !slo)).toBe(true);
    await fleet.reload({ ...config, mostParallelProbes: null });
    await world.clock.advance(30);
    expect(most).toBe(5);
  });

  it('a probe that never ends gives its place back at its hard deadline', async () => {
    const world = createWorld();
    world.answer = (options, signal) =>
      options.target.name === 'stuck' ? new Promise(() => {}) : answering(world, () => goodProbe())(options, signal);
    const fleet = launch(world, { ...configOf(target('stuck'), target('healthy')), mostParallelProbes: 1 });
    await world.clock.advance(300);
    expect(startsOf(world, 'stuck').length).toBeGreaterThan(1);
    expect(startsOf(world, 'healthy').length).toBeGreaterThan(1);
    const closed = fleet.close();
    await world.clock.advance(5);
    await closed;
  });

  it('reload leaves unchanged targets alone: phase, connection and warm-up go on', async () => {
    const world = createWorld();
    const fleet = launch(world, configOf(target('a'), target('b')));
    await world.clock.advance(25);
    await fleet.reload(configOf(target('a'), target('c')));
    await world.clock.advance(30);
    const starts = startsOf(world, 'a');
    starts.slice(1).forEach((start, index) => {
      expect(start - (starts[index] ?? 0)).toBeCloseTo(10, 6);
    });
    expect(starts.length).toBeGreaterThanOrEqual(5);
    expect(
      new Set(world.probed.filter(({ options }) => options.target.name === 'a').map(({ options }) => options)).size,
    ).toBe(1);
  });

  it('reload ends removed targets and begins new ones', async () => {
    const world = createWorld();
    const fleet = launch(world, configOf(target('a'), target('b')));
    await world.clock.advance(15);
    const before = startsOf(world, 'b').length;
    await fleet.reload(configOf(target('a'), target('c')));
    await world.clock.advance(30);
    expect(startsOf(world, 'b')).toHaveLength(before);
    expect(startsOf(world, 'c')).toHaveLength(3);
    expect(fleet.views().map((view) => view.target)).toEqual(['a', 'c']);
  });

  it('reload builds a changed target anew, with the same phase, and never runs two of it at once', async () => {
    const world = createWorld();
    let running = 0;
    let most = 0;
    world.answer = (options, signal) => {
      running += 1;
      most = Math.max(most, running);
      return answering(
        world,
        () => goodProbe(),
        8,
      )(options, signal).finally(() => {
        running -= 1;
      });
    };
    const fleet = launch(world, configOf(target('a')));
    await world.clock.advance(15);
    await fleet.reload(configOf(target('a', { model: 'other-model' })));
    await world.clock.advance(30);
    expect(most).toBe(1);
    expect(new Set(world.probed.map(({ options }) => options.target.model))).toEqual(
      new Set(['tiny-model', 'other-model']),
    );
    const phases = startsOf(world, 'a').map((start) => Math.round((start % 10) * 1000) / 1000);
    expect(new Set(phases).size).toBe(1);
  });

  it('a reload that only moves a secret is no change, and the new secret is used from the next probe on', async () => {
    const world = createWorld();
    const fleet = launch(world, configOf(target('a', { apiKey: secret('old') })));
    await world.clock.advance(10);
    await fleet.reload(configOf(target('a', { apiKey: secret('new') })));
    await world.clock.advance(10);
    expect(world.probed.map(({ key }) => key)).toEqual(['old', 'new']);
    expect(world.probersClosed).toEqual([]);
  });

  it('a reload does not give back tokens that were spent, whatever else changes', async () => {
    const world = createWorld();
    const budget = { tokensPerHour: 700, tokensPerDay: 1e6 };
    const fleet = launch(world, configOf(target('a', { budget })));
    await world.clock.advance(60);
    expect(world.finished).toHaveLength(3);
    await fleet.reload(configOf(target('a', { budget, model: 'other-model' })));
    await world.clock.advance(60);
    expect(world.finished).toHaveLength(3);
    await fleet.reload(configOf(target('a', { budget: { ...budget, tokensPerHour: 1000 }, model: 'other-model' })));
    await world.clock.advance(20);
    expect(world.finished.length).toBeGreaterThan(3);
  });

  it('pausing by hand stops all, shows at once, and outlives a reload; the configuration can pause one', async () => {
    const world = createWorld();
    const fleet = launch(world, configOf(target('a'), target('b')));
    expect(fleet.pause(null)).toBe(true);
    expect(fleet.pause('nobody')).toBe(false);
    await fleet.reload(configOf(target('a'), target('b')));
    await world.clock.advance(20);
    expect(world.probed).toEqual([]);
    expect(fleet.resume(null)).toBe(true);
    await fleet.reload(configOf(target('a', { paused: true }), target('b')));
    await world.clock.advance(20);
    expect(startsOf(world, 'a')).toEqual([]);
    expect(startsOf(world, 'b')).toHaveLength(2);
    expect(fleet.isPaused('a')).toBe(true);
    expect(fleet.isPaused('b')).toBe(false);
  });

  it('is asked when every endpoint has been, even those that do not answer', async () => {
    const world = createWorld();
    const fleet = launch(world, configOf(target('a'), target('b')));
    expect(fleet.asked()).toBe(false);
    await world.clock.advance(0.1);
    expect(fleet.asked()).toBe(true);
  });

  it('a hundred endpoints that swallow every request do not keep a healthy one from being found', async () => {
    const world = createWorld();
    const asked: string[] = [];
    const discover: typeof world.factories.discover = ({ url, signal }) => {
      asked.push(url.hostname);
      if (url.hostname === 'healthy') return Promise.resolve(discovery());
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(NOBODY)));
    };
    const dead = Array.from({ length: 100 }, (_, index) =>
      target(`dead-${index}`, { model: 'auto', url: new URL(`http://dead-${index}:8000`) }),
    );
    const healthy = target('healthy', { model: 'auto', url: new URL('http://healthy:8000') });
    const { clock, log, factories, sink } = world;
    const fleet = createFleet(
      { config: configOf(...dead, healthy), podName: '' },
      { clock, log, factories: { ...factories, discover }, sink, remember: () => {} },
    );
    fleets.push(fleet);
    fleet.start();
    await world.clock.advance(40);
    expect(asked).toContain('healthy');
    expect(startsOf(world, 'healthy').length).toBeGreaterThanOrEqual(1);
    await fleet.close();
    expect(world.clock.pendingTimers()).toBe(0);
  });

  it('closing drops probes in flight of all targets together and leaves no timer', async () => {
    const world = createWorld();
    world.answer = answering(world, () => goodProbe(), 50);
    const fleet = launch(world, configOf(target('a'), target('b'), target('c')));
    await world.clock.advance(15);
    await fleet.close();
    expect(world.finished).toEqual([]);
    expect(world.clock.pendingTimers()).toBe(0);
  });

  it('closing waits no longer than the grace for a probe that does not listen', async () => {
    const world = createWorld();
    world.answer = () => new Promise<never>(() => {});
    const fleet = launch(world, configOf(target('a')));
    await world.clock.advance(15);
    let closed = false;
    const closing = fleet.close().then(() => {
      closed = true;
    });
    await world.clock.advance(1.4);
    expect(closed).toBe(false);
    await world.clock.advance(0.2);
    await closing;
    expect(world.clock.pendingTimers()).toBe(0);
  });

  it('a probe of a target whose end comes after its removal is dropped', async () => {
    const world = createWorld();
    // A prober that answers in spite of the signal.
    world.answer = (options) =>
      new Promise((resolve) => {
        world.clock.setTimer(seconds(1), () => resolve(stamped(failedProbe('stalled'), options, world.clock, 1)));
      });
    const fleet = launch(world, configOf(target('a')));
    while (world.probed.length === 0) await world.clock.advance(0.5);
    const reloading = fleet.reload(configOf(target('b')));
    await world.clock.advance(2);
    await reloading;
    expect(world.finished.filter(({ outcome }) => outcome.target === 'a')).toEqual([]);
  });
});

describe('what a target has to be built anew for', () => {
  const base = sampleTarget();
  const expectation = (pattern: RegExp) => ({
    profiles: base.profiles.map((scheduled) => ({
      ...scheduled,
      profile: { ...scheduled.profile, expect: { ...scheduled.profile.expect, pattern } },
    })),
  });

  it('is the same for an equal configuration read a second time', () => {
    expect(targetKey(sampleTarget(expectation(/a/)))).toBe(targetKey(sampleTarget(expectation(/a/))));
  });

  it('changes with the URL, an interval, a pattern, a header and the presence of a key', () => {
    const changes: readonly Partial<TargetConfig>[] = [
      { url: new URL('http://127.0.0.1:8001') },
      expectation(/a/),
      expectation(/a/i),
      { headers: { 'x-team': 'serving' } },
      { apiKey: secret('k') },
      { profiles: base.profiles.slice(1) },
      { slo: { ...base.slo, ttft: { ...base.slo.ttft, thresholdSeconds: seconds(3) } } },
    ];
    const keys = [{}, ...changes].map((change) => targetKey(sampleTarget(change)));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('does not change with the kill switch, the budget or the value of a secret', () => {
    const changes: readonly Partial<TargetConfig>[] = [
      { paused: true },
      { budget: { tokensPerHour: 1, tokensPerDay: 2 } },
    ];
    for (const change of changes) expect(targetKey(sampleTarget(change))).toBe(targetKey(base));
    expect(targetKey(sampleTarget({ apiKey: secret('a') }))).toBe(targetKey(sampleTarget({ apiKey: secret('b') })));
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineSample, EngineZone } from '../../../src/engine/types.ts';
import { decideZone, zoneWindow } from '../../../src/engine/zone.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';

interface Moment {
  readonly running?: number | null;
  readonly waiting?: number | null;
  readonly usage?: number | null;
  readonly preemptions?: number | null;
  readonly up?: boolean;
}

const sample = (moment: Moment, at: number): EngineSample => ({
  at: monotonicInstant(at),
  up: moment.up ?? true,
  kvUsageRatio: moment.usage === undefined ? 0.3 : moment.usage,
  running: moment.running === undefined ? 4 : moment.running,
  waiting: moment.waiting === undefined ? 0 : moment.waiting,
  preemptions: moment.preemptions === undefined ? 0 : moment.preemptions,
  generationTokens: null,
  promptTokens: null,
  restarts: 0,
  hung: false,
  asleep: false,
});

const every = (count: number, moment: Moment): readonly Moment[] => Array.from({ length: count }, () => moment);

/** The zone after each second, with the zone before it as history, over a window of 60 s. */
function drive(moments: readonly Moment[]): readonly (EngineZone | null)[] {
  const samples: EngineSample[] = [];
  let zone: EngineZone | null = null;
  return moments.map((moment, second) => {
    samples.push(sample(moment, second));
    zone = decideZone(zoneWindow(samples, seconds(60)), zone);
    return zone;
  });
}

const last = (moments: readonly Moment[]): EngineZone | null => drive(moments).at(-1) ?? null;

describe('the zone', () => {
  it.each<{ id: string; moments: readonly Moment[]; zone: EngineZone | null }>([
    { id: 'an idle engine', moments: every(60, { running: 0, usage: 0 }), zone: 'underload' },
    { id: 'a busy engine without a queue', moments: every(60, { running: 60, usage: 0.85 }), zone: 'underload' },
    {
      id: 'one request that waited once',
      moments: [...every(30, {}), { waiting: 1 }, ...every(29, {})],
      zone: 'underload',
    },
    {
      id: 'requests that wait now and then',
      moments: every(12, {}).flatMap((idle) => [idle, idle, idle, idle, { waiting: 2 }]),
      zone: 'knee',
    },
    {
      id: 'a queue held with a free cache and a short queue',
      moments: every(60, { waiting: 2, running: 32, usage: 0.4 }),
      zone: 'knee',
    },
    {
      id: 'a queue held with a full cache',
      moments: every(60, { waiting: 2, running: 32, usage: 0.95 }),
      zone: 'overload',
    },
    {
      id: 'a first preemption, with which the counter is born',
      moments: [...every(30, { preemptions: null }), ...every(30, { preemptions: 1 })],
      zone: 'overload',
    },
    { id: 'a single preemption', moments: [...every(30, {}), ...every(30, { preemptions: 1 })], zone: 'overload' },
    {
      id: 'G-112: a queue longer than the batch with a cache at a fifth',
      moments: every(60, { waiting: 300, running: 256, usage: 0.2 }),
      zone: 'overload',
    },
    { id: 'a queue with nothing running', moments: every(60, { waiting: 6, running: 0, usage: 0 }), zone: 'overload' },
    {
      id: 'a queue held where the cache is not shown',
      moments: every(60, { waiting: 9, running: 4, usage: null, preemptions: null }),
      zone: 'overload',
    },
    { id: 'no preemption counter and no queue', moments: every(60, { preemptions: null }), zone: 'underload' },
    {
      id: 'neither queue nor preemptions on the page',
      moments: every(60, { waiting: null, preemptions: null }),
      zone: null,
    },
    { id: 'too little seen', moments: every(2, { waiting: 9 }), zone: null },
  ])('of $id is $zone', ({ moments, zone }) => {
    expect(last(moments)).toBe(zone);
  });

  it('goes through all three as load rises and falls', () => {
    const zones = drive([
      ...every(60, { running: 4 }),
      ...every(30, {}).flatMap((quiet) => [quiet, { waiting: 1, usage: 0.8 }]),
      ...every(60, { waiting: 8, running: 9, usage: 0.97, preemptions: 12 }),
      ...every(90, { waiting: 0, preemptions: 12 }),
    ]);
    const path = zones.filter((zone, index) => zone !== null && zone !== zones[index - 1]);
    expect(path).toEqual(['underload', 'knee', 'overload', 'knee', 'underload']);
  });

  it('lasts as long as its traces are in the window, and does not flap at a limit', () => {
    const around = Array.from({ length: 300 }, (_, second) => ({
      waiting: 3,
      running: 30,
      usage: second % 2 === 0 ? 0.91 : 0.89,
    }));
    const zones = drive(around).slice(3);
    const changes = zones.filter((zone, index) => index > 0 && zone !== zones[index - 1]).length;
    expect(changes).toBeLessThanOrEqual(1);
  });

  it('is left for the knee when requests still wait now and then', () => {
    const zones = drive([
      ...every(60, { waiting: 8, running: 8, usage: 0.97 }),
      ...every(40, {}).flatMap((quiet) => [quiet, quiet, { waiting: 1 }]),
    ]);
    expect(zones.at(59)).toBe('overload');
    expect(zones.at(-1)).toBe('knee');
  });

  it('takes failed polls for no sample', () => {
    const samples = [0, 1, 2, 3, 4].map((at) => sample({ up: at % 2 === 0, waiting: 5 }, at));
    expect(zoneWindow(samples, seconds(60))).toHaveLength(3);
  });

  it('is overload whenever a preemption is in the window, and only worse with more of a queue', () => {
    const order: readonly EngineZone[] = ['underload', 'knee', 'overload'];
    const moment = fc.record({
      running: fc.nat(40),
      waiting: fc.nat(5),
      usage: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(moment, { minLength: 3, maxLength: 30 }), (moments) => {
        const window = moments.map((one, at) => sample(one, at));
        const preempted = moments.map((one, at) => sample({ ...one, preemptions: at }, at));
        const longer = moments.map((one, at) => sample({ ...one, waiting: one.waiting + 50 }, at));
        expect(decideZone(preempted, null)).toBe('overload');
        const rank = (zone: EngineZone | null): number => (zone === null ? -1 : order.indexOf(zone));
        expect(rank(decideZone(longer, null))).toBeGreaterThanOrEqual(rank(decideZone(window, null)));
      }),
      { numRuns: 100 },
    );
  });
});

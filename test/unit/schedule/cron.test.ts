import fc from 'fast-check';
import { createTask, getTasks } from 'node-cron';
import { afterEach, describe, expect, it } from 'vitest';
import { cronForEvery, cronGrid, validateCron } from '../../../src/schedule/cron.ts';
import { seconds, unixTime } from '../../../src/units.ts';

const at = (text: string) => unixTime(Date.parse(text) / 1000);
const text = (moment: number | null) => (moment === null ? null : new Date(moment * 1000).toISOString());

/** All slots of an expression in [from, to). */
function slots(expression: string, from: string, to: string): readonly string[] {
  const grid = cronGrid(expression);
  const found: string[] = [];
  let slot = grid.slotAfter(unixTime(at(from) - 0.5));
  while (slot !== null && slot < at(to)) {
    found.push(new Date(slot * 1000).toISOString());
    slot = grid.slotAfter(slot);
  }
  return found;
}

describe('validateCron', () => {
  const valid = ['*/15 * * * * *', '30 2 * * *', '0 0 9-17 * * 1-5', '@hourly', '0 0 0 L * *', '5,35 * * * * *'];
  for (const expression of valid) {
    it(`accepts ${expression}`, () => {
      expect(validateCron(expression)).toBeNull();
    });
  }

  const invalid: readonly (readonly [string, RegExp])[] = [
    ['x', /expected 5 or 6 fields/],
    ['', /illegal/],
    ['0 60 * * * *', /minute/],
    ['0 0 0 31 2 *', /impossible/],
    ['*/90 * * * * *', /step of 90 does not fit into the second field; use every:/],
    ['*/75 * * * *', /step of 75 does not fit into the minute field/],
    ['0 0 */24 * * *', /step of 24 does not fit into the hour field/],
  ];
  for (const [expression, message] of invalid) {
    it(`refuses "${expression}" and says why`, () => {
      expect(validateCron(expression)).toMatch(message);
    });
  }
});

describe('cronGrid', () => {
  it('finds the next slot after a moment, never the moment itself', () => {
    const grid = cronGrid('*/15 * * * * *');
    expect(text(grid.slotAfter(at('2026-11-29T20:00:00Z')))).toBe('2026-11-29T20:00:15.000Z');
    expect(text(grid.slotAfter(at('2026-11-29T20:00:14.999Z')))).toBe('2026-11-29T20:00:15.000Z');
    expect(text(grid.slotAfter(at('2026-11-29T23:59:45Z')))).toBe('2026-11-30T00:00:00.000Z');
  });

  it('follows weekdays and months over the end of the year', () => {
    expect(text(cronGrid('0 0 9-17 * * 1-5').slotAfter(at('2026-11-27T17:00:00Z')))).toBe('2026-11-30T09:00:00.000Z');
    expect(text(cronGrid('0 0 0 1 1 *').slotAfter(at('2026-11-27T17:00:00Z')))).toBe('2027-01-01T00:00:00.000Z');
    expect(text(cronGrid('0 0 0 29 2 *').slotAfter(at('2026-11-27T17:00:00Z')))).toBe('2028-02-29T00:00:00.000Z');
  });

  it('knows the longest and the shortest distance of slots', () => {
    const gaps = (expression: string) => {
      const grid = cronGrid(expression);
      return [grid.shortestGapSeconds, grid.longestGap()];
    };
    expect(gaps('*/10 * * * * *')).toEqual([10, 10]);
    expect(gaps('*/7 * * * * *')).toEqual([4, 7]);
    expect(gaps('30 2 * * *')).toEqual([86_400, 86_400]);
    expect(gaps('0 */5 * * * *')).toEqual([300, 300]);
    expect(gaps('0 0 9-17 * * *')).toEqual([3600, 16 * 3600]);
    expect(gaps('0 0 9-17 * * 1-5')).toEqual([3600, 64 * 3600]);
  });

  it('agrees with node-cron on every slot of a window, for any expression', () => {
    const field = (max: number, min = 0) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: 2, max: Math.min(max, 20) }).map((step) => `*/${step}`),
        fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((list) => list.join(',')),
      );
    const expressions = fc.tuple(field(59), field(59), field(23), field(28, 1), field(12, 1), field(6));
    fc.assert(
      fc.property(expressions, fc.integer({ min: 0, max: 3 * 365 * 86_400 }), (fields, offset) => {
        const expression = fields.join(' ');
        const moment = at('2026-01-01T00:00:00Z') + offset;
        const slot = cronGrid(expression).slotAfter(unixTime(moment));
        const task = createTask(expression, () => undefined, { timezone: 'UTC' });
        void task.destroy();
        // The slot itself matches, and no second before it, as far as one wants to look, does.
        if (slot !== null) expect(task.match(new Date(slot * 1000))).toBe(true);
        for (let second = moment + 1; second < Math.min(slot ?? Number.POSITIVE_INFINITY, moment + 120); second += 1) {
          expect(task.match(new Date(second * 1000))).toBe(false);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("leaves nothing in node-cron's list of tasks", () => {
    cronGrid('0 0 9 * * 1');
    expect(getTasks().size).toBe(0);
  });
});

describe('time zones', () => {
  const original = process.env.TZ;
  afterEach(() => {
    if (original === undefined) delete process.env.TZ;
    else process.env.TZ = original;
  });

  for (const [day, next] of [
    ['2026-03-29', '2026-03-30'],
    ['2026-10-25', '2026-10-26'],
  ] as const) {
    it(`G-160: with TZ=Europe/Berlin on ${day}, 02:30 UTC comes exactly once and every hour has 360 slots of 10 s`, () => {
      process.env.TZ = 'Europe/Berlin';
      expect(slots('30 2 * * *', `${day}T00:00:00Z`, `${next}T00:00:00Z`)).toEqual([`${day}T02:30:00.000Z`]);
      const perHour = new Map<string, number>();
      for (const slot of slots('*/10 * * * * *', `${day}T00:00:00Z`, `${next}T00:00:00Z`)) {
        perHour.set(slot.slice(0, 13), (perHour.get(slot.slice(0, 13)) ?? 0) + 1);
      }
      expect([...perHour.values()]).toEqual(new Array(24).fill(360));
    });
  }

  it('G-157: with TZ=America/Santiago, whose clocks change at midnight, 48 hours have all their slots', () => {
    process.env.TZ = 'America/Santiago';
    expect(slots('0 */5 * * * *', '2026-09-05T12:00:00Z', '2026-09-07T12:00:00Z')).toHaveLength(48 * 12);
    expect(slots('0 0 0 * * 0,6', '2026-09-05T00:00:00Z', '2026-09-07T00:00:00Z')).toHaveLength(2);
  });
});

describe('cronForEvery', () => {
  it('names the expression where the grid holds the interval evenly', () => {
    const evenly = { 1: '*/1 * * * * *', 15: '*/15 * * * * *', 60: '0 */1 * * * *', 300: '0 */5 * * * *' };
    for (const [every, expression] of Object.entries(evenly)) {
      expect(cronForEvery(seconds(Number(every)))).toBe(expression);
    }
    expect(cronForEvery(seconds(7200))).toBe('0 0 */2 * * *');
    expect(cronForEvery(seconds(86_400))).toBe('0 0 0 * * *');
  });

  it('has none for intervals that would limp: 7 s, 45 s, 90 s, 1.5 s, 7 h', () => {
    for (const every of [7, 45, 90, 1.5, 0.5, 25_200, 0]) expect(cronForEvery(seconds(every))).toBeNull();
  });

  it('whatever it names has all its slots exactly that far apart', () => {
    for (let every = 1; every <= 86_400; every += 1) {
      const expression = cronForEvery(seconds(every));
      if (expression === null) continue;
      expect(validateCron(expression)).toBeNull();
      const grid = cronGrid(expression);
      expect([every, grid.shortestGapSeconds, grid.longestGap()]).toEqual([every, every, every]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import { loadPageModule } from '../../../support/page-modules.ts';

interface Store {
  readonly run: string | null;
  readonly target: string | null;
  readonly order: number;
  readonly at: number;
  readonly probes: ReadonlyMap<string, readonly { readonly id: string }[]>;
  readonly points: readonly (readonly unknown[])[];
}
interface StoreModule {
  readonly emptyStore: () => Store;
  readonly liveQuery: (store: Store, target: string | null) => string;
  readonly mergeLive: (store: Store, live: object, asked: { order: number }) => { store: Store; stale: boolean };
  readonly preemptionSteps: (
    points: readonly (readonly unknown[])[],
    step: number,
  ) => readonly { at: number; count: number }[];
  readonly zoneStretches: (
    points: readonly (readonly unknown[])[],
  ) => readonly { zone: string; from: number; to: number }[];
  readonly probeLine: (probes: readonly object[], key: string, every: number | null) => readonly (readonly unknown[])[];
  readonly axisStart: (store: Store, to: number, range: number) => number;
  readonly lineOf: (points: readonly (readonly unknown[])[], column: number) => readonly (readonly unknown[])[];
}

const page = await loadPageModule<StoreModule>('store.js');
const probe = (order: number, at = 1000 + order) => ({ id: `p${order}`, order, at });
const point = (at: number, total: number | null = 0, zone: string | null = 'underload') => [
  at,
  0.5,
  1,
  2,
  total,
  9,
  zone,
];

function live(
  run: string,
  name: string,
  probes: readonly object[],
  points: readonly (readonly unknown[])[] = [],
  now = 1100,
) {
  return { run, now, targets: [], detail: { name, profiles: [{ name: 'cold', probes }], points } };
}

describe('what the page knows', () => {
  it('grows by what is new, each thing once and in order', () => {
    const first = page.mergeLive(page.emptyStore(), live('r', 'a', [probe(1), probe(2)], [point(1001)]), {
      order: 0,
    }).store;
    const second = page.mergeLive(first, live('r', 'a', [probe(2), probe(3)], [point(1001), point(1002)]), {
      order: 2,
    }).store;
    expect(second.probes.get('cold')?.map(({ id }) => id)).toEqual(['p1', 'p2', 'p3']);
    expect(second.points.map(([at]) => at)).toEqual([1001, 1002]);
    expect(second.order).toBe(3);
    expect(page.liveQuery(second, 'a')).toBe('api/live?target=a&order=3&at=1002');
  });

  it('asks for everything of another target', () => {
    const store = page.mergeLive(page.emptyStore(), live('r', 'a', [probe(1)]), { order: 0 }).store;
    expect(page.liveQuery(store, 'b & c')).toBe('api/live?target=b+%26+c');
    expect(page.liveQuery(page.emptyStore(), null)).toBe('api/live');
  });

  it('lets go of what is older than a quarter of an hour', () => {
    const store = page.mergeLive(page.emptyStore(), live('r', 'a', [probe(1, 100)], [point(100)]), { order: 0 }).store;
    const later = page.mergeLive(store, live('r', 'a', [probe(2, 1090)], [point(1090)]), { order: 1 }).store;
    expect(later.probes.get('cold')?.map(({ id }) => id)).toEqual(['p2']);
    expect(later.points).toHaveLength(1);
  });

  it('starts from nothing when the exporter was restarted, and asks again when the answer was only a part', () => {
    const store = page.mergeLive(page.emptyStore(), live('r1', 'a', [probe(7)]), { order: 0 }).store;
    const restarted = page.mergeLive(store, live('r2', 'a', []), { order: 7 });
    expect(restarted.stale).toBe(true);
    expect(page.liveQuery(restarted.store, 'a')).toBe('api/live?target=a');
    const whole = page.mergeLive(restarted.store, live('r2', 'a', [probe(1)]), { order: 0 });
    expect(whole.stale).toBe(false);
    expect(whole.store.probes.get('cold')).toHaveLength(1);
  });

  it('does without targets', () => {
    expect(
      page.mergeLive(page.emptyStore(), { run: 'r', now: 1, targets: [], detail: null }, { order: 0 }).store.target,
    ).toBeNull();
  });
});

describe('what the charts are made from', () => {
  it('preemptions are what a counter rose by, in steps', () => {
    const points = [point(1000, 5), point(1001, 5), point(1004, 7), point(1012, 8), point(1013, null), point(1014, 9)];
    expect(page.preemptionSteps(points, 10)).toEqual([
      { at: 1000, count: 2 },
      { at: 1010, count: 2 },
    ]);
  });

  it('a counter that was there before us, or that falls, is no event', () => {
    expect(page.preemptionSteps([point(1000, 50)], 10)).toEqual([]);
    expect(page.preemptionSteps([point(1000, 50), point(1001, 0)], 10)).toEqual([]);
  });

  it('zones are stretches without holes, but for a time in which nothing was known', () => {
    const points = [point(1000), point(1001), point(1002, 0, 'knee'), point(1003, 0, null), point(1060, 0, 'knee')];
    expect(page.zoneStretches(points)).toEqual([
      { zone: 'underload', from: 1000, to: 1001 },
      { zone: 'knee', from: 1001, to: 1002 },
      { zone: 'knee', from: 1060, to: 1060 },
    ]);
  });

  it('G-155: probes that did not come leave a hole, and warm-up probes are not drawn', () => {
    const probes = [
      { at: 1, warmup: true, ttft: 9 },
      { at: 10, warmup: false, ttft: 1 },
      { at: 25, warmup: false, ttft: null },
      { at: 100, warmup: false, ttft: 2 },
    ];
    expect(page.probeLine(probes, 'ttft', 15)).toEqual([
      [10, 1],
      [25, null],
      [100, null],
      [100, 2],
    ]);
    expect(page.probeLine([], 'ttft', null)).toEqual([]);
  });

  it('the time axis of a young exporter is not mostly empty', () => {
    const at = (oldest: number) => ({ ...page.emptyStore(), points: [point(oldest)] });
    expect(page.axisStart(page.emptyStore(), 5000, 900)).toBe(4880);
    expect(page.axisStart(at(4990), 5000, 900)).toBe(4880);
    expect(page.axisStart(at(4800), 5000, 900)).toBe(4792);
    expect(page.axisStart(at(1000), 5000, 900)).toBe(4100);
  });

  it('G-155: a line has a hole where there was no data', () => {
    expect(page.lineOf([point(1000), point(1001), point(1100)], 3)).toEqual([
      [1000, 2],
      [1001, 2],
      [1100, null],
      [1100, 2],
    ]);
  });
});

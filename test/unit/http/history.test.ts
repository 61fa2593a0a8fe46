import { describe, expect, it } from 'vitest';
import type { EngineView } from '../../../src/engine/types.ts';
import { createEngineHistory, enginePoint } from '../../../src/http/history.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { sampleSeries, sampleView } from '../../support/sample-engine.ts';

describe('an engine at one moment', () => {
  it('has the highest usage of its ranks and the sums of their requests and counters', () => {
    const view = sampleView({
      series: [
        sampleSeries({ gauges: { kv_cache_usage_ratio: 0.2, requests_running: 3 } }),
        sampleSeries({ dpRank: '1', gauges: { kv_cache_usage_ratio: 0.9, requests_running: 4 } }),
      ],
    });
    expect(enginePoint(view, 7)).toEqual({
      at: 7,
      kvUsageRatio: 0.9,
      running: 7,
      waiting: null,
      preemptions: 6,
      generationTokens: 1000,
      zone: 'knee',
    });
  });

  it('that says nothing is unknown, not empty', () => {
    expect(enginePoint(sampleView({ series: [], zone: null }), 7)).toMatchObject({
      kvUsageRatio: null,
      running: null,
      preemptions: null,
      zone: null,
    });
  });
});

describe('the past of an engine', () => {
  it('is a point a second for a quarter of an hour', async () => {
    const clock = manualClock();
    const history = createEngineHistory({ clock, views: () => [sampleView()] });
    history.start();
    await clock.advance(1000);
    const points = history.points('engine', 0);
    expect(points).toHaveLength(900);
    expect(points.at(-1)?.at).toBe(clock.unix());
    expect(history.points('engine', clock.unix() - 3)).toHaveLength(3);
    history.close();
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is coarser with many engines', async () => {
    const clock = manualClock();
    const views = Array.from({ length: 60 }, (_, index) => sampleView({ target: `t${index}` }));
    const history = createEngineHistory({ clock, views: () => views });
    history.start();
    await clock.advance(50);
    expect(history.points('t7', 0)).toHaveLength(11);
    history.close();
  });

  it('goes with its target', async () => {
    const clock = manualClock();
    let views: readonly EngineView[] = [sampleView()];
    const history = createEngineHistory({ clock, views: () => views });
    history.start();
    views = [];
    await clock.advance(2);
    expect(history.points('engine', 0)).toEqual([]);
    history.close();
  });

  it('stays bounded when the wall clock steps back', async () => {
    const clock = manualClock();
    const history = createEngineHistory({ clock, views: () => [sampleView()] });
    history.start();
    await clock.advance(600);
    clock.stepWallClock(-3600);
    await clock.advance(1200);
    expect(history.points('engine', 0).length).toBeLessThanOrEqual(900);
    history.close();
  });
});

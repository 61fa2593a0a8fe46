import { describe, expect, it } from 'vitest';
import { createEnginePoller } from '../../../src/engine/sampler.ts';
import type { EngineView, EngineZone } from '../../../src/engine/types.ts';
import { silentLogger } from '../../../src/log.ts';
import { createLoad } from '../../../src/sim/load.ts';
import { DEFAULT_LOAD } from '../../../src/sim/options.ts';
import { renderEnginePage } from '../../../src/sim/page.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { fetched } from '../../support/pages.ts';
import { type Bench, bench, prompt, request } from '../../unit/sim/helpers.ts';

const pageOf = ({ engine }: Bench): string =>
  renderEnginePage({
    model: 'sim',
    options: engine.options,
    state: engine.state(),
    statistics: engine.statistics(),
    admissionRejections: 0,
    httpRequests: [],
    residentBytes: 1,
    cpuSeconds: 1,
  });

/** Polls the simulated engine once a second of its own clock and gives what the exporter shows after each poll. */
async function watch(on: Bench, spanSeconds: number, each: (second: number) => void = () => {}): Promise<EngineView[]> {
  const clock = manualClock(0);
  const poller = createEnginePoller(
    {
      target: 'sim',
      url: new URL('http://127.0.0.1:8000'),
      engine: 'vllm',
      metricsUrl: null,
      everySeconds: null,
      staleAfterSeconds: seconds(5),
      peakWindowSeconds: seconds(60),
      hangAfterSeconds: seconds(10),
      maxBytes: 1_000_000,
      histograms: false,
    },
    { clock, log: silentLogger(), fetchPage: async () => fetched(pageOf(on)) },
  );
  const views: EngineView[] = [];
  poller.start();
  for (let second = 0; second < spanSeconds; second += 1) {
    each(second);
    on.clock.run(1);
    await clock.advance(1);
    views.push(poller.view());
  }
  await poller.close();
  return views;
}

const path = (views: readonly EngineView[]): readonly (EngineZone | null)[] =>
  views.map((view) => view.zone).filter((zone, index, all) => zone !== null && zone !== all[index - 1]);

// Minutes of the engine's time, some seconds of the processor's.
describe('the simulated engine, as the exporter sees it', { timeout: 60_000 }, () => {
  it('goes through underload, knee and overload as its load rises, and back', async () => {
    const on = bench();
    const load = createLoad({ ...DEFAULT_LOAD, shape: 'wave' }, { engine: on.engine, clock: on.clock });
    load.start();
    const views = await watch(on, 250);
    load.stop();
    expect(path(views).slice(0, 3)).toEqual(['underload', 'knee', 'overload']);
    expect(path(views).at(-1)).toBe('underload');
    expect(path(views).length).toBeLessThanOrEqual(5);
    // Preemptions are what overload is made of here, and they are all counted.
    const last = views.at(-1);
    expect(last?.series[0]?.counters.preemptions).toBe(on.engine.statistics().counters.preemptions);
    expect(on.engine.statistics().counters.preemptions).toBeGreaterThan(0);
  });

  it('is in underload with room, and in overload where the cache is too small for its load', async () => {
    const steady = (ratePerSecond: number, numGpuBlocks: number) => {
      const on = bench({ maxNumSeqs: 48, numGpuBlocks, maxModelLen: 4096 });
      const load = createLoad(
        { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond },
        { engine: on.engine, clock: on.clock },
      );
      load.start();
      return watch(on, 45);
    };
    expect((await steady(0.5, 2049)).at(-1)?.zone).toBe('underload');
    expect((await steady(8, 300)).at(-1)?.zone).toBe('overload');
  });

  it('shows peaks of a rush that began and ended between two looks', async () => {
    const on = bench({ maxNumSeqs: 4 });
    const views = await watch(on, 40, (second) => {
      if (second !== 5) return;
      for (let salt = 0; salt < 12; salt += 1) on.engine.submit(request(prompt(50, salt), 60), { onToken: () => {} });
    });
    const last = views.at(-1)?.series[0];
    expect(last?.gauges).toMatchObject({ requests_running: 0, requests_waiting: 0 });
    expect(last?.peaks.requests_running).toBe(4);
    expect(last?.peaks.requests_waiting).toBeGreaterThan(0);
  });

  it('R-012: is hung while it is frozen, and counts on across its restart', async () => {
    const on = bench();
    const load = createLoad(
      { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 3 },
      { engine: on.engine, clock: on.clock },
    );
    load.start();
    let generated = 0;
    const views = await watch(on, 80, (second) => {
      if (second === 20) on.engine.freeze();
      if (second === 50) on.engine.thaw();
      if (second !== 60) return;
      generated = on.engine.statistics().counters.generationTokens;
      on.engine.reset();
    });
    const hung = views.map((view) => view.hung);
    expect(hung.indexOf(true)).toBeGreaterThanOrEqual(29);
    expect(hung.indexOf(true)).toBeLessThanOrEqual(32);
    expect(hung.slice(52)).not.toContain(true);
    expect(views.at(-1)).toMatchObject({ restarts: 1, inconsistentSource: false });
    const after = on.engine.statistics().counters.generationTokens;
    const seen = views.at(-1)?.series[0]?.counters.generation_tokens ?? 0;
    // Less what the first second had produced before our first poll.
    const first = views[0]?.series[0]?.counters.generation_tokens ?? 0;
    expect(first).toBe(0);
    expect(seen).toBeGreaterThan(generated + after - 100);
    expect(seen).toBeLessThanOrEqual(generated + after);
  });
});

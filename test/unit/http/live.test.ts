import { describe, expect, it } from 'vitest';
import type { EngineHistory } from '../../../src/http/history.ts';
import { type LiveSources, liveJson } from '../../../src/http/live.ts';
import { createRecentProbes } from '../../../src/http/recent.ts';
import { seconds, unixTime } from '../../../src/units.ts';
import { sampleConfig, sampleTarget } from '../../support/sample-config.ts';
import { sampleView } from '../../support/sample-engine.ts';
import { failedProbe, finished, goodProbe, sampleDiagnosis } from '../../support/sample-probe.ts';

const point = {
  at: 1000,
  kvUsageRatio: 0.5,
  running: 1,
  waiting: 0,
  preemptions: 2,
  generationTokens: 9,
  zone: 'knee',
} as const;
const history: EngineHistory = {
  start: () => {},
  close: () => {},
  points: (_target, since) => [point].filter(({ at }) => at > since),
};

function sources(overrides: Partial<LiveSources> = {}): LiveSources {
  return {
    targets: () => sampleConfig().targets,
    views: () => [sampleView()],
    recent: createRecentProbes({ successes: 10, failures: 10 }),
    history,
    isPaused: () => false,
    ...overrides,
  };
}

const START = { order: 0, at: 0 };
const ask = (from: LiveSources, target: string | null = null, cursor = START) =>
  liveJson(from, { target, cursor, now: 1001 });

describe('what the page is told', () => {
  it('all targets in a line each, and the first in detail unless another is asked for', () => {
    const from = sources({
      targets: () => [sampleTarget(), sampleTarget({ name: 'second' })],
      isPaused: (name) => name === 'second',
    });
    expect(ask(from).targets.map(({ name, paused, state }) => [name, paused, state])).toEqual([
      ['engine', false, null],
      ['second', true, null],
    ]);
    expect(ask(from).detail?.name).toBe('engine');
    expect(ask(from, 'second').detail?.name).toBe('second');
    expect(ask(from, 'gone').detail?.name).toBe('engine');
    expect(ask(sources({ targets: () => [] })).detail).toBeNull();
  });

  it('only what it has not seen yet', () => {
    const from = sources();
    from.recent.add(finished(goodProbe({ id: 'one' })));
    from.recent.add(finished(goodProbe({ id: 'two' })));
    const first = ask(from).detail;
    expect(first?.profiles[0]?.probes.map(({ id }) => id)).toEqual(['one', 'two']);
    expect(first?.points).toHaveLength(1);
    const later = ask(from, null, { order: 1, at: 1000 }).detail;
    expect(later?.profiles[0]?.probes.map(({ id }) => id)).toEqual(['two']);
    expect(later?.points).toEqual([]);
  });

  it('a slow probe that began before the last question and ended after it is not missed', () => {
    const from = sources();
    from.recent.add(finished(goodProbe({ id: 'quick', startedAt: unixTime(990) })));
    const cursor = { order: ask(from).detail?.profiles[0]?.probes.at(-1)?.order ?? 0, at: 1000 };
    from.recent.add(finished(goodProbe({ id: 'long', startedAt: unixTime(950) })));
    expect(ask(from, null, cursor).detail?.profiles[0]?.probes.map(({ id }) => id)).toEqual(['long']);
  });

  it('the state of a target and since when, from its probes', () => {
    const from = sources();
    from.recent.add(finished(goodProbe({ startedAt: unixTime(900) })));
    from.recent.add(finished(failedProbe('stalled', { startedAt: unixTime(915) })));
    from.recent.add(finished(failedProbe('stalled', { startedAt: unixTime(930) })));
    expect(ask(from).targets[0]).toMatchObject({ state: 'failing', since: 915, probes: 2, engine: { zone: 'knee' } });
  });

  it('the newest slow or failed probe with its evidence', () => {
    const from = sources();
    from.recent.add(
      finished(goodProbe({ id: 'slow', startedAt: unixTime(900), ttftSeconds: seconds(3) }), {
        diagnosis: sampleDiagnosis('preemption'),
      }),
    );
    from.recent.add(finished(goodProbe({ id: 'fast', startedAt: unixTime(915) })));
    from.recent.add(
      finished(failedProbe('connect_refused', { id: 'warming', startedAt: unixTime(920) }), { warmup: true }),
    );
    expect(ask(from).detail?.lastBad).toMatchObject({
      id: 'slow',
      cause: 'preemption',
      profile: 'cold',
      evidence: { preemptions_increase: 3 },
    });
    expect(ask(sources()).detail?.lastBad).toBeNull();
  });

  it('the engine, and that there is none', () => {
    expect(ask(sources()).detail?.engine).toMatchObject({
      name: 'vllm',
      zone: 'knee',
      kvUsage: 0.5,
      kvUsagePeak: 0.98,
      waitingPeak: 9,
    });
    expect(ask(sources()).detail?.kvRoom).toMatchObject({ capacityTokens: 8192, requestTokens: 160 });
    expect(ask(sources({ views: () => [] })).detail?.engine).toBeNull();
  });

  it('neither addresses nor keys: nothing of a target but its name, model, vantage and objectives', () => {
    const url = new URL('https://user:hunter2@inner.example/v1?key=hunter2');
    const target = sampleTarget({ url, headers: { 'x-key': 'hunter2' } });
    const text = JSON.stringify(ask(sources({ targets: () => [target] })));
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('inner.example');
  });
});

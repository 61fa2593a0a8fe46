import { describe, expect, it } from 'vitest';
import type { FetchedPage, FetchFailure, FetchPage } from '../../../src/engine/fetch.ts';
import { createEnginePoller, type EnginePollerOptions } from '../../../src/engine/sampler.ts';
import type { EnginePoller, EngineSeries, EngineView } from '../../../src/engine/types.ts';
import type { LogFields, Logger } from '../../../src/log.ts';
import { monotonicInstant, seconds } from '../../../src/units.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { fetched, fetchFailed, pageText } from '../../support/pages.ts';

type Answer = FetchedPage | FetchFailure;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

function recorder(lines: Line[], base: LogFields = {}): Logger {
  const at =
    (level: string) =>
    (fields: LogFields, message: string): void =>
      void lines.push({ level, message, fields: { ...base, ...fields } });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recorder(lines, { ...base, ...fields }),
  };
}

interface Rig {
  readonly clock: ManualClock;
  readonly poller: EnginePoller;
  readonly log: Line[];
  /** Instants at which a page was asked for, since the start. */
  readonly asked: number[];
  readonly urls: string[];
  /** The most reads that were ever under way at once. */
  mostAtOnce(): number;
  /** What is answered from now on; a function is asked at each read. */
  answer(next: Answer | string | (() => Answer | Promise<Answer>)): void;
}

function rig(options: Partial<EnginePollerOptions> = {}): Rig {
  const clock = manualClock(0);
  const log: Line[] = [];
  const asked: number[] = [];
  const urls: string[] = [];
  let answer: () => Answer | Promise<Answer> = () => fetchFailed();
  let [now, most] = [0, 0];
  const fetchPage: FetchPage = async (url) => {
    asked.push(clock.monotonic());
    urls.push(url.href);
    now += 1;
    most = Math.max(most, now);
    try {
      return await answer();
    } finally {
      now -= 1;
    }
  };
  const poller = createEnginePoller(
    {
      target: 't',
      url: new URL('http://127.0.0.1:8000'),
      engine: 'vllm',
      metricsUrl: null,
      everySeconds: null,
      staleAfterSeconds: seconds(5),
      peakWindowSeconds: seconds(60),
      hangAfterSeconds: seconds(10),
      maxBytes: 1_000_000,
      histograms: false,
      ...options,
    },
    { clock, log: recorder(log), fetchPage },
  );
  return {
    clock,
    poller,
    log,
    asked,
    urls,
    mostAtOnce: () => most,
    answer(next) {
      answer = typeof next === 'function' ? next : () => (typeof next === 'string' ? fetched(next) : next);
    },
  };
}

interface Numbers {
  readonly running?: number;
  readonly waiting?: number;
  readonly usage?: number;
  readonly preemptions?: number;
  readonly generation?: number;
  readonly rank?: string;
}

function page(numbers: Numbers): string {
  const label = `{engine="${numbers.rank ?? '0'}",model_name="m"}`;
  const lines: readonly (readonly [string, number | undefined])[] = [
    ['num_requests_running', numbers.running ?? 0],
    ['num_requests_waiting', numbers.waiting ?? 0],
    ['kv_cache_usage_perc', numbers.usage ?? 0],
    ['num_preemptions_total', numbers.preemptions ?? 0],
    ['generation_tokens_total', numbers.generation ?? 0],
  ];
  return lines.map(([name, value]) => `vllm:${name}${label} ${value}\n`).join('');
}

function only(view: EngineView): EngineSeries {
  const [series] = view.series;
  if (series === undefined || view.series.length !== 1) throw new Error(`${view.series.length} series instead of one`);
  return series;
}

const LLAMACPP_PAGE = new URL('http://127.0.0.1:8080/metrics');

const messages = (log: readonly Line[]): readonly string[] => log.map((line) => line.message);

describe('the timetable', () => {
  it('reads once a second from the start on', async () => {
    const { poller, clock, asked, answer, urls } = rig();
    answer(page({}));
    poller.start();
    await clock.advance(3.5);
    expect(asked).toEqual([0, 1, 2, 3]);
    expect(urls[0]).toBe('http://127.0.0.1:8000/metrics');
    await poller.close();
  });

  it('does nothing before it is started, and nothing after it is closed', async () => {
    const { poller, clock, asked, answer } = rig();
    answer(page({}));
    await clock.advance(5);
    expect(asked).toEqual([]);
    poller.start();
    poller.start();
    await clock.advance(1.5);
    await poller.close();
    await clock.advance(10);
    expect(asked).toEqual([5, 6]);
    expect(clock.pendingTimers()).toBe(0);
    expect((await poller.pollNow()).up).toBe(true);
    expect(asked).toHaveLength(2);
  });

  it('drops the ticks that a slow answer covers, and shifts none', async () => {
    const { poller, clock, asked, answer, mostAtOnce } = rig();
    answer(async () => {
      await new Promise<void>((resolve) => clock.setTimer(seconds(2.5), resolve));
      return fetched(page({}));
    });
    poller.start();
    await clock.advance(9.5);
    expect(asked).toEqual([0, 3, 6, 9]);
    expect(mostAtOnce()).toBe(1);
    await poller.close();
  });

  it("takes the engine's own interval, unless told otherwise", async () => {
    const slow = rig({ engine: 'llamacpp', metricsUrl: LLAMACPP_PAGE });
    slow.answer('llamacpp:requests_processing 1\n');
    slow.poller.start();
    await slow.clock.advance(25);
    expect(slow.asked).toEqual([0, 10, 20]);
    expect(slow.poller.view()).toMatchObject({
      pollEverySeconds: 10,
      pollEveryReason: expect.stringContaining('decode step'),
    });
    const told = rig({ engine: 'llamacpp', metricsUrl: LLAMACPP_PAGE, everySeconds: seconds(4) });
    told.answer('llamacpp:requests_processing 1\n');
    told.poller.start();
    await told.clock.advance(9);
    expect(told.asked).toEqual([0, 4, 8]);
    await slow.poller.close();
    await told.poller.close();
  });

  it('slows down as soon as a page turns out to be one that should be read seldom', async () => {
    const { poller, clock, asked, answer } = rig({
      engine: 'auto',
      metricsUrl: new URL('http://127.0.0.1:8000/metrics'),
    });
    answer('llamacpp:requests_processing 1\n');
    poller.start();
    await clock.advance(30);
    expect(asked.length).toBeLessThanOrEqual(5);
    await poller.close();
  });

  it('does not poll an engine whose page is nowhere', async () => {
    const { poller, clock, asked } = rig({ engine: 'ollama' });
    poller.start();
    await clock.advance(10);
    expect(asked).toEqual([]);
    expect(await poller.pollNow()).toMatchObject({ up: false, kvUsageRatio: null, waiting: null });
    expect(poller.view()).toMatchObject({
      engine: 'ollama',
      up: false,
      series: [],
      pollEverySeconds: null,
      lastPollAt: null,
    });
    await poller.close();
  });

  it('does not poll llama.cpp before it is known that a read wakes and loads nothing', async () => {
    const { poller, clock, asked } = rig({ engine: 'llamacpp' });
    poller.start();
    await clock.advance(30);
    expect((await poller.pollNow()).up).toBe(false);
    expect(asked).toEqual([]);
    await poller.close();
  });

  it.each([
    { engine: 'vllm' as const, url: 'http://h:8000/v1', page: 'http://h:8000/metrics' },
    { engine: 'vllm' as const, url: 'http://h:8000/v1/', page: 'http://h:8000/metrics' },
    { engine: 'sglang' as const, url: 'http://h/prefix/v1', page: 'http://h/prefix/metrics' },
    { engine: 'tensorrt-llm' as const, url: 'http://h:8000', page: 'http://h:8000/prometheus/metrics' },
    { engine: 'nim' as const, url: 'http://h:8000/v1', page: 'http://h:8000/v1/metrics' },
    { engine: 'triton' as const, url: 'http://h:9000/v1', page: 'http://h:8002/metrics' },
  ])('G-116: reads the page of $engine at $page', async ({ engine, url, page: expected }) => {
    const { poller, urls } = rig({ engine, url: new URL(url) });
    await poller.pollNow();
    expect(urls).toEqual([expected]);
    await poller.close();
  });
});

describe('a poll on demand', () => {
  it('reads at once and gives the sample', async () => {
    const { poller, answer } = rig();
    answer(page({ running: 3, usage: 0.4 }));
    expect(await poller.pollNow()).toMatchObject({ up: true, running: 3, kvUsageRatio: 0.4, preemptions: 0 });
    await poller.close();
  });

  it('never runs beside another one, and counts nothing twice', async () => {
    const { poller, clock, asked, answer, mostAtOnce } = rig();
    let preemptions = 100;
    answer(async () => {
      await new Promise<void>((resolve) => clock.setTimer(seconds(0.2), resolve));
      preemptions += 1;
      return fetched(page({ preemptions }));
    });
    poller.start();
    await clock.advance(0.1);
    const during = [poller.pollNow(), poller.pollNow(), poller.pollNow()];
    await clock.advance(1);
    const samples = await Promise.all(during);
    // One read was under way; all three who asked meanwhile share the next one, which began after they asked.
    expect(asked.slice(0, 2)).toEqual([0, 0.2]);
    expect(new Set(samples.map((sample) => sample.at)).size).toBe(1);
    expect(samples[0]?.preemptions).toBe(1);
    expect(mostAtOnce()).toBe(1);
    await poller.close();
  });

  it('gives the last sample where a read has effects on the engine', async () => {
    const { poller, clock, asked, answer } = rig({ engine: 'llamacpp', metricsUrl: LLAMACPP_PAGE });
    answer('llamacpp:requests_processing 1\n');
    poller.start();
    await clock.advance(3);
    expect(await poller.pollNow()).toMatchObject({ up: true, running: 1, at: 0 });
    expect(asked).toEqual([0]);
    await poller.close();
  });

  it('G-116: is the same for everybody who looks: views and samples cost no read', async () => {
    const { poller, asked, answer } = rig();
    answer(page({}));
    await poller.pollNow();
    for (let look = 0; look < 100; look += 1) {
      poller.view();
      poller.samplesBetween(monotonicInstant(0), monotonicInstant(100));
    }
    expect(asked).toHaveLength(1);
    await poller.close();
  });
});

describe('samples', () => {
  it('go from the last one before the start to the end', async () => {
    const { poller, clock, answer } = rig();
    answer(page({}));
    poller.start();
    await clock.advance(9.5);
    const at = (from: number, to: number): readonly number[] =>
      poller.samplesBetween(monotonicInstant(from), monotonicInstant(to)).map((sample) => sample.at);
    expect(at(2.5, 5)).toEqual([2, 3, 4, 5]);
    expect(at(3, 4.9)).toEqual([2, 3, 4]);
    expect(at(20, 30)).toEqual([9]);
    expect(at(-5, 0.5)).toEqual([0]);
    await poller.close();
  });

  it('G-109: carry the highest usage and the sums of the ranks', async () => {
    const { poller, answer } = rig();
    answer(page({ rank: '0', usage: 0.1, running: 2 }) + page({ rank: '1', usage: 0.99, running: 5, waiting: 40 }));
    expect(await poller.pollNow()).toMatchObject({ kvUsageRatio: 0.99, running: 7, waiting: 40 });
    expect(poller.view().kvUsageSkewRatio).toBeCloseTo(0.89, 10);
    await poller.close();
  });

  it('are remembered for some minutes and no longer', async () => {
    const { poller, clock, answer } = rig({ everySeconds: seconds(10) });
    answer(page({}));
    poller.start();
    await clock.advance(3_000);
    const all = poller.samplesBetween(monotonicInstant(0), monotonicInstant(3_000));
    expect(all.length).toBeGreaterThan(30);
    expect(all.length).toBeLessThan(70);
    await poller.close();
  });
});

describe('peaks', () => {
  it('keep a short rush in view until the window has passed', async () => {
    const { poller, clock, answer } = rig();
    poller.start();
    answer(page({ usage: 0.2 }));
    await clock.advance(1.5);
    answer(page({ usage: 0.98, waiting: 9, running: 4 }));
    await clock.advance(1);
    answer(page({ usage: 0.3 }));
    await clock.advance(30);
    const series = only(poller.view());
    expect(series.gauges).toMatchObject({ kv_cache_usage_ratio: 0.3, requests_waiting: 0 });
    expect(series.peaks).toEqual({ kv_cache_usage_ratio: 0.98, requests_waiting: 9, requests_running: 4 });
    expect(series.means.requests_waiting).toBeCloseTo(9 / 33, 10);
    await clock.advance(40);
    expect(only(poller.view()).peaks).toMatchObject({ kv_cache_usage_ratio: 0.3, requests_waiting: 0 });
    await poller.close();
  });
});

describe('an engine that goes away', () => {
  it('G-122: loses its series once they are stale, counters included, and its time of the last good poll stays', async () => {
    const { poller, clock, answer, log } = rig();
    answer(page({ running: 5, usage: 0.6, preemptions: 3 }));
    poller.start();
    await clock.advance(2.5);
    answer(fetchFailed('connect'));
    await clock.advance(1);
    const failing = poller.view();
    expect(failing).toMatchObject({ up: false, zone: null, lastPollError: 'made to fail: connect' });
    expect(failing.pollFailures.connect).toBe(1);
    await clock.advance(5);
    const stale = poller.view();
    expect(stale).toMatchObject({ up: false, series: [], lastPollAt: failing.lastPollAt });
    expect(await poller.pollNow()).toMatchObject({ up: false, kvUsageRatio: null, running: null, waiting: null });
    expect(messages(log)).toEqual([
      'engine page is read',
      'engine does not offer some metrics',
      'engine page cannot be read',
    ]);
    answer(page({ running: 1, preemptions: 4 }));
    await clock.advance(1);
    expect(only(poller.view()).counters).toMatchObject({ preemptions: 1 });
    expect(messages(log).at(-1)).toBe('engine page is read');
    await poller.close();
  });

  it('is not stale only because it is read seldom', async () => {
    const { poller, clock, answer } = rig({ engine: 'llamacpp', metricsUrl: LLAMACPP_PAGE });
    answer('llamacpp:requests_processing 1\n');
    poller.start();
    await clock.advance(19);
    expect(poller.view().series).toHaveLength(1);
    answer(fetchFailed('timeout'));
    await clock.advance(2);
    expect(poller.view().series).toHaveLength(0);
    await poller.close();
  });

  it('counts each kind of failure, all of them from the start', async () => {
    const { poller, answer } = rig();
    expect(new Set(Object.values(poller.view().pollFailures))).toEqual(new Set([0]));
    for (const reason of ['truncated', 'truncated', 'not_prometheus'] as const) {
      answer(fetchFailed(reason));
      await poller.pollNow();
    }
    expect(poller.view().pollFailures).toMatchObject({ truncated: 2, not_prometheus: 1, connect: 0 });
    await poller.close();
  });

  it('survives a source that throws', async () => {
    const { poller, answer } = rig();
    answer(() => Promise.reject(new Error('broken')));
    expect(await poller.pollNow()).toMatchObject({ up: false });
    await poller.close();
  });
});

describe('an engine that restarts', () => {
  it('G-125: goes on counting from where it was, and the restart is counted', async () => {
    const { poller, clock, answer, log } = rig();
    poller.start();
    answer(page({ preemptions: 1000 }));
    await clock.advance(0.5);
    answer(page({ preemptions: 1003 }));
    await clock.advance(1);
    answer(fetchFailed());
    await clock.advance(40);
    answer(page({ preemptions: 7 }));
    await clock.advance(1);
    answer(page({ preemptions: 9 }));
    await clock.advance(1);
    expect(only(poller.view()).counters).toMatchObject({ preemptions: 12 });
    expect(poller.view().restarts).toBe(1);
    expect(await poller.pollNow()).toMatchObject({ preemptions: 12, restarts: 1 });
    expect(messages(log)).toContain('engine restarted');
    await poller.close();
  });

  it('G-119: says that a source is inconsistent and counts nothing of it', async () => {
    const { poller, clock, answer, log } = rig();
    let turn = 0;
    answer(() => {
      turn += 1;
      return fetched(page({ preemptions: turn % 2 === 0 ? 400 + turn : 1000 + turn }));
    });
    poller.start();
    await clock.advance(10);
    expect(poller.view()).toMatchObject({ inconsistentSource: true, restarts: 0 });
    expect(only(poller.view()).counters.preemptions).toBeLessThan(10);
    expect(messages(log).filter((message) => message.startsWith('engine counters jump'))).toHaveLength(1);
    await poller.close();
  });
});

describe('an engine that hangs', () => {
  it('R-012: is up and hung while its page stands still with a request running', async () => {
    const { poller, clock, answer, log } = rig();
    poller.start();
    answer(pageText('vllm-0.32.0-hang/metrics-before-stop'));
    await clock.advance(0.5);
    answer(pageText('vllm-0.32.0-hang/metrics-stopped-1s'));
    await clock.advance(5);
    expect(poller.view()).toMatchObject({ up: true, hung: false });
    answer(pageText('vllm-0.32.0-hang/metrics-stopped-10s'));
    await clock.advance(8);
    expect(poller.view()).toMatchObject({ up: true, hung: true });
    expect((await poller.pollNow()).hung).toBe(true);
    answer(pageText('vllm-0.32.0-hang/metrics-cont'));
    await clock.advance(1);
    expect(poller.view().hung).toBe(false);
    expect(messages(log).filter((message) => message.includes('progress'))).toEqual([
      'engine hangs: requests but no progress',
      'engine makes progress again',
    ]);
    await poller.close();
  });

  it('G-110: shows how long nothing on its page has changed, and probes that get tokens clear the verdict', async () => {
    const { poller, clock, answer } = rig();
    answer(page({ running: 256, waiting: 90, generation: 5_000 }));
    poller.start();
    await clock.advance(60);
    expect(poller.view().unchangedSeconds).toBeCloseTo(60, 6);
    answer(page({ running: 256, waiting: 90, generation: 5_016 }));
    await clock.advance(1);
    expect(poller.view()).toMatchObject({ hung: false, unchangedSeconds: 0 });
    await poller.close();
  });

  it('is never hung while its page cannot be read', async () => {
    const { poller, clock, answer } = rig();
    answer(page({ running: 1, generation: 5 }));
    poller.start();
    await clock.advance(15);
    expect(poller.view().hung).toBe(true);
    answer(fetchFailed());
    await clock.advance(1);
    expect(poller.view().hung).toBe(false);
    await poller.close();
  });

  it('is found to hang although its page fails now and then, unless it has restarted meanwhile', async () => {
    const { poller, clock, answer } = rig();
    poller.start();
    for (let round = 0; round < 3; round += 1) {
      answer(page({ running: 1, generation: 5 }));
      await clock.advance(5);
      answer(fetchFailed('timeout'));
      await clock.advance(1);
    }
    answer(page({ running: 1, generation: 5 }));
    await clock.advance(1);
    expect(poller.view().hung).toBe(true);
    answer(fetchFailed('timeout'));
    await clock.advance(1);
    answer(page({ running: 1, generation: 3 }));
    await clock.advance(1);
    expect(poller.view()).toMatchObject({ hung: false, restarts: 1 });
    await poller.close();
  });

  it('is found on a rank that is awake beside one that sleeps, and not on the one that sleeps', async () => {
    const rank = (engine: number, tokens: number, awake: number): string =>
      `vllm:num_requests_running{engine="${engine}"} 1\nvllm:generation_tokens_total{engine="${engine}"} ${tokens}\n` +
      `vllm:engine_sleep_state{engine="${engine}",sleep_state="awake"} ${awake}\n` +
      `vllm:engine_sleep_state{engine="${engine}",sleep_state="discard_all"} ${1 - awake}\n`;
    const seen = async (pageAt: (second: number) => string) => {
      const { poller, clock, answer } = rig();
      let second = 0;
      answer(() => fetched(pageAt(second++)));
      poller.start();
      await clock.advance(15);
      await poller.close();
      return poller.view();
    };
    expect(await seen((at) => rank(0, 5, 1) + rank(1, at, 0))).toMatchObject({ hung: true, asleep: false });
    expect(await seen((at) => rank(0, at, 1) + rank(1, 5, 0))).toMatchObject({ hung: false, asleep: false });
    expect(await seen(() => rank(0, 5, 0) + rank(1, 5, 0))).toMatchObject({ hung: false, asleep: true });
  });

  it('waits for at least as long as the engine may leave its numbers unrefreshed', async () => {
    const { poller, clock, answer } = rig({ engine: 'sglang' });
    answer('sglang:num_running_reqs{model_name="m"} 1\nsglang:realtime_tokens_total{model_name="m",mode="decode"} 9\n');
    poller.start();
    await clock.advance(25);
    expect(poller.view().hung).toBe(false);
    await clock.advance(10);
    expect(poller.view().hung).toBe(true);
    await poller.close();
  });
});

describe('an engine that sleeps', () => {
  it('is up, asleep and not hung', async () => {
    const { poller, clock, answer, log } = rig();
    answer(`${page({ running: 1 })}vllm:engine_sleep_state{sleep_state="discard_all",model_name="m"} 1\n`);
    poller.start();
    await clock.advance(30);
    expect(poller.view()).toMatchObject({ up: true, asleep: true, hung: false });
    expect((await poller.pollNow()).asleep).toBe(true);
    expect(messages(log)).toContain('engine is asleep');
    await poller.close();
  });
});

describe('what an engine offers', () => {
  it('is said once in the log, and kept in the view', async () => {
    const { poller, clock, answer, log } = rig({ engine: 'auto', metricsUrl: new URL('http://h/metrics') });
    answer(pageText('llamacpp-2026.10.11549/metrics-load'));
    poller.start();
    await clock.advance(100);
    const said = log.filter((line) => line.message === 'engine does not offer some metrics');
    expect(said.map((line) => line.fields)).toEqual([
      { target: 't', roles: ['kv_cache_usage_ratio', 'preemptions', 'kv_cache_capacity_tokens'] },
    ]);
    expect(poller.view()).toMatchObject({
      engine: 'llamacpp',
      supported: { kv_cache_usage_ratio: false, requests_running: true },
    });
    expect(only(poller.view()).gauges).not.toHaveProperty('kv_cache_usage_ratio');
    await poller.close();
  });

  it('R-005: is left open on a page before the first request, and no rename is seen when it fills', async () => {
    const { poller, clock, answer, log } = rig();
    answer(pageText('vllm-0.8.5-v0/metrics-idle'));
    poller.start();
    await clock.advance(2);
    expect(poller.view()).toMatchObject({
      engine: 'vllm',
      up: true,
      series: [],
      supported: { kv_cache_capacity_tokens: true },
    });
    expect(poller.view().supported).not.toHaveProperty('kv_cache_usage_ratio');
    answer(pageText('vllm-0.8.5-v0/metrics-load1'));
    await clock.advance(1);
    // The first request has been counted from 0: an earlier page did not have it.
    expect(only(poller.view()).counters).toMatchObject({ prompt_tokens: 197, generation_tokens: 177, preemptions: 0 });
    expect(messages(log)).not.toContain('engine metric renamed');
    await poller.close();
  });

  it('R-007: counts a retraction counter that is born at 3', async () => {
    const { poller, clock, answer } = rig({ engine: 'sglang' });
    answer(pageText('sglang-0.5.23/metrics-idle'));
    poller.start();
    await clock.advance(1);
    expect((await poller.pollNow()).preemptions).toBeNull();
    answer(
      `${pageText('sglang-0.5.23/load8-metrics-during')}sglang:num_retracted_requests_total{model_name="tiny",tp_rank="0"} 3\n`,
    );
    await clock.advance(1);
    expect((await poller.pollNow()).preemptions).toBe(3);
    await poller.close();
  });

  it('G-106: is told once when a metric changes its name', async () => {
    const { poller, clock, answer, log } = rig();
    answer('vllm:num_requests_running{model_name="m"} 1\nvllm:gpu_cache_usage_perc{model_name="m"} 0.7\n');
    poller.start();
    await clock.advance(3);
    answer('vllm:num_requests_running{model_name="m"} 1\nvllm:kv_cache_usage_perc{model_name="m"} 0.7\n');
    await clock.advance(3);
    expect(log.filter((line) => line.message === 'engine metric renamed').map((line) => line.fields)).toEqual([
      { target: 't', role: 'kv_cache_usage_ratio', from: 'vllm:gpu_cache_usage_perc', to: 'vllm:kv_cache_usage_perc' },
    ]);
    expect(poller.view().sources.kv_cache_usage_ratio).toBe('vllm:kv_cache_usage_perc');
    await poller.close();
  });

  it('G-124: is nothing on a page that nobody knows, and that is said', async () => {
    const { poller, clock, answer, log } = rig({ engine: 'auto', metricsUrl: new URL('http://h/metrics') });
    answer('acme_requests 3\n');
    poller.start();
    await clock.advance(5);
    expect(poller.view()).toMatchObject({
      engine: 'unknown',
      up: true,
      series: [],
      lastPollError: 'no family of a known engine (acme_)',
    });
    expect(messages(log)).toEqual(['engine page is not recognised']);
    await poller.close();
  });

  it('takes the page of another program for an outage: what comes after it has begun anew', async () => {
    const { poller, clock, answer } = rig({ metricsUrl: new URL('http://h/metrics') });
    const engine = (preemptions: number): string =>
      `vllm:num_requests_running{model_name="m"} 0\nvllm:num_preemptions_total{model_name="m"} ${preemptions}\n`;
    answer(engine(100));
    poller.start();
    await clock.advance(2);
    answer('envoy_requests 3\n');
    await clock.advance(2);
    expect(poller.view()).toMatchObject({ up: false, lastPollError: 'no family of a known engine (envoy_)' });
    answer(engine(2));
    await clock.advance(1);
    expect(poller.view().restarts).toBe(1);
    expect((await poller.pollNow()).preemptions).toBe(2);
    await poller.close();
  });

  it("keeps the engines apart that SGLang's gateway shows as one page, and restarts one of them only", async () => {
    const { poller, clock, answer } = rig({ engine: 'sglang', metricsUrl: new URL('http://h/engine_metrics') });
    const engine = (port: number, tokens: number, retracted: number): string =>
      `sglang:num_running_reqs{model_name="m",worker_addr="http://h:${port}"} 2\n` +
      `sglang:generation_tokens_total{model_name="m",worker_addr="http://h:${port}"} ${tokens}\n` +
      `sglang:num_retracted_requests_total{model_name="m",worker_addr="http://h:${port}"} ${retracted}\n` +
      `process_start_time_seconds{worker_addr="http://h:${port}"} ${1_790_000_000 + port}\n`;
    answer(engine(1, 9000, 40) + engine(2, 5000, 70));
    poller.start();
    await clock.advance(1);
    answer(engine(1, 9001, 41) + engine(2, 3, 0));
    await clock.advance(4);
    expect(poller.view()).toMatchObject({ restarts: 1, inconsistentSource: false });
    expect(poller.view().series.map((one) => [one.dpRank, one.counters.preemptions])).toEqual([
      ['http://h:1', 1],
      ['http://h:2', 0],
    ]);
    expect((await poller.pollNow()).preemptions).toBe(1);
    await poller.close();
  });

  it('is called by its own name, and without a version, when another engine has taken the address', async () => {
    const { poller, answer } = rig({ engine: 'vllm', version: '0.32.0' });
    answer('vllm:num_requests_running 1\n');
    await poller.pollNow();
    expect(poller.view()).toMatchObject({ engine: 'vllm', version: '0.32.0' });
    answer('sglang:num_running_reqs 1\n');
    await poller.pollNow();
    expect(poller.view()).toMatchObject({ engine: 'sglang', version: null });
    await poller.close();
    const host = rig({ engine: 'nim', version: '2.0' });
    host.answer('vllm:num_requests_running 1\n');
    await host.poller.pollNow();
    expect(host.poller.view()).toMatchObject({ engine: 'nim', version: '2.0' });
    await host.poller.close();
  });

  it('tells what moves with the work, and how seldom', async () => {
    const { poller, answer } = rig({ engine: 'sglang' });
    answer(
      'sglang:num_running_reqs 1\nsglang:generation_tokens_total 5\nsglang:realtime_tokens_total{mode="decode"} 70\n',
    );
    expect(await poller.pollNow()).toMatchObject({ generationTokens: 0, progress: 70, progressEverySeconds: 8 });
    answer('sglang:num_running_reqs 1\nsglang:generation_tokens_total 5\n');
    expect(await poller.pollNow()).toMatchObject({ progress: 5, progressEverySeconds: 30 });
    await poller.close();
  });

  it("follows a worker's page that fills up with its engine's families", async () => {
    const { poller, clock, answer } = rig({ engine: 'dynamo' });
    answer(pageText('dynamo-1.6.1-mocker/worker-idle'));
    poller.start();
    await clock.advance(1);
    expect(only(poller.view()).gauges).toEqual({ requests_running: 0 });
    answer(pageText('dynamo-1.6.1-mocker/worker-load-2'));
    await clock.advance(1);
    expect(only(poller.view())).toMatchObject({
      model: 'tiny',
      gauges: { kv_cache_usage_ratio: 0.984375, requests_running: 9, requests_waiting: 5 },
      counters: { preemptions: 5 },
    });
    await poller.close();
  });
});

describe('the zone', () => {
  it('G-112: is overload when the queue grows although the cache is nearly empty', async () => {
    const { poller, clock, answer } = rig();
    let waiting = 0;
    answer(() => {
      waiting += 20;
      return fetched(page({ usage: 0.2, running: 256, waiting, generation: waiting }));
    });
    poller.start();
    await clock.advance(90);
    expect(poller.view().zone).toBe('overload');
    await poller.close();
  });

  it('is overload after a single preemption of the recorded engine, and nothing before three samples', async () => {
    const { poller, clock, answer } = rig();
    poller.start();
    answer(pageText('vllm-0.32.0-preempt/metrics-idle'));
    await clock.advance(1.5);
    expect(poller.view().zone).toBeNull();
    answer(pageText('vllm-0.32.0-preempt/metrics-load'));
    await clock.advance(1);
    expect(poller.view().zone).toBe('overload');
    await poller.close();
  });
});

describe('the view', () => {
  it('carries what the recorded page says, frozen in time', async () => {
    const { poller, answer } = rig({ version: '0.32.0', histograms: true });
    answer(pageText('vllm-0.32.0-preempt/metrics-load'));
    await poller.pollNow();
    const view = poller.view();
    expect(view).toMatchObject({
      target: 't',
      engine: 'vllm',
      version: '0.32.0',
      up: true,
      malformedLines: 0,
      inconsistentSource: false,
      kvUsageSkewRatio: null,
      cacheConfig: { block_size: '32', num_gpu_blocks: '24', kv_cache_size_tokens: '768' },
    });
    expect(only(view)).toMatchObject({ kvCapacityTokens: 768, waitingByReason: { capacity: 8, deferred: 0 } });
    expect(only(view).histograms.ttft).toMatchObject({ count: 12 });
    answer(pageText('vllm-0.32.0-preempt/metrics-load3'));
    await poller.pollNow();
    expect(only(view).counters.preemptions).toBe(0);
    expect(only(poller.view()).counters.preemptions).toBe(27);
    await poller.close();
  });

  it('R-014: keeps peaks and counters of each rank apart', async () => {
    const { poller, answer } = rig();
    answer(pageText('vllm-0.32.0-dp2/metrics-idle'));
    await poller.pollNow();
    answer(pageText('vllm-0.32.0-dp2/metrics-load'));
    const sample = await poller.pollNow();
    answer(pageText('vllm-0.32.0-dp2/metrics-after-load'));
    await poller.pollNow();
    const ranks = poller.view().series.map(({ dpRank, gauges, peaks, counters, kvCapacityTokens }) => ({
      dpRank,
      running: gauges.requests_running,
      peak: peaks.requests_running,
      tokens: counters.generation_tokens,
      kvCapacityTokens,
    }));
    expect(ranks).toEqual([
      { dpRank: '0', running: 0, peak: 4, tokens: 1120, kvCapacityTokens: 262_144 },
      { dpRank: '1', running: 0, peak: 4, tokens: 1120, kvCapacityTokens: 262_144 },
    ]);
    expect(sample).toMatchObject({
      running: 8,
      waiting: 0,
      kvUsageRatio: 0.0039081582804103565,
      generationTokens: 1708,
    });
    await poller.close();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOwnCounters, type OwnCounters } from '../../../src/engine/counters.ts';
import { keyText } from '../../../src/engine/join.ts';
import type { NormalizedPage } from '../../../src/engine/normalize.ts';
import { normalized } from '../../support/pages.ts';

const KEY = keyText({ model: 'm', dpRank: '' });
const NOW = 1_796_000_000;

/** A page of vLLM with this many preemptions; null leaves the counter out. */
function page(preemptions: number | null, start: number | null = null): NormalizedPage {
  const counter = preemptions === null ? '' : `vllm:num_preemptions_total{model_name="m"} ${preemptions}\n`;
  const process = start === null ? '' : `process_start_time_seconds ${start}\n`;
  return normalized(`vllm:num_requests_running{model_name="m"} 1\n${process}${counter}`);
}

interface Poll {
  readonly page: NormalizedPage;
  /** Polls failed before this one. */
  readonly gap?: boolean;
}

/** Own preemptions after each poll; the polls are a second apart. */
function follow(polls: readonly Poll[], counters: OwnCounters = createOwnCounters()): readonly (number | null)[] {
  return polls.map(({ page: read, gap = false }, index) => {
    counters.take(read, { gap, lastGoodAt: index === 0 ? null : NOW + index - 1 });
    return counters.total('preemptions');
  });
}

const polls = (values: readonly (number | null)[]): readonly Poll[] => values.map((value) => ({ page: page(value) }));

describe('own counters', () => {
  it('start at 0 and add what the engine adds', () => {
    expect(follow(polls([1000, 1003, 1003, 1010]))).toEqual([0, 3, 3, 10]);
  });

  it('are null for what the engine has never shown', () => {
    const counters = createOwnCounters();
    expect(follow(polls([null, null]), counters)).toEqual([null, null]);
    expect(counters.ofSeries(KEY)).toEqual({});
  });

  it('R-007: rise by the whole value of a counter that was not there at an earlier poll', () => {
    expect(follow(polls([null, null, 3, 4]))).toEqual([null, null, 3, 4]);
  });

  it('R-007: stay at 0 for a counter that our first poll finds there', () => {
    expect(follow(polls([3, 3, 5]))).toEqual([0, 0, 2]);
  });

  it('R-007: count a series of another model that is born later', () => {
    const counters = createOwnCounters();
    const line = (model: string, value: number): string =>
      `vllm:num_preemptions_total{model_name="${model}"} ${value}\n`;
    counters.take(normalized(line('a', 10)), { gap: false, lastGoodAt: null });
    counters.take(normalized(line('a', 10) + line('b', 2)), { gap: false, lastGoodAt: NOW });
    expect(counters.total('preemptions')).toBe(2);
    expect(counters.ofSeries(keyText({ model: 'b', dpRank: '' }))).toEqual({ preemptions: 2 });
  });

  it('do not count again what is missing from one page and back on the next', () => {
    expect(follow(polls([1000, null, 1002, null, null, 1002]))).toEqual([0, 0, 2, 2, 2, 2]);
  });

  it('G-125: take a fall for a restart once it has lasted, and then lose nothing of it', () => {
    const counters = createOwnCounters();
    expect(follow(polls([1000, 1003, 0, 7, 9, 9]), counters).at(-1)).toBe(3 + 7 + 2);
    expect([counters.restarts(), counters.inconsistent()]).toEqual([1, false]);
  });

  it('G-125: take a fall across an outage for a restart at once', () => {
    const counters = createOwnCounters();
    const seen = follow([{ page: page(1000) }, { page: page(1003) }, { page: page(5), gap: true }], counters);
    expect([seen, counters.restarts()]).toEqual([[0, 3, 8], 1]);
  });

  it('G-125: take a younger process for a restart at once, even where no counter fell', () => {
    const counters = createOwnCounters();
    const seen = follow([{ page: page(0, NOW - 500) }, { page: page(4, NOW) }], counters);
    expect([seen, counters.restarts()]).toEqual([[0, 4], 1]);
    const young = createOwnCounters();
    follow([{ page: page(0, NOW - 1) }, { page: page(4, NOW + 0.5) }], young);
    expect(young.restarts()).toBe(1);
    const fell = createOwnCounters();
    expect(follow([{ page: page(90, NOW - 500) }, { page: page(4, NOW) }], fell)).toEqual([0, 4]);
  });

  it('take what a process counted that was there long before it was seen for history', () => {
    const old = (value: number): Poll => ({ page: page(value, NOW - 90_000) });
    const other = (value: number, gap = false): Poll => ({ page: page(value, NOW - 50_000), gap });
    const moved = createOwnCounters();
    expect(follow([old(10), old(11), other(700), other(700), other(702), other(702)], moved).at(-1)).toBe(1 + 2);
    const fell = createOwnCounters();
    expect(follow([old(1000), other(700), other(700), other(702)], fell).at(-1)).toBe(2);
    const lost = createOwnCounters();
    expect(follow([old(10), old(11), other(700, true), other(703)], lost)).toEqual([0, 1, 1, 4]);
    expect([moved, fell, lost].map((one) => [one.restarts(), one.inconsistent()])).toEqual([
      [1, false],
      [1, false],
      [1, false],
    ]);
  });

  it('never add the difference of two processes that answer in turn, the second of which counted more', () => {
    const counters = createOwnCounters();
    const a = (value: number): Poll => ({ page: page(value, NOW - 90_000) });
    const b = (value: number): Poll => ({ page: page(value, NOW - 50_000) });
    expect(follow([a(10), b(900), a(11), b(901), a(12), b(902)], counters).at(-1)).toBeLessThanOrEqual(2);
    expect([counters.inconsistent(), counters.restarts()]).toEqual([true, 0]);
  });

  it('are not put off by a start time that is reckoned anew for each page', () => {
    const counters = createOwnCounters();
    const at = (value: number, jitter: number): Poll => ({ page: page(value, NOW - 9000 + jitter) });
    expect(follow([at(5, 0), at(6, 1), at(7, 1), at(8, 0), at(9, 1), at(9, 0)], counters).at(-1)).toBe(4);
    expect([counters.restarts(), counters.inconsistent()]).toEqual([0, false]);
  });

  it('see a restart in another kind of engine behind an outage', () => {
    const vllm = normalized(
      'vllm:prompt_tokens_total{model_name="m"} 5\nvllm:generation_tokens_total{model_name="m"} 5\n',
    );
    const sglang = normalized(
      'sglang:prompt_tokens_total{model_name="m"} 9\nsglang:generation_tokens_total{model_name="m"} 7\n',
    );
    const counters = createOwnCounters();
    follow([{ page: vllm }, { page: sglang, gap: true }], counters);
    expect([counters.restarts(), counters.total('generation_tokens')]).toEqual([1, 7]);
  });

  it('see a restart in counters that are not born yet, behind an outage', () => {
    const of = (model: string, retracted: number | null): NormalizedPage =>
      normalized(
        `sglang:num_running_reqs{model_name="${model}"} 1\n` +
          (retracted === null ? '' : `sglang:num_retracted_requests_total{model_name="${model}"} ${retracted}\n`),
      );
    const behindOutage = (model: string): readonly [OwnCounters, readonly (number | null)[]] => {
      const counters = createOwnCounters();
      const pages = [of('a', 2), of(model, null), of(model, 3)];
      return [
        counters,
        follow(
          pages.map((read, at) => ({ page: read, gap: at === 1 })),
          counters,
        ),
      ];
    };
    for (const [counters, seen] of [behindOutage('a'), behindOutage('b')]) {
      expect([seen.at(-1), counters.restarts()]).toEqual([3, 1]);
    }
  });

  it('see a restart in another model behind an outage, where nothing could fall', () => {
    const of = (model: string, value: number): NormalizedPage =>
      normalized(`vllm:num_preemptions_total{model_name="${model}"} ${value}\n`);
    const counters = createOwnCounters();
    expect(follow([{ page: of('a', 10) }, { page: of('b', 2), gap: true }, { page: of('b', 3) }], counters)).toEqual([
      0, 2, 3,
    ]);
    expect(counters.restarts()).toBe(1);
    const grown = createOwnCounters();
    const both = normalized(
      'vllm:num_preemptions_total{model_name="a"} 1\nvllm:num_preemptions_total{model_name="b"} 2\n',
    );
    follow([{ page: of('a', 1) }, { page: both, gap: true }], grown);
    expect(grown.restarts()).toBe(0);
  });

  it('take what no engine can have counted since the last poll for the history of another one', () => {
    const of = (tokens: number, preemptions: number, gap = false): Poll => ({
      page: normalized(
        `vllm:generation_tokens_total{model_name="m"} ${tokens}\nvllm:num_preemptions_total{model_name="m"} ${preemptions}\n`,
      ),
      gap,
    });
    const a = (at: number): Poll => of(9e7 + at, 50);
    const b = (at: number): Poll => of(4e7 + at, 20);
    const sticky = [a(0), a(1), b(2), b(3), b(4), b(5), a(6), a(7), a(8), a(9)];
    expect(follow(sticky).at(-1)).toBe(0);
    const counters = createOwnCounters();
    expect(follow([b(0), a(1), b(2), a(3), b(4), a(5)], counters).at(-1)).toBe(0);
    expect([counters.inconsistent(), counters.restarts()]).toEqual([true, 0]);
    expect(follow([a(0), of(4e7, 20, true), of(4e7 + 9, 21)])).toEqual([0, 0, 1]);
    // Many long requests that end together, and an engine that begins anew, are neither.
    expect(follow([a(0), of(9e7 + 2e6, 60), of(9e7 + 2e6, 61)])).toEqual([0, 10, 11]);
    expect(follow([a(0), of(900, 2), of(1900, 3), of(2900, 4)]).at(-1)).toBe(4);
  });

  it('start again only for those engines of a page of which a counter fell', () => {
    const rank = (engine: number, tokens: number, preemptions: number): string =>
      `vllm:generation_tokens_total{engine="${engine}"} ${tokens}\n` +
      `vllm:num_preemptions_total{engine="${engine}"} ${preemptions}\n` +
      `process_start_time_seconds{pod="${engine}"} ${NOW - tokens}\n`;
    const both = (a: number, b: number): Poll => ({ page: normalized(rank(0, 9000 + a, a) + rank(1, b, b)) });
    const counters = createOwnCounters();
    expect(follow([both(500, 40), both(501, 2), both(502, 3), both(502, 3)], counters)).toEqual([0, 0, 0, 2 + 3]);
    expect(counters.restarts()).toBe(1);
  });

  it('start again for what an engine counts in a series apart from its tokens', () => {
    const engine = (tokens: number, retracted: number | null): NormalizedPage =>
      normalized(
        `sglang:num_running_reqs{dp_rank="0"} 1\nsglang:generation_tokens_total ${tokens}\n` +
          (retracted === null ? '' : `sglang:num_retracted_requests_total{dp_rank="0"} ${retracted}\n`),
      );
    const counters = createOwnCounters();
    const pages = [engine(9000, 2), engine(50, null), engine(90, 3)];
    expect(
      follow(
        pages.map((read, at) => ({ page: read, gap: at === 1 })),
        counters,
      ),
    ).toEqual([0, 0, 3]);
    expect(counters.restarts()).toBe(1);
  });

  it('G-125: do not take an outage alone for a restart', () => {
    const counters = createOwnCounters();
    expect(follow([{ page: page(10) }, { page: page(12), gap: true }], counters)).toEqual([0, 2]);
    expect(counters.restarts()).toBe(0);
  });

  it('G-119: never add the jumps of several processes that answer in turn, and say so', () => {
    const counters = createOwnCounters();
    const seen = follow(polls([1000, 400, 1001, 401, 1002, 402, 1003, 403]), counters);
    expect(Math.max(...seen.map((value) => value ?? 0))).toBeLessThanOrEqual(3);
    expect([counters.inconsistent(), counters.restarts()]).toEqual([true, 0]);
  });

  it('G-119: see at once that an older process answers than before', () => {
    const counters = createOwnCounters();
    const a = (value: number): Poll => ({ page: page(value, NOW - 900) });
    const b = (value: number): Poll => ({ page: page(value, NOW - 899) });
    expect(follow([a(1000), b(400), a(1001), b(401), a(1002), b(402)], counters).at(-1)).toBeLessThanOrEqual(2);
    expect([counters.inconsistent(), counters.restarts()]).toEqual([true, 0]);
  });

  it('G-119: count again once the source has been consistent for a while', () => {
    const counters = createOwnCounters();
    const steady = Array.from({ length: 70 }, (_, index) => 2000 + index);
    const seen = follow(polls([1000, 400, 1001, 401, 1002, ...steady]), counters);
    expect(counters.inconsistent()).toBe(false);
    const [before, after] = [seen.at(-2) ?? 0, seen.at(-1) ?? 0];
    expect(after - before).toBe(1);
    expect(after).toBeLessThan(100);
  });

  it('go on from where they are when the engine gives the counter another name', () => {
    const counters = createOwnCounters();
    const named = (name: string, value: number): NormalizedPage =>
      normalized(`vllm:num_requests_running{model_name="m"} 1\nvllm:${name}{model_name="m"} ${value}\n`);
    const take = (read: NormalizedPage, last: number | null): void =>
      counters.take(read, { gap: false, lastGoodAt: last });
    take(named('gpu_prefix_cache_hits_total', 100), null);
    take(named('gpu_prefix_cache_hits_total', 110), NOW);
    take(named('prefix_cache_hits_total', 9_000), NOW + 1);
    take(named('prefix_cache_hits_total', 9_005), NOW + 2);
    expect(counters.total('prefix_cache_hits')).toBe(15);
  });

  it('G-121: leave the warm-up of the engine out, so that what they show is what happened since', () => {
    const counters = createOwnCounters();
    const read = (queries: number, hits: number): NormalizedPage =>
      normalized(
        `vllm:prefix_cache_queries_total{model_name="m"} ${queries}\nvllm:prefix_cache_hits_total{model_name="m"} ${hits}\n`,
      );
    counters.take(read(1_000_000, 0), { gap: false, lastGoodAt: null });
    counters.take(read(1_010_000, 9_000), { gap: false, lastGoodAt: NOW });
    expect((counters.total('prefix_cache_hits') ?? 0) / (counters.total('prefix_cache_queries') ?? 1)).toBe(0.9);
  });

  it('G-113: pass hits and queries on as the engine reports them, with the preemptions of the same polls beside them', () => {
    const counters = createOwnCounters();
    const read = (queries: number, hits: number, preemptions: number): NormalizedPage =>
      normalized(
        `vllm:prefix_cache_queries_total{model_name="m"} ${queries}\nvllm:prefix_cache_hits_total{model_name="m"} ${hits}\n` +
          `vllm:num_preemptions_total{model_name="m"} ${preemptions}\n`,
      );
    counters.take(read(1_000, 100, 0), { gap: false, lastGoodAt: null });
    counters.take(read(11_000, 9_100, 300), { gap: false, lastGoodAt: NOW });
    expect(counters.ofSeries(KEY)).toMatchObject({
      prefix_cache_queries: 10_000,
      prefix_cache_hits: 9_000,
      preemptions: 300,
    });
  });

  it('count a gauge of the events since the last report when it changes, and never take its fall for a restart', () => {
    const counters = createOwnCounters();
    const read = (retracted: number): NormalizedPage =>
      normalized(
        `sglang:num_running_reqs{model_name="m"} 1\nsglang:num_retracted_reqs{model_name="m",pid="7"} ${retracted}\n`,
      );
    const seen = [0, 3, 3, 0, 0, 2, 1].map((retracted, index) => {
      counters.take(read(retracted), { gap: false, lastGoodAt: index === 0 ? null : NOW + index });
      return counters.total('preemptions');
    });
    expect(seen).toEqual([0, 3, 3, 3, 3, 5, 6]);
    expect([counters.restarts(), counters.inconsistent()]).toEqual([0, false]);
  });

  it('never fall, and after a restart have risen by exactly what the engine counted', () => {
    const life = fc.array(fc.nat(50), { minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(life, life, (first, second) => {
        const counters = createOwnCounters();
        const cumulative = (steps: readonly number[], from: number): readonly number[] =>
          steps.map((_, index) => from + steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0));
        const before = cumulative(first, 10_000);
        const after = cumulative(second, 0);
        const seen = follow(polls([...before, ...after]), counters).map((value) => value ?? 0);
        expect([...seen].sort((a, b) => a - b)).toEqual(seen);
        expect(seen.at(-1)).toBe((before.at(-1) ?? 0) - (before[0] ?? 0) + (after.at(-1) ?? 0));
        expect(counters.restarts()).toBe(1);
      }),
      { numRuns: 25 },
    );
  });

  it('stay bounded where replicas come and go under ever new names', () => {
    const counters = createOwnCounters();
    for (let round = 0; round < 30; round += 1) {
      const lines = Array.from(
        { length: 100 },
        (_, index) => `ray_vllm:num_preemptions_total{model_name="m",ReplicaId="r${round}-${index}"} 1\n`,
      );
      counters.take(normalized(`ray_vllm:num_requests_running{model_name="m"} 1\n${lines.join('')}`), {
        gap: false,
        lastGoodAt: round === 0 ? null : NOW + round,
      });
    }
    // The first round is history; each later replica was born with one event.
    expect(counters.total('preemptions')).toBe(29 * 100);
  });
});

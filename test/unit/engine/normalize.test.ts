import { describe, expect, it } from 'vitest';
import { identifyPage } from '../../../src/engine/identify.ts';
import type { EngineName } from '../../../src/engine/types.ts';
import { normalized, onlySeries, pageText, parsedPage } from '../../support/pages.ts';

const gaugesOf = (text: string) => onlySeries(normalized(text)).gauges;
const usageOf = (text: string): number | null => gaugesOf(text).kv_cache_usage_ratio ?? null;

// A page is filled, and so its silence means something, once the scheduler's gauges are there.
const RUNNING = 'vllm:num_requests_running{model_name="m"} 1\n';

describe('KV usage', () => {
  it.each([
    { id: 'old name only', text: 'vllm:gpu_cache_usage_perc{model_name="m"} 0.7\n', source: 'gpu_cache_usage_perc' },
    {
      id: 'both, equal',
      text: 'vllm:gpu_cache_usage_perc{model_name="m"} 0.7\nvllm:kv_cache_usage_perc{model_name="m"} 0.7\n',
      source: 'kv_cache_usage_perc',
    },
    { id: 'new name only', text: 'vllm:kv_cache_usage_perc{model_name="m"} 0.7\n', source: 'kv_cache_usage_perc' },
    {
      id: 'both, the old one stuck at 0',
      text: 'vllm:gpu_cache_usage_perc{model_name="m"} 0\nvllm:kv_cache_usage_perc{model_name="m"} 0.7\n',
      source: 'kv_cache_usage_perc',
    },
  ])('G-106: is one value under one name whatever the page calls it ($id)', ({ text, source }) => {
    const page = normalized(text);
    expect(onlySeries(page).gauges.kv_cache_usage_ratio).toBe(0.7);
    expect(page.sources.kv_cache_usage_ratio).toBe(`vllm:${source}`);
  });

  it('R-004: is not doubled, nor are the prefix counters, where both names are shown', () => {
    const series = onlySeries(normalized(pageText('vllm-0.10.2-v1/metrics-load1')));
    expect(series.gauges.kv_cache_usage_ratio).toBe(0.9565217391304348);
    expect(series.counters).toMatchObject({ prefix_cache_queries: 1521, prefix_cache_hits: 0 });
  });

  it.each([
    { id: 'G-095 NaN', value: 'NaN', kept: null },
    { id: 'G-095 +Inf', value: '+Inf', kept: null },
    { id: 'G-095 -Inf', value: '-Inf', kept: null },
    { id: 'below zero', value: '-0.39', kept: null },
    { id: 'a percentage', value: '82.0', kept: null },
    { id: 'rounded over the edge', value: '1.0004', kept: 1 },
    { id: 'full', value: '1', kept: 1 },
    { id: 'empty', value: '0', kept: 0 },
  ])('is kept only where it can be a ratio ($id)', ({ value, kept }) => {
    const page = normalized(`${RUNNING}vllm:kv_cache_usage_perc{model_name="m"} ${value}\n`);
    expect(onlySeries(page).gauges.kv_cache_usage_ratio ?? null).toBe(kept);
    expect(page.outOfRange).toBe(kept === Number(value) ? 0 : 1);
  });

  it('is the highest of the processes that repeat it', () => {
    const pid = (number: number, value: number): string =>
      `vllm:kv_cache_usage_perc{engine="0",model_name="m",pid="${number}"} ${value}\n`;
    expect(usageOf(pid(1, 0) + pid(2, 0.83) + pid(3, 0))).toBe(0.83);
  });

  it('G-107: is absent and called unsupported where the engine has dropped it', () => {
    const page = normalized('llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n');
    expect(onlySeries(page).gauges).toEqual({ requests_running: 1, requests_waiting: 0 });
    expect(page.supported).toMatchObject({ kv_cache_usage_ratio: false, requests_running: true });
  });

  it('is still read from a llama.cpp that has it', () => {
    expect(usageOf('llamacpp:requests_processing 1\nllamacpp:kv_cache_usage_ratio 0.25\n')).toBe(0.25);
  });
});

describe('hit rates of the last batch', () => {
  it.each(['0.82', '0.0', '82.0'])('G-115: %s is not taken for a level: only counters are, where they are', (rate) => {
    const old = `sglang:num_running_reqs{model_name="m"} 1\nsglang:cache_hit_rate{model_name="m"} ${rate}\n`;
    const series = onlySeries(normalized(old));
    expect([series.gauges, series.counters]).toEqual([{ requests_running: 1 }, {}]);
    const counters = 'sglang:cached_tokens_total{model_name="m"} 4\nsglang:prompt_tokens_total{model_name="m"} 10\n';
    expect(onlySeries(normalized(old + counters)).counters).toMatchObject({
      prefix_cache_hits: 4,
      prefix_cache_queries: 10,
    });
  });
});

describe('ranks', () => {
  const page = (rank: number, usage: number, waiting: number): string =>
    `vllm:kv_cache_usage_perc{engine="${rank}",model_name="m"} ${usage}\n` +
    `vllm:num_requests_waiting{engine="${rank}",model_name="m"} ${waiting}\n`;

  it('G-109: stay apart', () => {
    const { series } = normalized(page(0, 0.1, 0) + page(1, 0.99, 40));
    expect(series.map(({ dpRank, gauges }) => [dpRank, gauges])).toEqual([
      ['0', { kv_cache_usage_ratio: 0.1, requests_waiting: 0 }],
      ['1', { kv_cache_usage_ratio: 0.99, requests_waiting: 40 }],
    ]);
  });

  it('R-014: have their own capacity, which is not the sum that the block count shows', () => {
    const { series } = normalized(pageText('vllm-0.32.0-dp2/metrics-load'));
    expect(series.map(({ dpRank, kvCapacityTokens }) => [dpRank, kvCapacityTokens])).toEqual([
      ['0', 262_144],
      ['1', 262_144],
    ]);
  });

  it('of other parallelisms repeat a quantity and are not added up', () => {
    const line = (tp: number, pp: number, dp: number, running: number): string =>
      `sglang:num_running_reqs{model_name="m",tp_rank="${tp}",pp_rank="${pp}",moe_ep_rank="${tp}",dp_rank="${dp}"} ${running}\n`;
    const { series } = normalized(line(0, 0, 0, 3) + line(1, 0, 0, 3) + line(0, 1, 0, 3) + line(0, 0, 1, 5));
    expect(series.map(({ dpRank, gauges }) => [dpRank, gauges.requests_running])).toEqual([
      ['0', 3],
      ['1', 5],
    ]);
  });
});

describe('requests', () => {
  it('R-008: wait once, with the reasons beside the number and not in it', () => {
    const series = onlySeries(normalized(pageText('vllm-0.32.0-plain2/metrics-load')));
    expect(series.gauges.requests_waiting).toBe(6);
    expect(series.waitingByReason).toEqual({ capacity: 6, deferred: 0 });
  });

  it('are not counted again by priority', () => {
    const line = (priority: string, waiting: number): string =>
      `sglang:num_queue_reqs{model_name="m",priority="${priority}",tp_rank="0"} ${waiting}\n`;
    expect(gaugesOf(line('', 7) + line('1', 4) + line('2', 3)).requests_waiting).toBe(7);
  });

  it('wait also while their grammar is compiled', () => {
    const text = 'sglang:num_queue_reqs{model_name="m"} 2\nsglang:num_grammar_queue_reqs{model_name="m"} 3\n';
    expect(gaugesOf(`sglang:num_running_reqs{model_name="m"} 1\n${text}`).requests_waiting).toBe(5);
  });
});

describe('absence', () => {
  it('R-005: means nothing on a page before the first request', () => {
    const page = normalized(pageText('vllm-0.8.5-v0/metrics-idle'));
    expect(page.series).toEqual([]);
    expect(page.supported).toEqual({ kv_cache_capacity_tokens: true });
    expect(page.cacheConfig).toMatchObject({ block_size: '16', num_gpu_blocks: '48' });
  });

  it('R-006: hit rates of -1 are nowhere', () => {
    const page = normalized(pageText('vllm-0.8.5-v0-hidden/metrics-load3'));
    const { gauges, counters } = onlySeries(page);
    expect([...Object.values(gauges), ...Object.values(counters)].every((value) => value >= 0)).toBe(true);
    expect(page.supported).toMatchObject({ prefix_cache_hits: false, prefix_cache_queries: false });
  });

  it('G-103: a declared counter is offered, and absent until it has a sample', () => {
    const declared = '# HELP vllm:num_preemptions x\n# TYPE vllm:num_preemptions counter\n';
    const before = normalized(RUNNING + declared);
    expect(before.supported.preemptions).toBe(true);
    expect(onlySeries(before).counters).toEqual({});
    const after = normalized(`${RUNNING}${declared}vllm:num_preemptions_total{model_name="m",engine="0"} 1\n`);
    expect(after.series.map(({ counters }) => counters)).toContainEqual({ preemptions: 1 });
  });

  it('of a counter that is born with its first event is left open', () => {
    const page = normalized(pageText('sglang-0.5.23/metrics-idle'));
    expect(page.supported).not.toHaveProperty('generation_tokens');
    expect(onlySeries(page).counters).toEqual({});
  });

  it('G-104: a block count of "None" gives no capacity', () => {
    const config = (blocks: string): string => `vllm:cache_config_info{block_size="16",num_gpu_blocks="${blocks}"} 1\n`;
    expect(onlySeries(normalized(RUNNING + config('None'))).kvCapacityTokens).toBeNull();
    expect(onlySeries(normalized(RUNNING + config('100'))).kvCapacityTokens).toBe(1_600);
    expect(normalized(RUNNING + config('None')).cacheConfig).toEqual({ block_size: '16' });
  });
});

describe('labels', () => {
  it.each([
    { id: 'a path', label: '/mnt/models/llama-3', model: '/mnt/models/llama-3' },
    { id: 'undefined', label: 'undefined', model: '' },
    { id: 'None', label: 'None', model: '' },
    { id: 'with quotes', label: 'C:\\\\m\\"x', model: 'C:\\m"x' },
  ])("G-118: the engine's own name of its model is a label of its own ($id)", ({ label, model }) => {
    const series = onlySeries(normalized(`vllm:num_requests_running{model_name="${label}"} 2\n`));
    expect(series).toMatchObject({ model, gauges: { requests_running: 2 } });
  });

  it('of a part are added up to the whole', () => {
    const line = (streaming: string, tokens: number): string =>
      `sglang:prompt_tokens_total{model_name="m",is_streaming="${streaming}"} ${tokens}\n`;
    expect(onlySeries(normalized(line('true', 122) + line('false', 49))).counters.prompt_tokens).toBe(171);
  });

  it('that name no model belong to the one model that there is, and to nobody where there are several', () => {
    const model = (name: string): string => `dynamo_frontend_active_requests{model="${name}"} 4\n`;
    const stages = 'dynamo_frontend_stage_requests{phase="",stage="route"} 2\n';
    expect(onlySeries(normalized(model('a') + stages))).toMatchObject({
      model: 'a',
      gauges: { requests_running: 4, requests_waiting: 2 },
    });
    const several = normalized(model('a') + model('b') + stages).series;
    expect(several.map((series) => [series.model, series.gauges.requests_waiting ?? null])).toEqual([
      ['a', null],
      ['b', null],
      ['', 2],
    ]);
  });

  it('are bounded: a page of a thousand models is cut', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `vllm:num_requests_running{model_name="m${index}"} 1\n`);
    expect(normalized(lines.join('')).series).toHaveLength(200);
  });
});

describe('spellings', () => {
  it.each<{ id: string; text: string; engine: EngineName; gauges: object }>([
    {
      id: 'sglang:',
      text: 'sglang:num_running_reqs 1\nsglang:num_queue_reqs 3\n',
      engine: 'sglang',
      gauges: { requests_running: 1, requests_waiting: 3 },
    },
    {
      id: 'sglang_',
      text: 'sglang_num_running_reqs 1\nsglang_num_queue_reqs 3\n',
      engine: 'sglang',
      gauges: { requests_running: 1, requests_waiting: 3 },
    },
    {
      id: 'trtllm_',
      text: 'trtllm_kv_cache_utilization 0.4\n',
      engine: 'tensorrt-llm',
      gauges: { kv_cache_usage_ratio: 0.4 },
    },
    {
      id: 'trtllm:',
      text: 'trtllm:kv_cache_utilization 0.4\n',
      engine: 'tensorrt-llm',
      gauges: { kv_cache_usage_ratio: 0.4 },
    },
    { id: 'vllm_', text: 'vllm_num_requests_running 4\n', engine: 'vllm', gauges: { requests_running: 4 } },
    {
      id: 'ray_vllm:',
      text: 'ray_vllm:num_requests_running 4\n',
      engine: 'ray-serve',
      gauges: { requests_running: 4 },
    },
    {
      id: 'ray_vllm_',
      text: 'ray_vllm_num_requests_running 4\n',
      engine: 'ray-serve',
      gauges: { requests_running: 4 },
    },
    {
      id: 'ray_sglang_',
      text: 'ray_sglang_num_running_reqs 4\n',
      engine: 'ray-serve',
      gauges: { requests_running: 4 },
    },
  ])('G-124: $id is understood', ({ text, engine, gauges }) => {
    const found = identifyPage(parsedPage(text));
    expect(found).toMatchObject({ dialect: { engine } });
    expect(gaugesOf(text)).toEqual(gauges);
  });

  it('G-124: an unknown prefix is said to be unknown, with what is there', () => {
    expect(identifyPage(parsedPage('acme_llm_running 1\npython_info 1\n'))).toEqual({
      why: 'unrecognised',
      families: ['acme_', 'python_'],
    });
  });

  it("a router's page is not taken for an engine's", () => {
    const text =
      'vllm:num_requests_running{server="http://10.0.0.1:8000"} 3\nvllm:num_requests_running{server="http://10.0.0.2:8000"} 0\n';
    expect(identifyPage(parsedPage(text))).toMatchObject({ why: 'router' });
  });

  it("names of a gateway that begin like an engine's are not an engine's", () => {
    expect(identifyPage(parsedPage('vllm_router_requests 1\n'))).toMatchObject({ why: 'unrecognised' });
  });
});

describe('timestamps on the page', () => {
  it('G-094: a value that was stamped long ago is left out, a fresh or unstamped one is used', () => {
    const nowMs = 1_796_000_000_000;
    const line = (name: string, stamp: string): string => `vllm:${name}{model_name="m"} 1${stamp}\n`;
    const text =
      line('num_requests_running', ` ${nowMs - 5_000}`) +
      line('num_requests_waiting', ' 1700000000000') +
      line('kv_cache_usage_perc', '');
    expect(gaugesOf(text)).toEqual({ requests_running: 1, kv_cache_usage_ratio: 1 });
  });
});

describe('latency histograms', () => {
  const page = (text: string) => onlySeries(normalized(text, { histograms: true })).histograms;

  it('are left alone unless they are wanted', () => {
    expect(onlySeries(normalized(pageText('vllm-0.32.0-plain2/metrics-load'))).histograms).toEqual({});
  });

  it('are read with their bounds, cumulative counts, count and sum', () => {
    const { ttft } = page(
      'vllm:num_requests_running{model_name="m"} 1\n' +
        'vllm:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} 1\n' +
        'vllm:time_to_first_token_seconds_bucket{le="0.001",model_name="m"} 0\n' +
        'vllm:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 3\n' +
        'vllm:time_to_first_token_seconds_count{model_name="m"} 3\n' +
        'vllm:time_to_first_token_seconds_sum{model_name="m"} 4.5\n',
    );
    expect(ttft).toEqual({ bounds: [0.001, 0.1], counts: [0, 1], count: 3, sum: 4.5 });
  });

  it('leave requests out that do not stream, whose first token is their whole answer', () => {
    expect(page(pageText('sglang-0.5.23/load8-metrics-after')).ttft).toMatchObject({
      count: 17,
      sum: 1.6252201630013587,
    });
  });

  it.each([
    { id: 'falling counts', bucket: '9' },
    { id: 'a bucket that is no number', bucket: 'NaN' },
  ])('are left out with $id', ({ bucket }) => {
    const text =
      'vllm:num_requests_running{model_name="m"} 1\n' +
      `vllm:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} ${bucket}\n` +
      'vllm:time_to_first_token_seconds_bucket{le="1",model_name="m"} 2\n' +
      'vllm:time_to_first_token_seconds_count{model_name="m"} 3\n' +
      'vllm:time_to_first_token_seconds_sum{model_name="m"} 4.5\n';
    expect(page(text)).toEqual({});
  });
});

describe('sleep', () => {
  const state = (awake: number, level1: number): string =>
    RUNNING +
    `vllm:engine_sleep_state{model_name="m",sleep_state="awake"} ${awake}\n` +
    `vllm:engine_sleep_state{model_name="m",sleep_state="weights_offloaded"} ${level1}\n`;

  it('is told from the state that is set', () => {
    expect([normalized(state(1, 0)).asleep, normalized(state(0, 1)).asleep]).toEqual([false, true]);
    expect(normalized(RUNNING).asleep).toBe(false);
  });
});

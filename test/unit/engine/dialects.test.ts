import { describe, expect, it } from 'vitest';
import { DIALECTS } from '../../../src/engine/dialects/table.ts';
import { identifyPage } from '../../../src/engine/identify.ts';
import {
  COUNTER_ROLES,
  ENGINE_NAMES,
  type EngineName,
  type EngineRole,
  GAUGE_ROLES,
  HISTOGRAM_ROLES,
} from '../../../src/engine/types.ts';
import { normalized, pageNames, pageText, parsedPage, readerFor } from '../../support/pages.ts';

interface Expected {
  readonly page: string;
  readonly engine: EngineName;
  /** One entry a series; only what is there. */
  readonly series: readonly {
    readonly model: string;
    readonly rank?: string;
    readonly gauges?: readonly [usage: number | null, running: number | null, waiting: number | null];
    readonly counters?: Readonly<Record<string, number>>;
    readonly capacity?: number;
    readonly histograms?: Readonly<Record<string, readonly [count: number, sum: number]>>;
  }[];
  readonly unsupported: readonly EngineRole[];
}

const NO_PREFIX_CACHE = ['prefix_cache_queries', 'prefix_cache_hits'] as const;
const NO_HISTOGRAMS = [...HISTOGRAM_ROLES];

const TABLE: readonly Expected[] = [
  {
    page: 'vllm-0.4.0-handwritten/metrics',
    engine: 'vllm',
    series: [
      {
        model: 'facebook/opt-125m',
        gauges: [0.985, 3, 2],
        counters: { prompt_tokens: 1200, generation_tokens: 3400 },
        capacity: 16_000,
      },
    ],
    unsupported: ['preemptions', ...NO_PREFIX_CACHE, ...NO_HISTOGRAMS],
  },
  {
    page: 'vllm-0.9.2-api-servers-handwritten/metrics',
    engine: 'vllm',
    series: [{ model: 'm', rank: '0', gauges: [0.62, 12, 4], counters: { preemptions: 7, generation_tokens: 90_210 } }],
    unsupported: [...NO_PREFIX_CACHE, 'prompt_tokens', ...NO_HISTOGRAMS, 'kv_cache_capacity_tokens'],
  },
  {
    page: 'vllm-rust-handwritten/metrics',
    engine: 'vllm',
    series: [
      {
        model: 'm',
        rank: '0',
        gauges: [0.25, 5, 0],
        counters: { preemptions: 2, generation_tokens: 812 },
        histograms: { ttft: [10, 1.5] },
      },
    ],
    unsupported: [
      ...NO_PREFIX_CACHE,
      'prompt_tokens',
      'inter_token_latency',
      'e2e',
      'queue_time',
      'kv_cache_capacity_tokens',
    ],
  },
  {
    page: 'sglang-0.4.1-handwritten/metrics',
    engine: 'sglang',
    series: [
      {
        model: 'meta-llama/Llama-3.1-8B',
        gauges: [0.28, 9, 1],
        counters: { prefix_cache_queries: 8128, prompt_tokens: 8128, generation_tokens: 7557 },
      },
    ],
    unsupported: ['kv_cache_capacity_tokens'],
  },
  {
    page: 'sglang-0.5.1-handwritten/metrics',
    engine: 'sglang',
    series: [
      {
        model: 'm',
        gauges: [0.97, 30, 16],
        counters: {
          preemptions: 21,
          prefix_cache_queries: 10_000,
          prefix_cache_hits: 4_000,
          prompt_tokens: 10_000,
          generation_tokens: 5_000,
        },
      },
    ],
    unsupported: ['kv_cache_capacity_tokens'],
  },
  {
    page: 'sglang-0.5.5-handwritten/metrics',
    engine: 'sglang',
    series: [{ model: 'm', gauges: [0.5, 2, 0], counters: { preemptions: 3 } }],
    unsupported: ['kv_cache_capacity_tokens'],
  },
  {
    page: 'sglang-0.5.18-dp2-handwritten/metrics',
    engine: 'sglang',
    series: [
      { model: 'm', rank: '0', gauges: [0.91, 8, 4], counters: { preemptions: 11 }, capacity: 50_000 },
      { model: 'm', rank: '1', gauges: [0.4, 6, 0], capacity: 50_000 },
      // Token counters are not kept by rank.
      { model: 'm', counters: { generation_tokens: 1_000 } },
    ],
    unsupported: [],
  },
  {
    page: 'tensorrt-llm-1.3-handwritten/metrics',
    engine: 'tensorrt-llm',
    series: [
      {
        model: '',
        gauges: [0.4, 6, 1],
        counters: { prefix_cache_queries: 100, prefix_cache_hits: 30, prompt_tokens: 3200, generation_tokens: 900 },
        capacity: 16_000,
        histograms: { ttft: [5, 0.8] },
      },
    ],
    unsupported: ['preemptions', 'inter_token_latency'],
  },
  {
    page: 'tensorrt-llm-1.3-blocks-handwritten/metrics',
    engine: 'tensorrt-llm',
    series: [{ model: '', gauges: [0.25, 2, null] }],
    unsupported: ['preemptions', 'inter_token_latency'],
  },
  {
    page: 'tensorrt-llm-1.2-handwritten/metrics',
    engine: 'tensorrt-llm',
    series: [{ model: '', histograms: { ttft: [4, 0.2], e2e: [4, 2], queue_time: [4, 0.01] } }],
    unsupported: [...GAUGE_ROLES, ...COUNTER_ROLES, 'inter_token_latency', 'kv_cache_capacity_tokens'],
  },
  {
    page: 'triton-trtllm-handwritten/metrics',
    engine: 'triton',
    // Milliseconds on the page.
    series: [{ model: 'tensorrt_llm', gauges: [0.75, 8, 3], capacity: 25_600, histograms: { ttft: [20, 5] } }],
    unsupported: [...COUNTER_ROLES, 'inter_token_latency', 'e2e', 'queue_time'],
  },
  {
    page: 'triton-vllm-handwritten/metrics',
    engine: 'triton',
    series: [
      {
        model: 'vllm_model',
        counters: { prompt_tokens: 10, generation_tokens: 16 },
        histograms: { ttft: [1, 0.03233122825622559] },
      },
    ],
    unsupported: [
      ...GAUGE_ROLES,
      'preemptions',
      ...NO_PREFIX_CACHE,
      'inter_token_latency',
      'e2e',
      'queue_time',
      'kv_cache_capacity_tokens',
    ],
  },
  {
    page: 'tgi-3.3-handwritten/metrics',
    engine: 'tgi',
    series: [
      {
        model: '',
        gauges: [null, 12, 5],
        counters: { prompt_tokens: 4100, generation_tokens: 1900 },
        capacity: 36_000,
        histograms: { e2e: [38, 88.5], queue_time: [38, 3.25] },
      },
    ],
    unsupported: ['kv_cache_usage_ratio', 'preemptions', ...NO_PREFIX_CACHE, 'ttft', 'inter_token_latency'],
  },
  {
    page: 'llamacpp-2025.04-handwritten/metrics',
    engine: 'llamacpp',
    series: [{ model: '', gauges: [0.125, 1, 0], counters: { prompt_tokens: 300, generation_tokens: 450 } }],
    unsupported: ['preemptions', ...NO_PREFIX_CACHE, ...NO_HISTOGRAMS, 'kv_cache_capacity_tokens'],
  },
  {
    page: 'lmdeploy-0.14-handwritten/metrics',
    engine: 'lmdeploy',
    series: [
      {
        model: 'Qwen/Qwen3-8B',
        rank: '0',
        gauges: [0.3, 10, 5],
        counters: { prefix_cache_hits: 640, prompt_tokens: 5000, generation_tokens: 7000 },
        histograms: { inter_token_latency: [6990, 200.5] },
      },
    ],
    unsupported: ['preemptions', 'prefix_cache_queries', 'kv_cache_capacity_tokens'],
  },
  {
    page: 'nim-1.8-handwritten/metrics',
    engine: 'nim',
    series: [
      {
        model: 'meta/llama-3.1-8b-instruct',
        gauges: [0.44, 7, 1],
        counters: { prompt_tokens: 640, generation_tokens: 320 },
        histograms: { ttft: [10, 0.9] },
      },
    ],
    unsupported: ['preemptions', ...NO_PREFIX_CACHE, 'inter_token_latency', 'queue_time', 'kv_cache_capacity_tokens'],
  },
  {
    page: 'dynamo-0.8-worker-handwritten/metrics',
    engine: 'dynamo',
    series: [{ model: 'Qwen/Qwen3-0.6B', gauges: [0.625, 4, null] }],
    // Its engine's page may still be born beside it.
    unsupported: [],
  },
  {
    page: 'dynamo-frontend-handwritten/metrics',
    engine: 'dynamo',
    series: [
      {
        model: 'tiny',
        gauges: [null, 9, 3],
        counters: { prefix_cache_queries: 352, prompt_tokens: 352, generation_tokens: 812 },
        capacity: 1_024,
        histograms: { ttft: [11, 1.75] },
      },
    ],
    unsupported: ['kv_cache_usage_ratio', 'preemptions', 'queue_time'],
  },
  {
    page: 'ray-serve-handwritten/metrics',
    engine: 'ray-serve',
    series: [
      { model: 'm', rank: 'r1/0', gauges: [0.1, 3, 0] },
      { model: 'm', rank: 'r2/0', gauges: [0.8, 5, 2], counters: { preemptions: 4 } },
    ],
    // Its counters are born with what they count.
    unsupported: ['kv_cache_capacity_tokens'],
  },
  {
    page: 'kserve-handwritten/metrics',
    engine: 'kserve',
    series: [{ model: 'llama', rank: '0', gauges: [0.05, 1, 0], counters: { preemptions: 0 } }],
    unsupported: [
      ...NO_PREFIX_CACHE,
      'prompt_tokens',
      'generation_tokens',
      ...NO_HISTOGRAMS,
      'kv_cache_capacity_tokens',
    ],
  },
  {
    page: 'llm-d-inference-sim-handwritten/metrics',
    engine: 'llm-d-inference-sim',
    series: [{ model: 'sim', gauges: [0.5, 2, 1], capacity: 16_384, histograms: { inter_token_latency: [9, 0.45] } }],
    unsupported: ['preemptions'],
  },
];

describe('a page written from the facts', () => {
  it.each(TABLE)('of $page is read as $engine', ({ page: name, engine, series, unsupported }) => {
    const text = pageText(name);
    expect(readerFor(parsedPage(text)).dialect.engine).toBe(engine);
    const page = normalized(text, { histograms: true });
    const found = page.series.map((one) => ({
      model: one.model,
      rank: one.dpRank,
      gauges: GAUGE_ROLES.map((role) => one.gauges[role] ?? null),
      counters: one.counters,
      capacity: one.kvCapacityTokens,
      histograms: Object.fromEntries(Object.entries(one.histograms).map(([role, h]) => [role, [h.count, h.sum]])),
    }));
    const wanted = series.map((one) => ({
      model: one.model,
      rank: one.rank ?? '',
      gauges: one.gauges ?? [null, null, null],
      counters: one.counters ?? {},
      capacity: one.capacity ?? null,
      histograms: one.histograms ?? {},
    }));
    expect(found).toEqual(wanted);
    expect(page.outOfRange).toBe(0);
    const refused = Object.entries(page.supported).flatMap(([role, offered]) => (offered ? [] : [role]));
    expect(refused.sort()).toEqual([...unsupported].sort());
  });

  it('scales bounds with their unit', () => {
    const [series] = normalized(pageText('triton-trtllm-handwritten/metrics'), { histograms: true }).series;
    expect(series?.histograms.ttft?.bounds).toEqual([0.1, 0.5]);
  });

  it("of a router is nobody's", () => {
    const page = parsedPage(pageText('production-stack-router-handwritten/metrics'));
    expect(identifyPage(page)).toMatchObject({ why: 'router' });
  });

  it("of a router that has no engine yet is nobody's either", () => {
    const page = parsedPage(
      '# TYPE vllm:num_requests_running gauge\n# TYPE vllm:num_requests_waiting gauge\n' +
        '# TYPE vllm:current_qps gauge\nrouter_cpu_usage_percent 3\n',
    );
    expect(identifyPage(page)).toMatchObject({ why: 'router' });
  });

  it('of an old frontend of Dynamo is no page of Triton, whose names begin alike', () => {
    const text =
      'nv_llm_http_service_inflight_requests{model="m"} 5\n' +
      'nv_llm_http_service_output_sequence_tokens_sum{model="m"} 120\n';
    expect(readerFor(parsedPage(text)).dialect.engine).toBe('dynamo');
    expect(normalized(text).series).toMatchObject([
      { model: 'm', gauges: { requests_running: 5 }, counters: { generation_tokens: 120 } },
    ]);
    expect(identifyPage(parsedPage('nv_something_else 1\n'))).toMatchObject({ why: 'unrecognised' });
  });

  it('is told by its families, however many of others come before them', () => {
    const others = Array.from({ length: 6000 }, (_, index) => `acme_${index} 1\n`).join('');
    expect(readerFor(parsedPage(`${others}vllm:num_requests_running 1\n`)).dialect.engine).toBe('vllm');
  });

  it('of Aphrodite is read as the page of vLLM that it is', () => {
    const labels = '{engine="0",model_name="m"}';
    const page = normalized(
      `aphrodite:num_requests_running${labels} 2\naphrodite:kv_cache_usage_perc${labels} 0.5\n` +
        `aphrodite:num_preemptions_total${labels} 3\n`,
    );
    expect(page.series).toMatchObject([
      {
        model: 'm',
        dpRank: '0',
        gauges: { requests_running: 2, kv_cache_usage_ratio: 0.5 },
        counters: { preemptions: 3 },
      },
    ]);
  });

  it('of SGLang with prefill and decode apart counts who waits for the other side', () => {
    const labels = '{engine_type="decode",model_name="m",tp_rank="0"}';
    const page = normalized(
      `sglang:num_running_reqs${labels} 2\nsglang:num_queue_reqs${labels} 1\n` +
        `sglang:num_decode_prealloc_queue_reqs${labels} 7\nsglang:num_decode_transfer_queue_reqs${labels} 4\n`,
    );
    expect(page.series).toMatchObject([{ gauges: { requests_running: 2, requests_waiting: 8 } }]);
  });

  it('of SGLang repeats its numbers for ranks of any parallelism but one', () => {
    const series = (rank: number): string =>
      `sglang:num_running_reqs{model_name="m",tp_rank="${rank}",attn_cp_rank="${rank}",moe_dp_rank="${rank}"} 3\n`;
    expect(normalized(series(0) + series(1)).series).toMatchObject([{ gauges: { requests_running: 3 } }]);
  });

  it('is in the table, or is the router', () => {
    const written = pageNames().filter((name) => name.includes('handwritten') && !name.includes('router'));
    expect(TABLE.map(({ page }) => page).sort()).toEqual([...written].sort());
  });

  it('without any prefix is told apart by what is expected there', () => {
    const page = parsedPage('e2e_request_latency_seconds_count 1\nrequest_queue_time_seconds_count 1\n');
    expect(readerFor(page).dialect.engine).toBe('tensorrt-llm');
    expect(readerFor(page, 'nim').dialect.engine).toBe('tensorrt-llm');
  });
});

describe('the tables', () => {
  it('cover every engine that has metrics', () => {
    const covered = new Set(DIALECTS.map((dialect) => dialect.engine));
    expect(ENGINE_NAMES.filter((engine) => !covered.has(engine))).toEqual(['ollama', 'unknown']);
  });

  it('G-116: never name the page of TensorRT-LLM that each reader empties', () => {
    const paths = DIALECTS.filter((dialect) => dialect.engine === 'tensorrt-llm').flatMap((dialect) => dialect.paths);
    expect(new Set(paths)).toEqual(new Set(['/prometheus/metrics']));
  });

  it('read llama.cpp seldom, and never besides the timetable, because a read has effects', () => {
    const [llamacpp] = DIALECTS.filter((dialect) => dialect.engine === 'llamacpp');
    expect(llamacpp?.everySeconds).toBeGreaterThanOrEqual(5);
    expect(llamacpp).toMatchObject({ readsHaveEffects: true });
  });

  it('give TensorRT-LLM the time of a long request before it hangs: its page stands still until one ends', () => {
    const tables = DIALECTS.filter(({ prefixes }) => prefixes.includes('trtllm_'));
    expect(tables).toHaveLength(2);
    for (const { refreshSeconds } of tables) expect(refreshSeconds).toBeGreaterThanOrEqual(300);
  });

  it('give a reason for every interval', () => {
    for (const { everyReason } of DIALECTS) expect(everyReason.length).toBeGreaterThan(20);
  });

  it('R-013: name no _created sample and no histogram as a counter', () => {
    for (const dialect of DIALECTS) {
      const names = Object.values(dialect.counters)
        .flat()
        .map((source) => source.name);
      expect(names.filter((name) => name.endsWith('_created') || name.startsWith('iteration_tokens_total'))).toEqual(
        [],
      );
    }
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderEnginePage } from '../../../src/sim/page.ts';
import { type Bench, bench, prompt, request } from './helpers.ts';

interface PageFamily {
  readonly type: string;
  readonly shapes: Set<string>;
  readonly bounds: string[];
}

const pageOf = (on: Bench): string =>
  renderEnginePage({
    model: 'sim',
    options: on.engine.options,
    state: on.engine.state(),
    statistics: on.engine.statistics(),
    admissionRejections: 3,
    httpRequests: [{ labels: { handler: '/v1/completions', method: 'POST', status: '2xx' }, count: 4 }],
    residentBytes: 1e8,
    cpuSeconds: 1.5,
  });

const SAMPLE = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/;

/** Families with the label names of each sample, read without the product's own parser. */
function familiesOf(page: string): Map<string, PageFamily> {
  const families = new Map<string, PageFamily>();
  let name = '';
  for (const line of page.split('\n')) {
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type?.[1] !== undefined && type[2] !== undefined) {
      name = type[1];
      families.set(name, { type: type[2], shapes: new Set(), bounds: [] });
    }
    const sample = SAMPLE.exec(line);
    const family = families.get(name);
    if (line.startsWith('#') || sample?.[1] === undefined || family === undefined) continue;
    const labels = [...(sample[2] ?? '').matchAll(/([a-z_]+)="/gi)].map((label) => label[1]);
    family.shapes.add(`${sample[1].slice(name.length)}{${labels.join(',')}}`);
    const bound = /le="([^"]+)"/.exec(sample[2] ?? '')?.[1];
    if (bound !== undefined) family.bounds.push(bound);
  }
  return families;
}

const value = (page: string, series: string): number => {
  const line = page.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
};

const recorded = new Map(
  readFileSync(new URL('../../fixtures/sim/vllm-0.32.0-families.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): [string, string[]] => {
      const [name = '', ...rest] = line.split(' ');
      return [name, rest];
    }),
);

describe('the simulated metrics page', () => {
  it('has only families that a real vLLM 0.32 has, with its types, label names and bucket bounds', () => {
    const families = familiesOf(pageOf(bench()));
    expect(families.size).toBeGreaterThan(60);
    for (const [name, { type, shapes, bounds }] of families) {
      const real = recorded.get(name);
      expect(real, name).toBeDefined();
      expect(type, name).toBe(real?.[0]);
      if (name === 'vllm:cache_config_info') continue;
      for (const shape of shapes) expect(real, name).toContain(shape);
      const realBounds =
        real
          ?.find((part) => part.startsWith('le='))
          ?.slice(3)
          .split(',') ?? [];
      // Bounds of token counts go up to the model's length: the recording's model is shorter.
      expect(bounds, name).toEqual(expect.arrayContaining(realBounds));
    }
  });

  it('leaves out no family that the exporter reads', () => {
    const families = familiesOf(pageOf(bench()));
    const left = [...recorded.keys()].filter((name) => name.startsWith('vllm:') && !families.has(name));
    expect(
      left.filter((name) => !/estimated_|mm_cache|cached_by_source|params_n|max_num_generation/.test(name)),
    ).toEqual([]);
  });

  it('shows the last finished step, and the same counters as what was served', () => {
    const on = bench({ maxNumSeqs: 2 });
    const tracked = [1, 2, 3].map((salt) => on.submit(request(prompt(320, salt), 40)));
    on.clock.run(0.4);
    const labels = '{engine="0",model_name="sim"}';
    const during = pageOf(on);
    expect(value(during, `vllm:num_requests_running${labels}`)).toBe(2);
    expect(value(during, `vllm:num_requests_waiting${labels}`)).toBe(1);
    expect(value(during, 'vllm:num_requests_waiting_by_reason{engine="0",model_name="sim",reason="capacity"}')).toBe(1);
    expect(value(during, `vllm:kv_cache_usage_perc${labels}`)).toBeCloseTo(42 / 1536, 2);
    on.clock.runOut();
    const after = pageOf(on);
    expect(value(after, `vllm:num_requests_running${labels}`)).toBe(0);
    expect(value(after, `vllm:prompt_tokens_total${labels}`)).toBe(960);
    expect(value(after, `vllm:generation_tokens_total${labels}`)).toBe(120);
    expect(value(after, 'vllm:request_success_total{engine="0",finished_reason="length",model_name="sim"}')).toBe(3);
    const ttft = tracked.reduce((sum, one) => sum + (one.result?.ttftSeconds ?? 0), 0);
    expect(value(after, `vllm:time_to_first_token_seconds_sum${labels}`)).toBeCloseTo(ttft, 9);
    expect(value(after, `vllm:time_to_first_token_seconds_count${labels}`)).toBe(3);
    expect(value(after, `vllm:inter_token_latency_seconds_count${labels}`)).toBe(117);
    expect(value(after, 'vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="sim"}')).toBe(3);
    expect(value(after, 'process_start_time_seconds')).toBe(1_767_225_600);
  });

  it('has cumulative buckets that never fall and end at the count', () => {
    const on = bench({ numGpuBlocks: 129, maxModelLen: 2048 });
    for (let salt = 0; salt < 30; salt += 1) on.submit(request(prompt(60 + salt * 9, salt), 1 + salt * 7));
    on.clock.runOut();
    const page = pageOf(on);
    const names = [...familiesOf(page)].filter(([, family]) => family.type === 'histogram').map(([name]) => name);
    expect(names).toHaveLength(14);
    for (const name of names) {
      const buckets = page
        .split('\n')
        .filter((line) => line.startsWith(`${name}_bucket`))
        .map((line) => Number(line.split(' ')[1]));
      expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
      expect(buckets.at(-1)).toBe(value(page, `${name}_count{engine="0",model_name="sim"}`));
    }
  });

  it('says how the cache is laid out, as strings', () => {
    const line = pageOf(bench({ prefixCaching: false }))
      .split('\n')
      .find((candidate) => candidate.startsWith('vllm:cache_config_info{'));
    expect(line).toContain('block_size="16"');
    expect(line).toContain('enable_prefix_caching="False"');
    expect(line).toContain('num_gpu_blocks="1537"');
    expect(line).toContain('kv_cache_size_tokens="24592"');
  });

  it('says that a sleeping engine sleeps', () => {
    const on = bench();
    on.engine.sleep();
    const state = (name: string): number =>
      value(pageOf(on), `vllm:engine_sleep_state{engine="0",model_name="sim",sleep_state="${name}"}`);
    expect([state('awake'), state('weights_offloaded')]).toEqual([0, 1]);
    on.engine.wake();
    expect([state('awake'), state('weights_offloaded')]).toEqual([1, 0]);
  });
});

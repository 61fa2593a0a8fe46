import type { SimEngineState } from './engine.ts';
import { type Family, type Labels, pythonFloat, renderPage, type Sample } from './exposition.ts';
import type { SimEngineOptions } from './options.ts';
import type { Histogram, HistogramName, Statistics } from './statistics.ts';

/** Everything the page is made from. */
export interface PageInput {
  readonly model: string;
  readonly options: SimEngineOptions;
  readonly state: SimEngineState;
  readonly statistics: Statistics;
  /** Requests refused before they reached the engine. */
  readonly admissionRejections: number;
  /** Answers by handler, method and status class. */
  readonly httpRequests: readonly { readonly labels: Labels; readonly count: number }[];
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
});

/** The Python client adds to each counter and histogram a gauge that says since when it counts. */
const created = (name: string, help: string, series: readonly Labels[], since: number): Family =>
  gauge(
    `${name}_created`,
    help,
    series.map((labels) => ({ labels, value: since })),
  );

function counter(name: string, help: string, samples: readonly Sample[], since: number): readonly Family[] {
  return [
    { name, type: 'counter', help, samples },
    created(
      name,
      help,
      samples.map((sample) => sample.labels),
      since,
    ),
  ];
}

function histogram(name: string, help: string, labels: Labels, data: Histogram, since: number): readonly Family[] {
  let below = 0;
  const buckets = data.counts.map((count, at): Sample => {
    below += count;
    const bound = data.bounds[at];
    const le = bound === undefined ? '+Inf' : Number.isInteger(bound) ? `${bound}.0` : String(bound);
    return { suffix: '_bucket', labels: { ...labels, le }, value: below };
  });
  const samples: readonly Sample[] = [
    ...buckets,
    { suffix: '_count', labels, value: data.count },
    { suffix: '_sum', labels, value: data.sum },
  ];
  return [{ name, type: 'histogram', help, samples }, created(name, help, [labels], since)];
}

const HISTOGRAMS: readonly (readonly [HistogramName, string, string])[] = [
  ['requestPromptTokens', 'request_prompt_tokens', 'Prompt tokens of finished requests.'],
  ['requestGenerationTokens', 'request_generation_tokens', 'Output tokens of finished requests.'],
  ['iterationTokens', 'iteration_tokens_total', 'Tokens of an engine step: prompts that were completed, and output.'],
  ['requestMaxTokens', 'request_params_max_tokens', 'max_tokens of finished requests.'],
  ['ttftSeconds', 'time_to_first_token_seconds', 'Arrival to first token, in seconds.'],
  ['interTokenSeconds', 'inter_token_latency_seconds', 'Time between two outputs of a request, in seconds.'],
  [
    'requestTpotSeconds',
    'request_time_per_output_token_seconds',
    'Mean time an output token of a request, in seconds.',
  ],
  ['e2eSeconds', 'e2e_request_latency_seconds', 'Arrival to last token, in seconds.'],
  ['queueSeconds', 'request_queue_time_seconds', 'Arrival to first admission, in seconds.'],
  ['inferenceSeconds', 'request_inference_time_seconds', 'First admission to last token, in seconds.'],
  ['prefillSeconds', 'request_prefill_time_seconds', 'First admission to first token, in seconds.'],
  ['decodeSeconds', 'request_decode_time_seconds', 'First token to last token, in seconds.'],
  ['requestPreemptions', 'request_num_preemptions', 'How often a finished request had been preempted.'],
  [
    'requestComputedPrefillTokens',
    'request_prefill_kv_computed_tokens',
    'Prompt tokens computed, without cached ones.',
  ],
];

function gauges(input: PageInput, labels: Labels): readonly Family[] {
  const { running, waiting, kvUsageRatio } = input.state.published;
  const awake = input.state.asleep ? 0 : 1;
  const sleep = (name: string, value: number): Sample => ({ labels: { ...labels, sleep_state: name }, value });
  const waitingFor = (reason: string, value: number): Sample => ({ labels: { ...labels, reason }, value });
  return [
    gauge('vllm:num_requests_running', 'Requests in the batch.', [{ labels, value: running }]),
    gauge('vllm:num_requests_waiting', 'Requests in the queue.', [{ labels, value: waiting }]),
    gauge('vllm:num_requests_waiting_by_reason', 'Requests in the queue, by what they wait for.', [
      waitingFor('capacity', waiting),
      waitingFor('deferred', 0),
    ]),
    gauge('vllm:engine_sleep_state', 'Sleep state of the engine, one of them 1.', [
      sleep('awake', awake),
      sleep('weights_offloaded', 1 - awake),
      sleep('discard_all', 0),
    ]),
    gauge('vllm:kv_cache_usage_perc', 'Share of the KV cache in use; 1 is all.', [{ labels, value: kvUsageRatio }]),
  ];
}

function counters(input: PageInput, labels: Labels, since: number): readonly Family[] {
  const { counters: count } = input.statistics;
  const one = (name: string, help: string, value: number): readonly Family[] =>
    counter(`vllm:${name}`, help, [{ labels, value }], since);
  const by = (
    name: string,
    help: string,
    label: string,
    values: Readonly<Record<string, number>>,
  ): readonly Family[] => {
    const samples = Object.entries(values).map(([key, value]) => ({ labels: { ...labels, [label]: key }, value }));
    return counter(`vllm:${name}`, help, samples, since);
  };
  const { promptTokens, cachedPromptTokens } = count;
  return [
    ...one('prefix_cache_queries', 'Tokens looked up in the prefix cache.', count.prefixCacheQueries),
    ...one('prefix_cache_hits', 'Tokens found in the prefix cache.', count.prefixCacheHits),
    ...one('external_prefix_cache_queries', 'Tokens looked up in an external cache.', 0),
    ...one('external_prefix_cache_hits', 'Tokens found in an external cache.', 0),
    ...one('num_preemptions', 'Preemptions.', count.preemptions),
    ...one('prompt_tokens', 'Prompt tokens of requests that got their first token.', promptTokens),
    ...by('prompt_tokens_by_source', 'Prompt tokens by where they came from.', 'source', {
      local_compute: promptTokens - cachedPromptTokens,
      local_cache_hit: cachedPromptTokens,
      external_kv_transfer: 0,
    }),
    ...one('prompt_tokens_cached', 'Prompt tokens taken from the cache.', cachedPromptTokens),
    ...one('generation_tokens', 'Output tokens.', count.generationTokens),
    ...by('request_success', 'Finished requests by reason.', 'finished_reason', {
      stop: count.finishedStop,
      length: count.finishedLength,
      abort: count.finishedAbort,
      error: 0,
      repetition: 0,
    }),
    ...counter(
      'vllm:admission_rejections',
      'Requests refused by a limit of the queue.',
      [{ labels: { model_name: input.model, reason: 'max_num_queued_reqs' }, value: input.admissionRejections }],
      since,
    ),
  ];
}

/** The labels that a reader may look for; vLLM has thirty more, which say nothing here. */
function cacheConfig(options: SimEngineOptions): Family {
  const capacity = options.numGpuBlocks * options.blockSize;
  const labels: Labels = {
    engine: '0',
    block_size: String(options.blockSize),
    cache_dtype: 'auto',
    enable_prefix_caching: options.prefixCaching ? 'True' : 'False',
    gpu_memory_utilization: '0.92',
    kv_cache_max_concurrency: pythonFloat(capacity / options.maxModelLen),
    kv_cache_size_tokens: String(capacity),
    num_cpu_blocks: 'None',
    num_gpu_blocks: String(options.numGpuBlocks),
    num_gpu_blocks_override: 'None',
    prefix_caching_hash_algo: 'sha256',
    sliding_window: 'None',
  };
  return gauge('vllm:cache_config_info', 'Configuration of the KV cache.', [{ labels, value: 1 }]);
}

function processFamilies(input: PageInput, since: number): readonly Family[] {
  const plain = (name: string, help: string, value: number): Family => gauge(name, help, [{ labels: {}, value }]);
  const http = input.httpRequests.map(({ labels, count }) => ({ labels, value: count }));
  return [
    plain('process_resident_memory_bytes', 'Resident memory size in bytes.', input.residentBytes),
    plain('process_start_time_seconds', 'Start of the process in seconds since 1970.', since),
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      help: 'CPU time in seconds.',
      samples: [{ labels: {}, value: input.cpuSeconds }],
    },
    ...(http.length > 0 ? counter('http_requests', 'Answers by handler, method and status.', http, since) : []),
  ];
}

/** The engine's metrics page, in the shape of vLLM 0.32. The help texts are our own. */
export function renderEnginePage(input: PageInput): string {
  const labels: Labels = { engine: '0', model_name: input.model };
  const since = input.state.startedAt;
  const histograms = HISTOGRAMS.flatMap(([key, name, help]) =>
    histogram(`vllm:${name}`, help, labels, input.statistics.histograms[key], since),
  );
  return renderPage([
    ...processFamilies(input, since),
    ...gauges(input, labels),
    ...counters(input, labels, since),
    ...histograms,
    cacheConfig(input.options),
  ]);
}

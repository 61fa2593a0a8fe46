import { board, PROBE, TARGET } from './frame.ts';
import { bands, lines, row, valueNames } from './kit.ts';

const quantile = (metric: string, q: string, by = 'profile'): string =>
  `histogram_quantile(${q}, sum by (${by}, le) (rate(${metric}_bucket{${PROBE}}[$__rate_interval])))`;

const engineQuantile = (metric: string, q: string): string =>
  `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket{${TARGET}}[$__rate_interval])))`;

const mean = (metric: string, labels: string): string =>
  `sum by (${labels}) (rate(${metric}_sum{${PROBE}}[$__rate_interval])) / sum by (${labels}) (rate(${metric}_count{${PROBE}}[$__rate_interval]))`;

/** One above the other on one time axis: what users feel, then what the engine does. */
export const whyBoard = board({
  uid: 'inference-probe-why',
  title: 'Inference probe / Why',
  description: "Latency over the engine's KV cache, queue and preemptions on one time axis: why it is slow.",
  rows: [
    row('What users feel', [
      lines({
        title: 'TTFT, cold and warm',
        description:
          'p50 and p95 of the time to first token by profile. Cold pays the whole prefill, warm hits the prefix cache; their difference is what the cache is worth.',
        unit: 's',
        span: 24,
        queries: [
          { expr: quantile('inference_probe_ttft_seconds', '0.5'), legend: 'p50 {{profile}}', exemplar: true },
          { expr: quantile('inference_probe_ttft_seconds', '0.95'), legend: 'p95 {{profile}}' },
          { expr: `max(inference_probe_slo_threshold_seconds{${PROBE}, slo="ttft"})`, legend: 'threshold' },
        ],
        dashed: '/threshold/',
      }),
      lines({
        title: 'TPOT',
        description: 'p50 and p95 of the time per output token after the first chunk. Buffered streams are left out.',
        unit: 's',
        span: 24,
        queries: [
          { expr: quantile('inference_probe_tpot_seconds', '0.5'), legend: 'p50 {{profile}}', exemplar: true },
          { expr: quantile('inference_probe_tpot_seconds', '0.95'), legend: 'p95 {{profile}}' },
          { expr: `max(inference_probe_slo_threshold_seconds{${PROBE}, slo="tpot"})`, legend: 'threshold' },
        ],
        dashed: '/threshold/',
      }),
    ]),
    row('What the engine does', [
      bands({
        title: 'Zone',
        description: 'Underload, knee or overload, by the rule in docs/zones.md.',
        unit: 'none',
        mappings: [
          valueNames({
            '0': { text: 'underload', color: 'green' },
            '1': { text: 'knee', color: 'orange' },
            '2': { text: 'overload', color: 'red' },
          }),
        ],
        queries: [
          {
            expr: `max by (target) (inference_engine_zone{${TARGET}, zone="knee"}) + 2 * max by (target) (inference_engine_zone{${TARGET}, zone="overload"})`,
            legend: '{{target}}',
          },
        ],
      }),
      lines({
        title: 'KV cache usage and peak',
        description:
          'Share of the KV cache in use, and the highest value between scrapes. Absent where the engine does not say.',
        unit: 'percentunit',
        max: 1,
        span: 24,
        queries: [
          {
            expr: `max by (target, dp_rank) (inference_engine_kv_cache_usage_ratio{${TARGET}})`,
            legend: 'now {{target}} {{dp_rank}}',
          },
          {
            expr: `max by (target, dp_rank) (inference_engine_kv_cache_usage_ratio_peak{${TARGET}})`,
            legend: 'peak {{target}} {{dp_rank}}',
          },
        ],
      }),
      lines({
        title: 'Running and waiting',
        description: 'Requests in the running batch and in the queue, and the longest queue between scrapes.',
        unit: 'short',
        span: 24,
        queries: [
          { expr: `sum by (target) (inference_engine_requests_running{${TARGET}})`, legend: 'running {{target}}' },
          { expr: `sum by (target) (inference_engine_requests_waiting{${TARGET}})`, legend: 'waiting {{target}}' },
          {
            expr: `sum by (target) (inference_engine_requests_waiting_peak{${TARGET}})`,
            legend: 'waiting peak {{target}}',
          },
        ],
      }),
      lines({
        title: 'Preemptions',
        description: 'Requests thrown out of the batch because no KV block was free; their work is done again.',
        unit: 'short',
        span: 24,
        queries: [
          {
            expr: `sum by (target) (increase(inference_engine_preemptions_total{${TARGET}}[$__rate_interval]))`,
            legend: '{{target}}',
          },
        ],
      }),
    ]),
    row('Details', [
      lines({
        title: 'Phases before the first token',
        description:
          'Mean of each phase: dns, tcp, tls of new connections; write and headers count from the request handed to the socket.',
        unit: 's',
        queries: [{ expr: mean('inference_probe_phase_seconds', 'phase'), legend: '{{phase}}' }],
      }),
      lines({
        title: 'Longest gap of a stream, p95',
        description: 'The longest silence between two token chunks of one answer: the stall that a mean hides.',
        unit: 's',
        queries: [{ expr: quantile('inference_probe_longest_gap_seconds', '0.95'), legend: '{{profile}}' }],
      }),
      lines({
        title: 'Chunk gaps, p50 and p99',
        description: 'Time between consecutive token chunks. A chunk may hold several tokens: this is not TPOT.',
        unit: 's',
        queries: [
          { expr: quantile('inference_probe_chunk_gap_seconds', '0.5'), legend: 'p50 {{profile}}' },
          { expr: quantile('inference_probe_chunk_gap_seconds', '0.99'), legend: 'p99 {{profile}}' },
        ],
      }),
      lines({
        title: 'First visible content',
        description: 'Only where it differs from the first token: reasoning models think before they answer.',
        unit: 's',
        queries: [{ expr: quantile('inference_probe_first_content_seconds', '0.5'), legend: 'p50 {{profile}}' }],
      }),
      lines({
        title: "TTFT of real users, by the engine, beside the probes'",
        description:
          "The engine's own histogram counts from its own receipt and covers all requests. Needs metrics.histograms: true.",
        unit: 's',
        queries: [
          { expr: engineQuantile('inference_engine_ttft_seconds', '0.95'), legend: 'engine p95' },
          { expr: quantile('inference_probe_ttft_seconds', '0.95'), legend: 'probe p95 {{profile}}' },
        ],
      }),
      lines({
        title: 'Prefix cache',
        description:
          'Cached prompt tokens of the probes (their own truth) and the hit share the engine counts. Some versions count scheduling retries as queries, so the engine share falls under pressure.',
        unit: 'percentunit',
        max: 1,
        queries: [
          {
            expr: `sum by (profile) (rate(inference_probe_cached_prompt_tokens_total{${PROBE}}[$__rate_interval])) / sum by (profile) (rate(inference_probe_prompt_tokens_total{${PROBE}}[$__rate_interval]))`,
            legend: 'probe {{profile}}',
          },
          {
            expr: `sum by (target) (rate(inference_engine_prefix_cache_hits_total{${TARGET}}[$__rate_interval])) / sum by (target) (rate(inference_engine_prefix_cache_queries_total{${TARGET}}[$__rate_interval]))`,
            legend: 'engine {{target}}',
          },
        ],
      }),
      lines({
        title: 'Tokens a second',
        description: "The engine's prompt and generation throughput.",
        unit: 'short',
        queries: [
          {
            expr: `sum by (target) (rate(inference_engine_generation_tokens_total{${TARGET}}[$__rate_interval]))`,
            legend: 'generation {{target}}',
          },
          {
            expr: `sum by (target) (rate(inference_engine_prompt_tokens_total{${TARGET}}[$__rate_interval]))`,
            legend: 'prompt {{target}}',
          },
        ],
      }),
      lines({
        title: 'Buffered streams and odd events',
        description: 'Answers that arrived in lumps, and events that did not conform.',
        unit: 'short',
        queries: [
          {
            expr: `sum by (profile) (increase(inference_probe_buffered_streams_total{${PROBE}}[$__rate_interval]))`,
            legend: 'buffered {{profile}}',
          },
          {
            expr: `sum by (profile) (increase(inference_probe_nonconforming_events_total{${PROBE}}[$__rate_interval]))`,
            legend: 'odd events {{profile}}',
          },
        ],
      }),
    ]),
  ],
});

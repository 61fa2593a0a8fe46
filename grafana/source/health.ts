import { board, EXPORTER, PROBE, RECORDED_TARGET, TARGET } from './frame.ts';
import { lines, number, row } from './kit.ts';

export const healthBoard = board({
  uid: 'inference-probe-health',
  title: 'Inference probe / Probe health',
  description:
    'Can the numbers be trusted: is the exporter on time, undisturbed, within its budget and well configured.',
  rows: [
    row('Can it be trusted', [
      number({
        title: 'Exporters',
        description: 'Exporters that are scraped now.',
        unit: 'short',
        queries: [{ expr: `count(inference_probe_exporter_build_info{${EXPORTER}})` }],
        decimals: 0,
        span: 6,
      }),
      number({
        title: 'Disturbed samples, 1 h',
        description: "Samples kept out of the histograms because the exporter's own event loop was late.",
        unit: 'short',
        queries: [{ expr: `sum(increase(inference_probe_disturbed_samples_total{${PROBE}}[1h]))` }],
        thresholds: [
          [null, 'green'],
          [5, 'orange'],
        ],
        decimals: 0,
        span: 6,
      }),
      number({
        title: 'Paused targets',
        description: 'Targets whose probing is switched off.',
        unit: 'short',
        queries: [{ expr: `sum(max by (target) (inference_probe_paused{${TARGET}}))` }],
        thresholds: [
          [null, 'green'],
          [1, 'orange'],
        ],
        decimals: 0,
        span: 6,
      }),
      number({
        title: 'Refused configurations',
        description: 'Exporters that run with an old configuration because the new one was refused.',
        unit: 'short',
        queries: [{ expr: `sum(1 - inference_probe_exporter_config_last_reload_successful{${EXPORTER}})` }],
        thresholds: [
          [null, 'green'],
          [1, 'red'],
        ],
        decimals: 0,
        span: 6,
      }),
    ]),
    row('Schedule', [
      lines({
        title: 'Schedule lag, mean',
        description: 'Start of a probe minus the instant it was due.',
        unit: 's',
        queries: [
          {
            expr: `sum by (profile) (rate(inference_probe_schedule_lag_seconds_sum{${PROBE}}[$__rate_interval])) / sum by (profile) (rate(inference_probe_schedule_lag_seconds_count{${PROBE}}[$__rate_interval]))`,
            legend: '{{profile}}',
          },
        ],
      }),
      lines({
        title: 'Skipped probes by reason',
        description: 'Due probes that were not sent, and why.',
        unit: 'short',
        stacked: true,
        queries: [
          {
            expr: `sum by (reason) (increase(inference_probe_skipped_total{${PROBE}}[$__rate_interval])) > 0`,
            legend: '{{reason}}',
          },
        ],
      }),
      lines({
        title: 'Probes a minute',
        description: 'Probes that were sent, warm-up included.',
        unit: 'short',
        queries: [
          {
            expr: `60 * sum by (profile) (rate(inference_probe_attempts_total{${PROBE}}[$__rate_interval]))`,
            legend: '{{profile}}',
          },
        ],
      }),
      lines({
        title: 'Own event-loop delay, p99',
        description: 'How late the exporter itself is. Above a few milliseconds the latency numbers suffer.',
        unit: 's',
        queries: [
          {
            expr: `histogram_quantile(0.99, sum by (instance, le) (rate(inference_probe_exporter_event_loop_delay_seconds_bucket{${EXPORTER}}[$__rate_interval])))`,
            legend: '{{instance}}',
          },
        ],
      }),
    ]),
    row('Cost', [
      lines({
        title: 'Tokens a minute that probes spend',
        description: 'Prompt and output tokens of the probes.',
        unit: 'short',
        stacked: true,
        queries: [
          { expr: `60 * sum(rate(inference_probe_prompt_tokens_total{${PROBE}}[$__rate_interval]))`, legend: 'prompt' },
          { expr: `60 * sum(rate(inference_probe_output_tokens_total{${PROBE}}[$__rate_interval]))`, legend: 'output' },
        ],
      }),
      lines({
        title: "Share of the engine's tokens",
        description: "What part of all the engine's tokens are probes.",
        unit: 'percentunit',
        queries: [
          {
            expr: `max by (target) (inference_probe:engine_token_share:ratio_rate1h{${RECORDED_TARGET}})`,
            legend: '{{target}}',
          },
        ],
      }),
      lines({
        title: 'Token budget left',
        description: 'Tokens that may still be spent in the running hour and day. At 0 probes stop.',
        unit: 'short',
        queries: [
          {
            expr: `min by (target, window) (inference_probe_token_budget_remaining{${TARGET}})`,
            legend: '{{target}} {{window}}',
          },
        ],
      }),
      lines({
        title: 'Prompt length against its plan',
        description:
          "Prompt tokens of the last probe by the engine's usage, divided by the configured length. Far from 1: cold and warm are not what they say.",
        unit: 'percentunit',
        queries: [
          {
            expr: `max by (target, profile) (inference_probe_last_prompt_tokens{${PROBE}} / inference_probe_configured_prompt_tokens{${PROBE}})`,
            legend: '{{target}} {{profile}}',
          },
        ],
      }),
    ]),
    row('Reading the engine', [
      lines({
        title: 'Failed polls by reason',
        description: "Why the engine's metrics page could not be read.",
        unit: 'short',
        stacked: true,
        queries: [
          {
            expr: `sum by (reason) (increase(inference_engine_poll_failures_total{${TARGET}}[$__rate_interval])) > 0`,
            legend: '{{reason}}',
          },
        ],
      }),
      lines({
        title: 'Duration of a poll',
        description: "Time of the last read of the engine's metrics page.",
        unit: 's',
        queries: [
          { expr: `max by (target) (inference_engine_poll_duration_seconds{${TARGET}})`, legend: '{{target}}' },
        ],
      }),
      lines({
        title: 'What the engine does not offer',
        description: '1 for each quantity that the engine does not publish: its panels are empty for that reason.',
        unit: 'short',
        queries: [
          {
            expr: `1 - min by (target, metric) (inference_engine_metric_supported{${TARGET}}) > 0`,
            legend: '{{target}} {{metric}}',
          },
        ],
      }),
      lines({
        title: 'Memory and CPU of the exporter',
        description: 'Resident memory, and CPU seconds a second on the right.',
        unit: 'bytes',
        right: { names: '/cpu.*/', unit: 'percentunit' },
        queries: [
          { expr: `max by (instance) (process_resident_memory_bytes{${EXPORTER}})`, legend: 'memory {{instance}}' },
          {
            expr: `max by (instance) (rate(process_cpu_seconds_total{${EXPORTER}}[$__rate_interval]))`,
            legend: 'cpu {{instance}}',
          },
        ],
      }),
    ]),
  ],
});

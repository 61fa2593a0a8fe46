import { board, PROBE, RECORDED, RECORDED_PROFILE, TARGET } from './frame.ts';
import { distribution, lines, number, row } from './kit.ts';

const GOOD_HIGH = [
  [null, 'red'],
  [0.9, 'orange'],
  [0.99, 'green'],
] as const;
const BUDGET = [
  [null, 'red'],
  [0, 'orange'],
  [0.25, 'green'],
] as const;

const goodShare = (slo: string): string => `1 - avg(inference_probe:slo_bad:ratio_rate1h{${RECORDED}, slo="${slo}"})`;

const quantiles = (short: 'ttft' | 'tpot', name: string) =>
  lines({
    title: `${name}: p50, p95, p99 and how many samples`,
    description:
      short === 'ttft'
        ? 'From the request handed to the socket to the first generated token. Failures before the first token are in at the deadline, so the lines rise while the service dies. A p99 of fewer than 100 samples is only the worst one.'
        : 'First token chunk to last, divided by the tokens after the first chunk. A p99 of fewer than 100 samples is only the worst one.',
    unit: 's',
    queries: [
      ...(['p50', 'p95', 'p99'] as const).map((quantile) => ({
        expr: `max by (profile) (inference_probe:${short}_seconds:${quantile}_1h{${RECORDED_PROFILE}})`,
        legend: `${quantile} {{profile}}`,
      })),
      { expr: `max(inference_probe:slo_threshold:seconds{${RECORDED}, slo="${short}"})`, legend: 'threshold' },
      {
        expr: `sum by (profile) (inference_probe:${short}_seconds:count_1h{${RECORDED_PROFILE}})`,
        legend: 'samples {{profile}}',
      },
    ],
    dashed: '/threshold/',
    right: { names: '/samples.*/', unit: 'short' },
  });

export const sloBoard = board({
  uid: 'inference-probe-slo',
  title: 'Inference probe / SLO',
  description: 'Are users served, how much of the error budget is left, and what goes wrong when they are not.',
  rows: [
    row('Are users served', [
      number({
        title: 'Good answers, last hour',
        description:
          'Share of probes that got a complete, correct answer; every scheduled probe counts that the endpoint could have served.',
        unit: 'percentunit',
        queries: [{ expr: goodShare('availability') }],
        thresholds: GOOD_HIGH,
        decimals: 2,
      }),
      number({
        title: 'First token in time, last hour',
        description:
          'Share of probes whose TTFT was within its threshold. A failure before the first token counts as bad.',
        unit: 'percentunit',
        queries: [{ expr: goodShare('ttft') }],
        thresholds: GOOD_HIGH,
        decimals: 2,
      }),
      number({
        title: 'Tokens in time, last hour',
        description: 'Share of probes whose TPOT was within its threshold.',
        unit: 'percentunit',
        queries: [{ expr: goodShare('tpot') }],
        thresholds: GOOD_HIGH,
        decimals: 2,
      }),
      number({
        title: 'Least budget left, 30 days',
        description: 'Error budget that is left of the worst objective in view. Below 0: overspent.',
        unit: 'percentunit',
        queries: [{ expr: `min(inference_probe:slo_budget_remaining:ratio{${RECORDED}})` }],
        thresholds: BUDGET,
        decimals: 1,
      }),
      number({
        title: 'Probes, last hour',
        description: 'How many probes the numbers on this board stand on.',
        unit: 'short',
        queries: [{ expr: `sum(increase(inference_probe_attempts_total{${PROBE}}[1h]))` }],
        decimals: 0,
      }),
      number({
        title: 'Since the last good probe',
        description: 'Age of the youngest good probe of the worst target in view.',
        unit: 's',
        queries: [
          {
            expr: `max(time() - max by (target, model) (inference_probe_last_success_timestamp_seconds{${PROBE}} > 0))`,
          },
        ],
        thresholds: [
          [null, 'green'],
          [120, 'orange'],
          [600, 'red'],
        ],
        decimals: 0,
      }),
    ]),
    row('Error budget', [
      lines({
        title: 'Burn rate, 1 h and 5 min',
        description: 'How many times faster than allowed the budget is spent. 14.4 for an hour pages.',
        unit: 'none',
        queries: [
          {
            expr: `max by (slo) (inference_probe:slo_bad:ratio_rate1h{${RECORDED}} / (1 - inference_probe:slo_objective:ratio{${RECORDED}}))`,
            legend: '{{slo}} 1h',
          },
          {
            expr: `max by (slo) (inference_probe:slo_bad:ratio_rate5m{${RECORDED}} / (1 - inference_probe:slo_objective:ratio{${RECORDED}}))`,
            legend: '{{slo}} 5m',
          },
          { expr: 'vector(14.4)', legend: 'pages' },
        ],
        dashed: '/pages/',
      }),
      lines({
        title: 'Budget left, 30 days',
        description: 'Share of the 30-day error budget that is left, by objective; the worst target in view.',
        unit: 'percentunit',
        queries: [
          { expr: `min by (slo) (inference_probe:slo_budget_remaining:ratio{${RECORDED}})`, legend: '{{slo}}' },
        ],
        max: 1,
      }).min(-1),
    ]),
    row('Latency', [quantiles('ttft', 'TTFT'), quantiles('tpot', 'TPOT')]),
    row('What goes wrong', [
      lines({
        title: 'Failures by reason',
        description: 'Failed probes by reason; docs/METRICS.md says what each means and whose side it is.',
        unit: 'short',
        queries: [
          {
            expr: `sum by (reason) (increase(inference_probe_failures_total{${PROBE}}[$__rate_interval])) > 0`,
            legend: '{{reason}}',
          },
        ],
        stacked: true,
      }),
      lines({
        title: 'Causes of slow and failed probes',
        description: 'The likely cause of each slow or failed probe, by elimination (docs/causes.md).',
        unit: 'short',
        queries: [
          {
            expr: `sum by (cause) (increase(inference_probe_causes_total{${PROBE}}[$__rate_interval])) > 0`,
            legend: '{{cause}}',
          },
        ],
        stacked: true,
      }),
      distribution({
        title: 'TTFT distribution',
        description: 'All probes, failures at the deadline. Two bands mean two kinds of requests, often cold and warm.',
        unit: 's',
        queries: [{ expr: `sum by (le) (increase(inference_probe_ttft_seconds_bucket{${PROBE}}[$__rate_interval]))` }],
      }),
      distribution({
        title: 'Whole answer',
        description: 'From the request handed to the socket to the terminal event.',
        unit: 's',
        queries: [
          { expr: `sum by (le) (increase(inference_probe_duration_seconds_bucket{${PROBE}}[$__rate_interval]))` },
        ],
      }),
      lines({
        title: 'Last probe good',
        description: '1 while the last probe of every profile of the target was good.',
        unit: 'short',
        queries: [
          { expr: `min by (target, model) (inference_probe_success{${PROBE}})`, legend: '{{target}} {{model}}' },
        ],
        max: 1,
        height: 5,
      }),
      lines({
        title: 'Certificate days left',
        description: "Days until the endpoint's certificate expires. Empty without TLS.",
        unit: 'd',
        queries: [
          {
            expr: `min by (target) (inference_probe_tls_certificate_expiry_timestamp_seconds{${TARGET}} - time()) / 86400`,
            legend: '{{target}}',
          },
        ],
        height: 5,
      }),
    ]),
  ],
});

import { DEFAULT_BUCKETS, DEFAULTS } from '../../src/config/defaults.ts';
import { loadConfigFromEnvironment } from '../../src/config/load.ts';
import { boundsOf, boundsWith, worstInterpolationError } from '../../src/metrics/bounds.ts';
import { CATALOG, sampleNames } from '../../src/metrics/catalog.ts';
import { type FamilyDefinition, SCOPE_LABELS } from '../../src/metrics/definition.ts';
import { estimateSeries } from '../../src/metrics/estimate.ts';
import { formatBound } from '../../src/metrics/exposition.ts';
import { type FailureReason, REASON_TABLE } from '../../src/probe/reasons.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;
const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;

function labelsOf(family: FamilyDefinition): string {
  const own = family.labels.map((label) => {
    const values = family.values?.[label];
    return values === undefined || values.length > 5 ? code(label) : `${code(label)} (${values.join(', ')})`;
  });
  return [...SCOPE_LABELS[family.scope].filter((label) => !family.labels.includes(label)).map(code), ...own].join(', ');
}

const row = (family: FamilyDefinition): string =>
  `| ${code(family.name)} | ${family.type} | ${labelsOf(family)} | ${cell(family.help)}${family.born === 'later' ? ' *' : ''} |`;

function bounds(): string[] {
  const seen = new Set<string>();
  const lines: string[] = [];
  for (const family of CATALOG.flatMap(({ families }) => families)) {
    if (family.bounds === undefined) continue;
    const list = boundsOf(family.bounds, DEFAULT_BUCKETS);
    const key = list.join(' ');
    if (seen.has(key)) continue;
    seen.add(key);
    lines.push(`- ${code(family.name)}: ${list.map(formatBound).join(', ')}. Why: ${family.boundsReason}.`);
  }
  return lines;
}

const worst = (list: readonly number[], edge: number, low: number, high: number): string =>
  percent(worstInterpolationError(boundsWith(list, [edge], 0), low, high));

function precision(): string[] {
  const { ttftSeconds, tpotSeconds, gapSeconds } = DEFAULT_BUCKETS;
  const { ttft, tpot } = DEFAULTS.slo;
  return [
    '`histogram_quantile` interpolates inside one bucket, so a quantile is off by at most the width of the bucket that it falls into. With the default bounds that is at worst:',
    '',
    '| quantity | range | worst error of a quantile |',
    '|---|---|---|',
    `| TTFT | 0.1 s to 4.5 s | ${worst(ttftSeconds, ttft.thresholdSeconds, 0.1, 4.5)} |`,
    `| TTFT | 4.5 s to the deadline of 30 s | ${worst(ttftSeconds, ttft.thresholdSeconds, 4.5, 30)} |`,
    `| TPOT | 8 ms to 0.22 s | ${worst(tpotSeconds, tpot.thresholdSeconds, 0.008, 0.22)} |`,
    `| TPOT | 1 ms to 8 ms | ${worst(tpotSeconds, tpot.thresholdSeconds, 0.001, 0.008)} |`,
    `| gaps | 1 ms to 1.6 s | ${worst(gapSeconds, gapSeconds[0] ?? 1, 0.001, 1.6)} |`,
    '',
    'The share of probes within a threshold has no such error: every threshold is itself a bound.',
  ];
}

function series(): string[] {
  const { config } = loadConfigFromEnvironment({});
  const { perTarget, exporter } = estimateSeries(config);
  const [target] = perTarget;
  const profile = target?.profiles[0]?.series ?? 0;
  const engine = target?.engine ?? 0;
  return [
    `A target has ${engine} series of its own (budget, pause and an engine with one model and one rank) and ${profile} for each profile. With one profile that is ${engine + profile}, with the two profiles of a configuration that names none it is ${target?.total ?? 0}. The exporter itself adds ${exporter}, once.`,
    '',
    `Of the ${profile}, ${Object.keys(REASON_TABLE).length} are failure reasons that are there at 0 so that the first failure is seen, and most of the rest are buckets. \`inference-probe check\` prints the number for a configuration; shorter lists under \`buckets\` lower it.`,
  ];
}

const reasonRow = (reason: FailureReason): string => {
  const { stage, side, meaning } = REASON_TABLE[reason];
  return `| ${code(reason)} | ${stage} | ${side} | ${cell(meaning)} |`;
};

/** The reference of everything on `/metrics`, from the catalogue. */
export function generateMetricsReference(): { readonly path: string; readonly content: string }[] {
  const domains = CATALOG.flatMap(({ title, families }) => [
    `## ${title}`,
    '',
    '| name | type | labels | meaning |',
    '|---|---|---|---|',
    ...families.map(row),
    '',
  ]);
  const histograms = CATALOG.flatMap(({ families }) => families).filter((family) => family.type === 'histogram');
  const content = [
    '# Metrics',
    '',
    '<!-- Written by `npm run generate` from src/metrics. -->',
    '',
    'Everything that `/metrics` can carry, in the Prometheus text format 0.0.4 or, when the scraper asks for it, in OpenMetrics 1.0 with exemplars (`probe_id`, and `trace_id` where probes carry a traceparent). Series marked * exist only once there is something to say: what is not known is absent, never 0. All other label sets exist at 0 as soon as the configuration is known.',
    '',
    `A histogram has the samples ${histograms.slice(0, 1).flatMap(sampleNames).map(code).join(', ')} and so on; a summary here has only \`_sum\` and \`_count\`. Bounds are printed as floats (\`le="2.0"\`), the form that Prometheus 3 gives them at ingest, so that a rule matches on Prometheus 2 and 3 alike.`,
    '',
    ...domains,
    '## Number of series',
    '',
    ...series(),
    '',
    '## Bounds',
    '',
    ...bounds(),
    '',
    ...precision(),
    '',
    '## Failure reasons',
    '',
    'Values of `reason` in `inference_probe_failures_total`. `side` says who has to act; reasons of side `probe` enter neither the histograms nor the objectives.',
    '',
    '| reason | stage | side | meaning |',
    '|---|---|---|---|',
    ...(Object.keys(REASON_TABLE) as FailureReason[]).map(reasonRow),
    '',
  ].join('\n');
  return [{ path: 'docs/METRICS.md', content }];
}

import { estimateChart } from './report-chart-levels.ts';
import { engineChart, timelineChart } from './report-chart-time.ts';
import {
  type Block,
  chart,
  facts,
  heading,
  leftColumn,
  list,
  notice,
  paragraph,
  type ReportDocument,
  type TableCell,
  table,
} from './report-document.ts';
import { asNumber, asPercent, asTime, DASH, plural, withInterval } from './report-format.ts';
import type { Elimination, EngineFigures, LatencyFigures, Quantiles, Summary } from './summary-types.ts';
import type { Arrival, EngineRecord, RequestRecord, RunMetadata } from './types.ts';

/** What the report of a run shows. */
export interface RunView {
  readonly metadata: RunMetadata;
  readonly summary: Summary;
  readonly requests: readonly RequestRecord[];
  readonly engine: readonly EngineRecord[];
}

export const arrivalInWords = (arrival: Arrival): string =>
  arrival.kind === 'closed'
    ? `${plural(arrival.concurrency, 'request')} in flight`
    : `${asNumber(arrival.ratePerSecond)} requests/s, ${arrival.process}`;

const VERDICTS = {
  result: null,
  partial: notice('warn', 'Partial', 'The run was cut short. What is here is valid, but it is less than was planned.'),
  client_limited: notice(
    'bad',
    'Not a result',
    'The measuring client was the limit: these figures are not those of the engine.',
  ),
  empty: notice('bad', 'Nothing measured', 'No request was sent inside the trimmed window.'),
} as const;

function failuresBlock(summary: Summary): readonly Block[] {
  const { failed, sent, failedRatio, failures, notStarted } = summary.requests;
  const lost = notStarted === 0 ? '' : ` ${plural(notStarted, 'request')} of the timetable could not be started.`;
  if (failed === 0) {
    const bound = failedRatio === null ? '' : ` (at most ${asPercent(failedRatio.high)} with 95 % confidence)`;
    return [notice('good', `No failures among ${plural(sent, 'request')}`, `${bound}${lost}`.trim())];
  }
  const interval =
    failedRatio === null
      ? ''
      : `${asPercent(failedRatio.centre)}, 95 % interval ${asPercent(failedRatio.low)} to ${asPercent(failedRatio.high)}.`;
  return [
    notice('bad', `${asNumber(failed)} of ${plural(sent, 'request')} failed`, `${interval}${lost}`),
    table(
      'Failures by reason',
      [leftColumn('reason'), leftColumn('side'), 'requests'],
      failures.map((failure) => [failure.reason, failure.side, asNumber(failure.requests)]),
    ),
  ];
}

const quantileRow = (name: string, quantiles: Quantiles): readonly TableCell[] => [
  name,
  asNumber(quantiles.samples),
  asTime(quantiles.meanSeconds),
  withInterval(quantiles.p50),
  withInterval(quantiles.p95),
  withInterval(quantiles.p99),
];

function latencyBlocks(summary: Summary): readonly Block[] {
  const scheduled = summary.fromScheduled;
  const kinds: readonly (readonly [string, LatencyFigures])[] = [
    ['TTFT', summary.ttft],
    ['TPOT', summary.tpot],
    ['E2E', summary.e2e],
    ...(scheduled === null
      ? []
      : ([
          ['TTFT from the scheduled instant', scheduled.ttft],
          ['E2E from the scheduled instant', scheduled.e2e],
        ] as const)),
  ];
  const columns = [leftColumn('latency'), 'n', 'mean', 'p50', 'p95', 'p99'];
  const without = table(
    'Of the requests that got the value; in brackets the 95 % interval; n= where there are too few for it',
    columns,
    kinds.map(([name, figures]) => quantileRow(name, figures.withoutFailures)),
  );
  if (summary.requests.failed === 0) return [without];
  return [
    without,
    table(
      'With failures counted as slower than anything that was seen ("failed": the quantile lies among them)',
      columns,
      kinds.map(([name, figures]) => quantileRow(name, figures.withFailures)),
    ),
  ];
}

function quantileChart(summary: Summary): Block {
  const kinds = [summary.ttft, summary.tpot, summary.e2e].map((figures) => figures.withoutFailures);
  const series = (['p50', 'p95', 'p99'] as const).map((name) => ({
    name,
    estimates: kinds.map((quantiles) => {
      const figure = quantiles[name];
      return { value: figure.seconds, low: figure.lowSeconds, high: figure.highSeconds };
    }),
  }));
  return chart(
    'Quantiles with their 95 % intervals',
    'An arrow: the sample does not bound the quantile from above.',
    estimateChart('Quantiles of TTFT, TPOT and E2E', '', ['TTFT', 'TPOT', 'E2E'], series),
  );
}

const peakAndMean = (
  figures: { readonly peak: number | null; readonly mean: number | null },
  format: (value: number | null) => string,
): string => `peak ${format(figures.peak)}, mean ${format(figures.mean)}`;

function engineFacts(engine: EngineFigures): Block {
  return facts([
    ['KV cache usage', peakAndMean(engine.kvUsageRatio, asPercent)],
    ['Running', peakAndMean(engine.running, asNumber)],
    ['Waiting', `${peakAndMean(engine.waiting, asNumber)}; in ${asPercent(engine.waitingShare)} of the polls`],
    ['Preemptions', asNumber(engine.preemptions)],
    ['Prefix cache hits', asPercent(engine.prefixHitRatio)],
    [
      'Generated by the engine',
      engine.generationTokens === null
        ? 'the engine does not say'
        : `${asNumber(engine.generationTokens)} tokens, of which ours ${asPercent(engine.ownTokensRatio)}`,
    ],
    ['Zone', engine.zone ?? DASH],
    ['Polls', `${asNumber(engine.polls)}, ${asNumber(engine.failedPolls)} failed`],
  ]);
}

const OWN_NAMES = { ttft: 'TTFT', inter_token_latency: 'gap between tokens', e2e: 'E2E', queue_time: 'queue' } as const;

/** The engine's clock beside ours: what lies between the two is the network, a gateway, or this client. */
function ownLatencyBlock({ ownLatencies }: EngineFigures): readonly Block[] {
  if (ownLatencies.length === 0) return [];
  const rows = ownLatencies.map((own): readonly TableCell[] => [
    OWN_NAMES[own.role],
    asNumber(own.observations),
    asTime(own.meanSeconds),
    asNumber(own.clientObservations),
    asTime(own.clientMeanSeconds),
  ]);
  return [
    table(
      'What the engine timed itself and what was seen here between the same two polls; other users are in its own figures only',
      [leftColumn('mean of'), 'n, engine', 'engine', 'n, here', 'here'],
      rows,
    ),
  ];
}

const ELIMINATION_TONES = { cleared: 'good', remains: 'bad', unknown: 'warn' } as const;

const eliminationTable = (rows: readonly Elimination[]): Block =>
  table(
    'What could have made it slow: cleared, or still there',
    [leftColumn('cause'), leftColumn('verdict'), leftColumn('because')],
    rows.map((row) => [
      row.cause.replaceAll('_', ' '),
      { text: row.verdict, tone: ELIMINATION_TONES[row.verdict] },
      row.evidence,
    ]),
  );

function throughputFacts(summary: Summary): Block {
  const { throughput, output, prompt, goodput } = summary;
  return facts([
    ['Output tokens/s', asNumber(throughput.outputTokensPerSecond)],
    ['Requests/s', asNumber(throughput.requestsPerSecond)],
    [
      'Output length',
      `mean ${asNumber(output.meanTokens)} tokens, variance ${asNumber(output.varianceTokens)} (n=${output.samples})`,
    ],
    [
      'Prompt length',
      `${asNumber(prompt.minTokens)} to ${asNumber(prompt.maxTokens)} tokens, cached ${asPercent(prompt.cachedRatio)}`,
    ],
    ...(goodput === null || goodput.ratio === null
      ? []
      : ([
          [
            'Goodput',
            `${asPercent(goodput.ratio.centre)} of ${plural(goodput.requests, 'request')} within the objectives (95 % interval ${asPercent(goodput.ratio.low)} to ${asPercent(goodput.ratio.high)}), ${asNumber(goodput.goodRequestsPerSecond)} a second`,
          ],
        ] as const)),
  ]);
}

function clientBlock(summary: Summary): readonly Block[] {
  const { client } = summary;
  const own = facts([
    ['Event-loop delay, p99', asTime(client.loopDelayP99Seconds)],
    ['CPU of one core', `mean ${asPercent(client.cpuMean)}, peak ${asPercent(client.cpuPeak)}`],
    ['Send lag, worst', asTime(client.sendLagMaxSeconds)],
    ['Requests that it disturbed', asPercent(client.disturbedRatio)],
    ['Workers', asNumber(client.workers)],
  ]);
  return client.limited ? [notice('bad', 'The client was the limit', client.reasons.join('; ')), own] : [own];
}

const slotLength = ({ timeline }: Summary): string =>
  asTime(Math.max(...timeline.map((slot) => slot.toSeconds - slot.fromSeconds)));

/** Name and version, for a subtitle. */
export const engineInWords = (metadata: RunMetadata | null): string =>
  `${metadata?.engine?.name ?? 'unknown engine'} ${metadata?.engine?.version ?? ''}`.trim();

/** How the run can be repeated. */
export function setupFacts(metadata: RunMetadata): Block {
  const { plan, tool, host, engine, git, measuredPromptTokens: measured } = metadata;
  return facts([
    ['Started', metadata.origin],
    ['Tool', `inference-probe ${tool.version} (${tool.revision}), Node ${tool.node}`],
    ['Engine', engine === null ? 'unknown' : `${engine.name} ${engine.version ?? 'of unknown version'}`],
    ['Model', plan.model],
    ['API', plan.api],
    ['Load', arrivalInWords(plan.arrival)],
    [
      'Prompt',
      `${asNumber(plan.promptTokens)} tokens asked for, ${measured === null ? 'not measured' : `${asNumber(measured.min)} to ${asNumber(measured.max)} measured`}, prefix ${plan.prefix}`,
    ],
    [
      'Output',
      `at most ${asNumber(plan.maxOutputTokens)} tokens${plan.respectEos ? ', the model may end earlier' : ', end marks ignored'}`,
    ],
    ['Window', `${asTime(plan.windowSeconds)}, ${asTime(plan.trimSeconds)} trimmed at each end`],
    ['Seed, hash of the prompts', `${plan.seed}, ${plan.promptSetHash === '' ? DASH : plan.promptSetHash}`],
    ['Machine', `${host.cpu}, ${plural(host.cores, 'core')}, ${host.platform}`],
    ...(engine === null
      ? []
      : Object.entries(engine.cacheConfig).map(([key, value]): [string, string] => [`Engine: ${key}`, value])),
    ...(git === null
      ? []
      : ([['Commit of the working directory', `${git.commit ?? DASH}${git.dirty ? ', changed' : ''}`]] as const)),
  ]);
}

/** A run that is not over, or did not end well, whatever its figures say. */
function endNotice(metadata: RunMetadata): readonly Block[] {
  if (metadata.ended === 'running')
    return [notice('warn', 'Not ended', 'The run was still going, or was killed: this is what its records hold.')];
  return [];
}

/** The report of one run. */
export function runDocument(records: RunView): ReportDocument {
  const { metadata, summary, requests, engine } = records;
  const verdict = VERDICTS[summary.verdict];
  const flagged = summary.timeline.filter((slot) => slot.flagged).length;
  const hasTimeline = summary.timeline.length > 0;
  return {
    title: `Load run: ${metadata.plan.model}, ${arrivalInWords(metadata.plan.arrival)}`,
    subtitle: `${engineInWords(metadata)}; ${metadata.origin}; figures over ${asTime(summary.window.lengthSeconds)}`,
    blocks: [
      ...endNotice(metadata),
      ...(verdict === null ? [] : [verdict]),
      ...failuresBlock(summary),
      ...(flagged === 0
        ? []
        : [
            notice(
              'warn',
              `${plural(flagged, 'slot')} below 70 % of the mean output`,
              'Marked in the time line, and kept in all figures.',
            ),
          ]),
      heading('Throughput'),
      throughputFacts(summary),
      ...(hasTimeline
        ? [
            chart(
              'Time line',
              `Slots of ${slotLength(summary)}; dashed edge and ▼: below 70 % of the mean.`,
              timelineChart(summary),
            ),
          ]
        : []),
      heading('Latency'),
      ...latencyBlocks(summary),
      ...(summary.requests.good > 0 ? [quantileChart(summary)] : []),
      ...(hasTimeline
        ? [
            chart(
              'Latency and engine on one axis of time',
              'What the requests felt, above what the engine said at that moment.',
              engineChart(summary, requests, engine),
            ),
          ]
        : []),
      heading('The engine'),
      ...(summary.engine === null
        ? [paragraph('The engine offered no metrics page, or it was not asked for.')]
        : [engineFacts(summary.engine), ...ownLatencyBlock(summary.engine)]),
      eliminationTable(summary.elimination),
      heading('The client'),
      ...clientBlock(summary),
      heading('Set-up'),
      setupFacts(metadata),
      ...(summary.notes.length === 0 ? [] : [heading('Notes'), list(summary.notes)]),
    ],
  };
}

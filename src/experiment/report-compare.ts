import {
  type ComparedCell,
  type ComparedLevel,
  type ComparedQuantity,
  QUANTITIES,
  type Quantity,
} from './compare-analyse.ts';
import type { ReadComparison } from './compare-read.ts';
import type { ComparePlan, SwitchStates } from './compare-types.ts';
import { attribution, driftInWords, isRepeatable, lookAt, misaligned, repeatabilityText } from './compare-words.ts';
import type { ExperimentNote } from './experiment-folder.ts';
import { effectChart, estimateChart } from './report-chart-levels.ts';
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
import { asChange, asNumber, asPercent, asTime, DASH, plural } from './report-format.ts';
import { setupFacts } from './report-run.ts';
import { median } from './statistics.ts';
import type { Summary } from './summary-types.ts';

const statesInWords = (states: SwitchStates): string =>
  Object.entries(states)
    .map(([name, on]) => `${name.replaceAll('_', ' ')} ${on ? 'on' : 'off'}`)
    .join(', ') || 'as it is';

const medianOf = (cell: ComparedCell, read: (summary: Summary) => number | null): number | null =>
  median(cell.summaries.flatMap((summary) => read(summary) ?? []));

function repeatCell(cell: ComparedCell): TableCell {
  const repeatable = isRepeatable(cell);
  if (repeatable === null) return { text: repeatabilityText(cell), tone: 'warn' };
  return { text: repeatabilityText(cell), tone: repeatable ? 'good' : 'bad' };
}

/** Both sides in one table. */
function cellTable(level: ComparedLevel, switches: readonly string[]): Block {
  return table(
    'Medians of the repeats; spread: (highest − lowest) / median of the throughput, which may be 5 %',
    [
      leftColumn('engine'),
      ...switches.map((name) => leftColumn(name.replaceAll('_', ' '))),
      'n',
      'tokens/s',
      'spread',
      'TTFT p50',
      'TTFT p95',
      'TPOT p50',
      'prefix hits',
      'KV peak',
      'preempt.',
      'failed',
    ],
    level.cells.map((cell) => [
      cell.engine,
      ...switches.map((name) => (cell.states[name] === true ? 'on' : 'off')),
      String(cell.summaries.length),
      asNumber(cell.medians.throughput),
      repeatCell(cell),
      asTime(cell.medians.ttft),
      asTime(medianOf(cell, (summary) => summary.ttft.withFailures.p95.seconds)),
      asTime(cell.medians.tpot),
      asPercent(medianOf(cell, (summary) => summary.engine?.prefixHitRatio ?? null)),
      asPercent(medianOf(cell, (summary) => summary.engine?.kvUsageRatio.peak ?? null)),
      asNumber(medianOf(cell, (summary) => summary.engine?.preemptions ?? null)),
      asPercent(medianOf(cell, (summary) => summary.requests.failedRatio?.centre ?? null)),
    ]),
  );
}

const significance = (significant: boolean | null): TableCell => {
  if (significant === null) return { text: 'noise unknown', tone: 'warn' };
  return significant ? { text: 'yes', tone: 'good' } : 'no';
};

function effectBlocks(compared: ComparedQuantity, quantity: Quantity): readonly Block[] {
  if (compared.effects.length === 0) return [];
  return [
    chart(
      `Effects on ${quantity.name}`,
      `${quantity.higherIsBetter ? 'To the right is better.' : 'To the left is better.'} Bars are 95 % intervals: one that crosses the middle line is within the noise.`,
      effectChart(`Effects on ${quantity.name}`, compared.effects, asChange),
    ),
    table(
      `Main effects on ${quantity.name}, relative to the mean of the cells without; interactions, to that of all cells`,
      [leftColumn('factor'), 'effect', '95 % interval', leftColumn('beyond the noise')],
      compared.effects.map((effect) => [
        effect.name,
        asChange(effect.ratio),
        effect.low === null || effect.high === null ? DASH : `${asChange(effect.low)} to ${asChange(effect.high)}`,
        significance(effect.significant),
      ]),
    ),
  ];
}

/** Repeats of each cell: median, lowest and highest. */
function throughputChart(level: ComparedLevel, plan: ComparePlan): Block {
  const categories = [...new Set(level.cells.map((cell) => statesInWords(cell.states)))];
  const series = plan.engines.map(({ name }) => ({
    name,
    estimates: categories.map((category) => {
      const cell = level.cells.find((one) => one.engine === name && statesInWords(one.states) === category);
      const values = (cell?.summaries ?? []).map((summary) => summary.throughput.outputTokensPerSecond);
      return values.length === 0
        ? { value: null, low: null, high: null }
        : { value: median(values), low: Math.min(...values), high: Math.max(...values) };
    }),
  }));
  return chart(
    'Output tokens a second',
    'Median of the repeats, with the lowest and the highest.',
    estimateChart('Output tokens a second by cell', '', categories, series, asNumber),
  );
}

/** Cells with the same list are told it once. */
function byAdvice(cells: readonly ComparedCell[], drift: ComparedLevel['drift']) {
  const groups = new Map<string, { readonly advice: readonly string[]; readonly cells: ComparedCell[] }>();
  for (const cell of cells) {
    const advice = lookAt(cell, drift);
    const key = advice.join('\n');
    groups.set(key, { advice, cells: [...(groups.get(key)?.cells ?? []), cell] });
  }
  return [...groups.values()];
}

function repeatability(level: ComparedLevel): readonly Block[] {
  const failing = level.cells.filter((cell) => isRepeatable(cell) === false);
  const unknown = level.cells.filter((cell) => isRepeatable(cell) === null).length;
  if (failing.length === 0) {
    return unknown > 0
      ? [notice('warn', 'Repeatability unknown', `${plural(unknown, 'cell')} with fewer than two valid repeats.`)]
      : [notice('good', 'Repeatable', 'The repeats of every cell lie within 5 % of their median.')];
  }
  return [
    notice(
      'bad',
      `${plural(failing.length, 'cell')} of ${level.cells.length} not repeatable within 5 %`,
      'Differences of that size mean nothing until this is understood. What to look at first:',
    ),
    ...(level.drift === null ? [] : [notice('warn', 'All set-ups drifted together', driftInWords(level.drift))]),
    ...byAdvice(failing, level.drift).flatMap(({ cells, advice }) => [
      paragraph(
        `${cells.map((cell) => `${cell.engine}, ${statesInWords(cell.states)} (${asPercent(cell.spread)})`).join('; ')}:`,
      ),
      list(advice, true),
    ]),
  ];
}

/** Runs that measured our own client are no result, however many there are. */
function clientNotice({ cells }: ComparedLevel): readonly Block[] {
  const limited = cells.reduce((sum, cell) => sum + cell.clientLimited, 0);
  return limited === 0
    ? []
    : [
        notice(
          'bad',
          `${plural(limited, 'run')} left out: the client was the limit`,
          'They measured the machine that sends the load and not the engine. Give the client cores of its own.',
        ),
      ];
}

function levelBlocks(comparison: ReadComparison, level: ComparedLevel): readonly Block[] {
  const { plan } = comparison;
  const sentences = QUANTITIES.flatMap((quantity) => {
    const found = level.quantities.find((one) => one.key === quantity.key);
    return found === undefined ? [] : attribution(plan, found, quantity);
  });
  return [
    heading(`${plural(level.level, 'request')} in flight`),
    ...(level.missing === 0
      ? []
      : [notice('warn', 'Partial', `${plural(level.missing, 'cell')} without any valid run.`)]),
    ...clientNotice(level),
    cellTable(level, plan.switches),
    throughputChart(level, plan),
    ...(sentences.length === 0 ? [] : [heading('To what it is due', 3), list(sentences)]),
    ...QUANTITIES.flatMap((quantity) => {
      const found = level.quantities.find((one) => one.key === quantity.key);
      return found === undefined ? [] : effectBlocks(found, quantity);
    }),
    heading('Repeatability', 3),
    ...repeatability(level),
  ];
}

function setupBlocks(comparison: ReadComparison): readonly Block[] {
  return comparison.plan.engines.flatMap((engine) => {
    const example = comparison.examples[engine.name];
    const switches = Object.entries(engine.switches).map(([name, given]): [string, string] => [
      `Switch ${name}`,
      `on: ${given.on || '(nothing)'}; off: ${given.off || '(nothing)'}`,
    ]);
    return [
      heading(engine.name, 3),
      facts([['Address', engine.url], ['Start command', engine.start ?? 'none: it ran already'], ...switches]),
      ...(example === undefined ? [paragraph('Never measured.')] : [setupFacts(example)]),
    ];
  });
}

/** The report of a comparison. */
export function compareDocument(comparison: ReadComparison, notes: readonly ExperimentNote[]): ReportDocument {
  const { plan, levels, measured, planned } = comparison;
  const warnings = misaligned(levels);
  return {
    title: plan.name,
    subtitle: `${plan.engines.map((engine) => engine.name).join(' and ')}; ${plural(measured, 'complete run')} of ${planned}; seed ${plan.seed}`,
    blocks: [
      ...(measured === planned
        ? []
        : [notice('warn', 'Partial', `${measured} of ${planned} runs are complete. What is here is valid.`)]),
      ...(warnings.length === 0 ? [] : [notice('bad', 'The sides did not do the same work', warnings.join('; '))]),
      ...(plan.allow.length === 0
        ? []
        : [notice('warn', 'Differences that were allowed', plan.allow.join(', ').replaceAll('_', ' '))]),
      ...levels.flatMap((level) => levelBlocks(comparison, level)),
      ...(notes.length === 0
        ? []
        : [heading('What is missing, and why'), list(notes.map((note) => `${note.cell}: ${note.message}`))]),
      heading('Set-up'),
      facts([
        ['Repeats', String(plan.repeats)],
        ['Cool-down between cells', asTime(plan.cooldownSeconds)],
        ['Order', `every cell once before any is repeated, shuffled by the seed ${plan.seed}`],
      ]),
      ...setupBlocks(comparison),
    ],
  };
}

/** The result in sentences, for the terminal. */
export const comparisonVerdicts = (comparison: ReadComparison): readonly string[] => [
  ...misaligned(comparison.levels).map((message) => `the sides did not do the same work: ${message}`),
  ...comparison.levels.flatMap((level) =>
    QUANTITIES.flatMap((quantity) => {
      const found = level.quantities.find((one) => one.key === quantity.key);
      return found === undefined
        ? []
        : attribution(comparison.plan, found, quantity).map((sentence) => `${level.level} in flight: ${sentence}`);
    }),
  ),
];

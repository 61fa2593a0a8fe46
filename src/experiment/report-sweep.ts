import type { ExperimentNote } from './experiment-folder.ts';
import type { KneeVerdict } from './knee.ts';
import { differenceInWords } from './noise.ts';
import { curveChart, estimateChart } from './report-chart-levels.ts';
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
import { engineInWords, setupFacts } from './report-run.ts';
import { median } from './statistics.ts';
import type { Summary } from './summary-types.ts';
import type { AnalysedLevel, AnalysedPrompt } from './sweep-analyse.ts';
import type { ReadSweep } from './sweep-read.ts';
import type { SweepPlan } from './sweep-types.ts';

const axisName = (plan: SweepPlan): string => (plan.axis.kind === 'concurrency' ? 'requests in flight' : 'value');

const promptName = (found: AnalysedPrompt): string =>
  found.prompt.name.startsWith('tokens-')
    ? `prompts of ${asNumber(found.prompt.promptTokens)} tokens`
    : `${found.prompt.name} prompts (${asNumber(found.prompt.promptTokens)} tokens)`;

function kneeTitle(knee: KneeVerdict): string {
  switch (knee.kind) {
    case 'found':
      return `knee at ${knee.level}`;
    case 'none':
      return 'no knee in this range';
    case 'below_range':
      return 'the knee lies below this range';
  }
}

/** Whether the repeats, each taken alone, say the same. */
function agreement(found: AnalysedPrompt): string {
  const { kneeByRepeat, knee } = found;
  if (kneeByRepeat.length < 2) return ' One repeat says nothing of the noise.';
  const wanted = knee.kind === 'found' ? knee.level : null;
  const names = kneeByRepeat.map((level) => (level === null ? 'none' : String(level))).join(', ');
  return kneeByRepeat.every((level) => level === wanted)
    ? ` Each of the ${kneeByRepeat.length} repeats alone says the same.`
    : ` The repeats alone say ${names}: within the noise, so take it as a range.`;
}

const kneeNotice = (found: AnalysedPrompt): Block =>
  notice(
    found.knee.kind === 'found' ? 'good' : 'warn',
    `${promptName(found)}: ${kneeTitle(found.knee)}`,
    `${found.knee.why[0]?.toUpperCase() ?? ''}${found.knee.why.slice(1)}.${agreement(found)}`,
  );

function pointsTable(sweep: ReadSweep): Block {
  const show = (level: number | null): string => (level === null ? 'none in this range' : String(level));
  return table(
    `Working points, in ${axisName(sweep.plan)}`,
    [leftColumn('prompts'), 'latency first', 'throughput first', 'highest within the objectives'],
    sweep.prompts.map((found) => [
      promptName(found),
      show(found.points.latencyFirst),
      show(found.points.throughputFirst),
      sweep.plan.load.slo.ttftSeconds === null && sweep.plan.load.slo.tpotSeconds === null
        ? 'no objective given'
        : show(found.points.withinSlo),
    ]),
  );
}

const medianOf = (level: AnalysedLevel, read: (summary: Summary) => number | null): number | null =>
  median(level.summaries.flatMap((summary) => read(summary) ?? []));

function gainCell(level: AnalysedLevel): TableCell {
  const { gain } = level;
  if (gain === null) return DASH;
  if (gain.beyondNoise === false) return { text: `${asChange(gain.ratio)} (noise)`, tone: 'plain' };
  return asChange(gain.ratio);
}

function levelTable(sweep: ReadSweep, found: AnalysedPrompt): Block {
  const knee = found.knee.kind === 'found' ? found.knee.level : null;
  return table(
    `Medians of the n valid repeats; change: of their means. "(noise)": the repeats do not allow to call it a difference to the line above. ◆: the knee`,
    [
      sweep.plan.axis.kind === 'concurrency' ? 'in flight' : 'value',
      'n',
      'tokens/s',
      'change',
      'spread',
      'TTFT p50',
      'TTFT p99',
      'TPOT p50',
      'KV peak',
      'waiting',
      'preempt.',
      'failed',
    ],
    found.levels.map((level) => [
      level.value === knee ? `◆ ${level.value}` : String(level.value),
      String(level.summaries.length),
      asNumber(level.figures?.outputTokensPerSecond),
      gainCell(level),
      asPercent(level.spread),
      asTime(level.figures?.ttftP50Seconds),
      asTime(level.figures?.ttftP99Seconds),
      asTime(level.figures?.tpotP50Seconds),
      asPercent(medianOf(level, (summary) => summary.engine?.kvUsageRatio.peak ?? null)),
      asPercent(level.figures?.waitingShare),
      (level.figures?.preemptions ?? 0) > 0
        ? { text: asNumber(level.figures?.preemptions), tone: 'bad' }
        : asNumber(level.figures?.preemptions),
      (level.figures?.failedRatio ?? 0) > 0
        ? { text: asPercent(level.figures?.failedRatio), tone: 'bad' }
        : asPercent(level.figures?.failedRatio),
    ]),
  );
}

/** Of the repeats of a level the one with the median throughput: its intervals belong to its own values. */
function typical(level: AnalysedLevel): Summary | null {
  const sorted = level.summaries.toSorted(
    (a, b) => a.throughput.outputTokensPerSecond - b.throughput.outputTokensPerSecond,
  );
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

function quantileChart(sweep: ReadSweep, found: AnalysedPrompt, name: 'ttft' | 'tpot', title: string): Block {
  const series = (['p50', 'p95', 'p99'] as const).map((quantile) => ({
    name: quantile,
    estimates: found.levels.map((level) => {
      const figure = typical(level)?.[name].withoutFailures[quantile];
      return { value: figure?.seconds ?? null, low: figure?.lowSeconds ?? null, high: figure?.highSeconds ?? null };
    }),
  }));
  return chart(
    `${title}, ${found.prompt.name} prompts`,
    'Quantiles of the repeat with the median throughput, with their 95 % intervals; an arrow: no upper bound from so few requests.',
    estimateChart(
      `${title} by level`,
      axisName(sweep.plan),
      found.levels.map((level) => String(level.value)),
      series,
      asTime,
      found.knee.kind === 'found' ? String(found.knee.level) : null,
    ),
  );
}

function curve(sweep: ReadSweep): Block {
  return chart(
    'Throughput against latency',
    'Medians; the number at a point is its level. Beyond the knee latency grows and throughput hardly does.',
    curveChart(
      'Throughput-latency curve',
      'TTFT p50',
      sweep.prompts.map((found) => ({
        name: found.prompt.name,
        points: found.levels.flatMap((level) =>
          level.figures === null
            ? []
            : [
                {
                  label: String(level.value),
                  throughput: level.figures.outputTokensPerSecond,
                  latencySeconds: level.figures.ttftP50Seconds,
                  knee: found.knee.kind === 'found' && found.knee.level === level.value,
                  preempted: (level.figures.preemptions ?? 0) > 0,
                },
              ],
        ),
      })),
    ),
  );
}

function unusableNotes(sweep: ReadSweep, notes: readonly ExperimentNote[]): readonly Block[] {
  const items = [
    ...sweep.prompts.flatMap((found) =>
      found.levels.flatMap((level) =>
        level.unusable.map((why) => `${found.prompt.name}, ${level.value}: ${why}; left out of the knee`),
      ),
    ),
    ...notes.map((note) => `${note.cell}: ${note.message}`),
  ];
  return items.length === 0 ? [] : [heading('What is missing, and why'), list(items)];
}

function promptBlocks(sweep: ReadSweep, found: AnalysedPrompt): readonly Block[] {
  if (found.levels.length === 0) return [heading(promptName(found)), paragraph('Nothing was measured.')];
  return [
    heading(promptName(found)),
    levelTable(sweep, found),
    quantileChart(sweep, found, 'ttft', 'TTFT by level'),
    quantileChart(sweep, found, 'tpot', 'TPOT by level'),
  ];
}

/** The report of a sweep. */
export function sweepDocument(sweep: ReadSweep, notes: readonly ExperimentNote[]): ReportDocument {
  const { plan, prompts, example } = sweep;
  const levels = prompts.flatMap((found) => found.levels);
  const complete = levels.reduce((sum, level) => sum + level.complete, 0);
  const missing = levels.filter((level) => level.complete < plan.repeats);
  const measured = prompts.some((found) => found.levels.some((level) => level.figures !== null));
  return {
    title:
      plan.axis.kind === 'concurrency'
        ? `Sweep over concurrency: ${example?.plan.model ?? plan.url}`
        : `Sweep over a start parameter: ${example?.plan.model ?? plan.url}`,
    subtitle: `${engineInWords(example)}; ${plural(complete, 'complete run')} in ${plural(plan.repeats, 'repeat')}; ${example?.origin ?? ''}`,
    blocks: [
      ...(missing.length === 0 && complete > 0
        ? []
        : [notice('warn', 'Partial', 'Not every run of the plan is complete. What is here is valid.')]),
      ...prompts.map(kneeNotice),
      pointsTable(sweep),
      ...(measured ? [curve(sweep)] : []),
      ...prompts.flatMap((found) => promptBlocks(sweep, found)),
      ...unusableNotes(sweep, notes),
      heading('Set-up'),
      ...(plan.axis.kind === 'parameter' ? [facts([['Start command', plan.axis.command]])] : []),
      ...(example === null ? [] : [paragraph('Of the first run:'), setupFacts(example)]),
    ],
  };
}

/** One line a prompt size, for the terminal. */
export const sweepVerdicts = (sweep: ReadSweep): readonly string[] =>
  sweep.prompts.map((found) => {
    const last = found.levels.at(-1);
    const gain = last?.gain === null || last === undefined ? '' : `; last step ${differenceInWords(last.gain)}`;
    return `${promptName(found)}: ${kneeTitle(found.knee)}: ${found.knee.why}${gain}`;
  });

import type { LoadProgress, PreparedLoad } from '../experiment/load-types.ts';
import { asNumber, asPercent, asTime, plural, withInterval } from '../experiment/report-format.ts';
import { arrivalInWords } from '../experiment/report-run.ts';
import type { LatencyFigures, Summary } from '../experiment/summary-types.ts';
import { createStyle, type Style } from './style.ts';

/** What is about to be done, and what it may cost. */
export function planLines(prepared: PreparedLoad): readonly string[] {
  const { plan, cost, calibration, warnings } = prepared;
  const tokens = calibration?.measuredPromptTokens;
  const size = tokens == null ? `${plan.promptTokens}` : `${tokens.median} (measured)`;
  const bound =
    cost.mostTokens === null
      ? 'not known before'
      : `at most ${asNumber(cost.mostRequests)} requests, ${asNumber(cost.mostTokens)} tokens`;
  const workers = plural(plan.workers, 'worker');
  return [
    `plan   ${plan.model} at ${plan.url} (${plan.engine ?? 'unknown engine'}, ${plan.api})`,
    `       ${arrivalInWords(plan.arrival)}; prompts of ${size} tokens, ${plan.prefix}; ${plan.maxOutputTokens} output tokens`,
    `       warm-up of at most ${plan.warmupMaxSeconds} s, window of ${plan.windowSeconds} s, ${workers}, seed ${plan.seed}`,
    `       cost: ${bound}`,
    ...[...warnings, ...(calibration?.notes ?? [])].map((note) => `note   ${note}`),
  ];
}

/** One line, rewritten each second. */
export function renderProgress(progress: LoadProgress, columns: number): string {
  const { phase, leftSeconds, inFlight, ended, failed, outputTokensPerSecond } = progress;
  const line = `${phase}: ${Math.round(leftSeconds)} s left, ${inFlight} in flight, ${ended} done, ${failed} failed, ${asNumber(outputTokensPerSecond)} tokens/s`;
  return line.slice(0, Math.max(10, columns - 1));
}

function latencyRow(name: string, { withoutFailures, withFailures }: LatencyFigures, failed: number): string[] {
  const row = (label: string, { p50, p95, p99, samples }: LatencyFigures['withFailures']): string =>
    `${label.padEnd(22)} p50 ${withInterval(p50)}   p95 ${withInterval(p95)}   p99 ${withInterval(p99)}   n=${samples}`;
  return [row(name, withoutFailures), ...(failed === 0 ? [] : [row(`${name} with failures`, withFailures)])];
}

/** Where every request failed there is nothing that could be called a result. */
export const isResult = ({ verdict, requests }: Summary): boolean => verdict === 'result' && requests.good > 0;

function verdictLine(summary: Summary, style: Style): string[] {
  const { verdict, client } = summary;
  switch (verdict) {
    case 'result':
      return isResult(summary) ? [] : [style.bad('NOT A RESULT: every request failed')];
    case 'partial':
      return [style.warn('PARTIAL: the run was cut short; what is here is valid')];
    case 'client_limited':
      return [style.bad(`NOT A RESULT: the client was the limit: ${client.reasons.join('; ')}`)];
    case 'empty':
      return [style.bad('NOTHING MEASURED: no request was sent inside the window')];
  }
}

function engineLine({ engine }: Summary): string[] {
  if (engine === null) return [];
  const { kvUsageRatio, running, waiting, waitingShare, preemptions, prefixHitRatio, zone } = engine;
  return [
    `${'engine'.padEnd(22)} KV ${asPercent(kvUsageRatio.mean)} mean, ${asPercent(kvUsageRatio.peak)} peak   running ${asNumber(running.mean)} / ${asNumber(running.peak)}   waiting ${asNumber(waiting.mean)} / ${asNumber(waiting.peak)} (in ${asPercent(waitingShare)} of polls)`,
    `${''.padEnd(22)} preemptions ${asNumber(preemptions)}   prefix hits ${asPercent(prefixHitRatio)}   zone ${zone ?? 'unknown'}`,
  ];
}

/** The engine's own clock beside ours. */
function ownLine({ engine }: Summary): string[] {
  const ttft = engine?.ownLatencies.find(({ role }) => role === 'ttft');
  if (ttft === undefined) return [];
  const here = `${asTime(ttft.clientMeanSeconds)} here, n=${ttft.clientObservations}`;
  return [`${''.padEnd(22)} its own TTFT ${asTime(ttft.meanSeconds)} mean, n=${ttft.observations} (${here})`];
}

/** The figures of a run, for a terminal. Failures first. */
export function renderSummary(summary: Summary, folder: string, colour: boolean): string {
  const style = createStyle(colour);
  const { requests, throughput, output, goodput, elimination, window } = summary;
  const failures = requests.failures.map(({ reason, requests: count }) => `${reason} ${count}`).join(', ');
  const remains = elimination.filter(({ verdict }) => verdict === 'remains');
  return [
    ...verdictLine(summary, style),
    `${'failures'.padEnd(22)} ${requests.failed === 0 ? style.good(`none of ${requests.sent}`) : style.bad(`${requests.failed} of ${requests.sent}: ${failures}`)}`,
    `${'throughput'.padEnd(22)} ${asNumber(throughput.outputTokensPerSecond)} output tokens/s   ${asNumber(throughput.requestsPerSecond)} requests/s   over ${asTime(window.lengthSeconds)}`,
    ...latencyRow('TTFT', summary.ttft, requests.failed),
    ...latencyRow('TPOT', summary.tpot, requests.failed),
    ...latencyRow('E2E', summary.e2e, requests.failed),
    ...(summary.fromScheduled === null ? [] : latencyRow('TTFT from schedule', summary.fromScheduled.ttft, 0)),
    `${'output length'.padEnd(22)} mean ${asNumber(output.meanTokens)}   variance ${asNumber(output.varianceTokens)}`,
    ...(goodput === null
      ? []
      : [
          `${'goodput'.padEnd(22)} ${asPercent(goodput.ratio?.centre)} within the objectives, ${asNumber(goodput.goodRequestsPerSecond)} requests/s`,
        ]),
    ...engineLine(summary),
    ...ownLine(summary),
    `${'cleared'.padEnd(22)} ${
      elimination
        .filter(({ verdict }) => verdict === 'cleared')
        .map(({ cause }) => cause)
        .join(', ') || 'nothing'
    }`,
    ...remains.map(({ cause, evidence }) => `${'remains'.padEnd(22)} ${style.strong(cause)}: ${evidence}`),
    ...summary.notes.map((note) => `${'note'.padEnd(22)} ${note}`),
    '',
    `records and report: ${folder}`,
  ].join('\n');
}

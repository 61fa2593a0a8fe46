import { eliminate } from './elimination.ts';
import { mean, proportionInterval, variance } from './statistics.ts';
import { clientFigures } from './summary-client.ts';
import { engineFigures, increase, pollsOf } from './summary-engine.ts';
import { e2eOf, failureCounts, fromScheduled, goodput, latency, tpotOf, ttftOf } from './summary-latency.ts';
import { timeline } from './summary-timeline.ts';
import { ELIMINATION_CAUSES, type OutputFigures, type PromptFigures, type Summary } from './summary-types.ts';
import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata } from './types.ts';
import { inside, isOfWindow, type Span, tokensBetween, windowsOf } from './window.ts';

/** Everything that a run has left. */
export interface RunRecords {
  readonly metadata: RunMetadata;
  readonly requests: readonly RequestRecord[];
  readonly engine: readonly EngineRecord[];
  readonly client: readonly ClientRecord[];
}

const EMPTY_WINDOWS = {
  whole: { fromSeconds: 0, toSeconds: 0 },
  trimmed: { fromSeconds: 0, toSeconds: 0 },
  trimSeconds: 0,
};

function outputFigures(good: readonly RequestRecord[]): OutputFigures {
  const lengths = good.flatMap((record) => record.outputTokens ?? []);
  return {
    samples: lengths.length,
    meanTokens: mean(lengths),
    varianceTokens: variance(lengths),
    countedAsChunks: good.filter((record) => record.tokenSource === 'chunks').length,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function promptFigures(records: readonly RequestRecord[]): PromptFigures {
  const sizes = records.flatMap((record) => record.promptTokens ?? []);
  const told = records.filter((record) => record.promptTokens !== null && record.cachedPromptTokens !== null);
  const asked = sum(told.map((record) => record.promptTokens ?? 0));
  return {
    minTokens: sizes.length === 0 ? null : sizes.reduce((least, size) => Math.min(least, size)),
    meanTokens: mean(sizes),
    maxTokens: sizes.length === 0 ? null : sizes.reduce((most, size) => Math.max(most, size)),
    cachedRatio: asked === 0 ? null : sum(told.map((record) => record.cachedPromptTokens ?? 0)) / asked,
  };
}

/** Above this share of hits prompts that were meant to be unique were not. */
const SUSPICIOUS_HITS = 0.1;
const PROMPT_DRIFT = 0.05;
/** With a larger share of requests that were not started, the loop was open in name only. */
const NOT_STARTED_SHARE = 0.01;

interface NotedFigures extends Pick<Summary, 'prompt' | 'requests' | 'output' | 'timeline' | 'verdict' | 'engine'> {
  /** Requests of the window that were sent twice. */
  readonly sentTwice: number;
}

function notesOf(run: RunRecords, figures: NotedFigures): string[] {
  const { plan } = run.metadata;
  const { prompt, requests, output, engine, sentTwice } = figures;
  const flagged = figures.timeline.filter((slot) => slot.flagged).length;
  const drift = prompt.meanTokens === null ? 0 : prompt.meanTokens / plan.promptTokens - 1;
  const due = requests.sent + requests.notStarted;
  return [
    ...(figures.verdict === 'empty' ? ['no request was sent inside the window: there are no figures'] : []),
    ...(plan.prefix === 'unique' && (prompt.cachedRatio ?? 0) > SUSPICIOUS_HITS
      ? [
          `${((prompt.cachedRatio ?? 0) * 100).toFixed(0)} % of the prompt tokens came from the prefix cache, though prompts were unique: were they sent before with the same seed?`,
        ]
      : []),
    ...(plan.promptsFile === null && Math.abs(drift) > PROMPT_DRIFT
      ? [`prompts had ${prompt.meanTokens?.toFixed(0)} tokens instead of ${plan.promptTokens}`]
      : []),
    ...(output.countedAsChunks > 0
      ? [`the tokens of ${output.countedAsChunks} answers are counted as chunks: the engine sent no usage for them`]
      : []),
    ...(due > 0 && requests.notStarted / due > NOT_STARTED_SHARE
      ? [
          `${requests.notStarted} of ${due} requests were not started when they were due: the rate is beyond what the engine serves within the bound of requests in flight`,
        ]
      : []),
    ...(sentTwice > 0
      ? [
          `${sentTwice} of ${requests.sent} requests were sent twice, because a kept connection was lost before the answer began: look at restarts and idle timeouts of the endpoint and of what lies before it`,
        ]
      : []),
    ...((output.meanTokens ?? 0) > plan.maxOutputTokens
      ? [
          `answers had ${output.meanTokens?.toFixed(0)} tokens, more than the ${plan.maxOutputTokens} that were asked for: the endpoint does not keep to --max-out`,
        ]
      : []),
    ...(engine !== null && engine.failedPolls > 0
      ? [
          `${engine.failedPolls} of ${engine.polls + engine.failedPolls} polls of the engine's metrics failed: its figures are of the others`,
        ]
      : []),
    ...(flagged > 0
      ? [`${flagged} slots of the timeline are below 70 % of the mean; they are kept in all figures`]
      : []),
  ];
}

function verdictOf(run: RunRecords, sent: number, limited: boolean): Summary['verdict'] {
  if (sent === 0) return 'empty';
  if (limited) return 'client_limited';
  return run.metadata.ended === 'complete' ? 'result' : 'partial';
}

function notStartedInside(client: readonly ClientRecord[], span: Span): number {
  return sum(client.flatMap((record) => (inside(span, record.atSeconds) ? [record.notStarted] : [])));
}

/** The figures of a run from its records alone: the same for a run that has just ended and for a folder read later. */
export function summarise(run: RunRecords): Summary {
  const { plan, notes } = run.metadata;
  const windows = windowsOf(run.metadata, run.requests, run.client) ?? EMPTY_WINDOWS;
  const { whole, trimmed } = windows;
  const lengthSeconds = trimmed.toSeconds - trimmed.fromSeconds;
  const perSecond = (count: number): number => (lengthSeconds > 0 ? count / lengthSeconds : 0);

  const sent = run.requests.filter((record) => isOfWindow(record, trimmed));
  const good = sent.filter((record) => record.outcome === 'good');
  const ended = run.requests.filter((record) => record.outcome === 'good' && inside(trimmed, record.endedAtSeconds));
  const outputTokens = tokensBetween(run.requests, trimmed);

  const ttft = latency(sent, ttftOf, true);
  const requests = {
    sent: sent.length,
    good: good.length,
    failed: sent.length - good.length,
    failedRatio: proportionInterval(sent.length - good.length, sent.length),
    failures: failureCounts(sent),
    notStarted: notStartedInside(run.client, trimmed),
  };
  const client = clientFigures(run.client, sent, trimmed, ttft.withoutFailures.p50.seconds);
  const engine = engineFigures(run.engine, trimmed, run.requests);
  const output = outputFigures(good);
  const prompt = promptFigures(sent);
  const slots = lengthSeconds > 0 ? timeline(whole, trimmed, run.requests, run.engine) : [];
  const sentTwice = sent.filter((record) => record.sentTwice === true).length;
  const verdict = verdictOf(run, sent.length, client.limited);
  return {
    format: 1,
    verdict,
    arrival: plan.arrival,
    window: { ...trimmed, lengthSeconds, plannedSeconds: plan.windowSeconds, trimSeconds: windows.trimSeconds },
    requests,
    throughput: {
      requestsPerSecond: perSecond(ended.length),
      outputTokensPerSecond: perSecond(outputTokens),
      outputTokens,
    },
    ttft,
    tpot: latency(sent, tpotOf, false),
    e2e: latency(sent, e2eOf, false),
    fromScheduled:
      plan.arrival.kind === 'open'
        ? { ttft: latency(sent, fromScheduled(ttftOf), true), e2e: latency(sent, fromScheduled(e2eOf), false) }
        : null,
    output,
    prompt,
    goodput: lengthSeconds > 0 ? goodput(sent, plan.slo, lengthSeconds) : null,
    timeline: slots,
    engine,
    elimination: eliminate(ELIMINATION_CAUSES, {
      plan,
      requests: sent,
      summary: { client, requests, engine, output },
      restarts: increase(pollsOf(run.engine, trimmed), 'restarts'),
    }),
    client,
    notes: [
      ...notes,
      ...notesOf(run, { prompt, requests, output, timeline: slots, verdict, engine, sentTwice }),
      ...client.disturbances.map((text) => `${text}: upper quantiles may be too high by that`),
    ],
  };
}

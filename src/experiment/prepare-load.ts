import { combineFacts } from '../app/endpoint-facts.ts';
import { keyOf, liveHeaders } from '../app/secrets.ts';
import { discover } from '../engine/detect.ts';
import type { Discovery } from '../engine/types.ts';
import { ProbeExporterError, wrongUsage } from '../errors.ts';
import { displayUrl } from '../probe/failure.ts';
import { seconds } from '../units.ts';
import { checkNumbers } from './check-numbers.ts';
import { loadCost } from './load-cost.ts';
import type { LoadDependencies, LoadRequest, PreparedLoad, PrepareLoad } from './load-types.ts';
import { readPromptsFile } from './prompts.ts';
import { minimumSamples } from './statistics.ts';

const ASK_TIMEOUT = seconds(3);
/** With fewer requests the share that meets an objective is not even known to a fifth. */
const SLO_SAMPLES = 20;

const hasObjectives = ({ slo }: LoadRequest): boolean => Object.values(slo).some((bound) => bound !== null);

/** Length of the window without its trimmed ends. */
const figuresSeconds = ({ windowSeconds, trimSeconds }: LoadRequest): number => windowSeconds - 2 * trimSeconds;

/** Requests that the figures will be about; for a closed loop when each just meets its objectives. */
function expectedRequests(request: LoadRequest): number | null {
  const { arrival, maxOutputTokens, slo } = request;
  const figures = figuresSeconds(request);
  if (arrival.kind === 'open') return arrival.ratePerSecond * figures;
  const slowest =
    slo.e2eSeconds ??
    (slo.tpotSeconds === null ? null : (slo.ttftSeconds ?? 0) + slo.tpotSeconds * Math.max(0, maxOutputTokens - 1));
  return slowest === null || slowest <= 0 ? null : (arrival.concurrency * figures) / slowest;
}

/**
 * What is known once a lone request was timed: whether enough requests fall into the window of a closed loop.
 *
 * @throws ProbeExporterError USAGE when there are objectives, and too few requests for them
 */
export function checkSamples({ request, calibration }: PreparedLoad): void {
  const { arrival } = request;
  const alone = calibration?.aloneSeconds ?? 0;
  if (arrival.kind === 'open' || alone <= 0 || !hasObjectives(request)) return;
  const most = (arrival.concurrency * figuresSeconds(request)) / alone;
  if (most >= SLO_SAMPLES) return;
  wrongUsage(
    `the objectives cannot be measured: a lone request takes ${alone.toFixed(1)} s, so at most ${Math.floor(most)} fall into the window, ${SLO_SAMPLES} are needed; lengthen the window (-d), raise -c or lower --max-out`,
  );
}

function checkSlo(request: LoadRequest): string[] {
  const { arrival } = request;
  if (!hasObjectives(request)) return [];
  const expected = expectedRequests(request);
  if (expected === null) return [];
  const about = `about ${Math.floor(expected)} requests fall into the window`;
  if (arrival.kind === 'open' && expected < SLO_SAMPLES) {
    wrongUsage(
      `the objectives cannot be measured: ${about}, ${SLO_SAMPLES} are needed; lengthen the window (-d) or raise --rate`,
    );
  }
  return expected < minimumSamples(0.99)
    ? [`${about} when the objectives are just met: too few for a p99, which needs ${minimumSamples(0.99)}`]
    : [];
}

async function ask(request: LoadRequest, deps: Pick<LoadDependencies, 'clock' | 'log' | 'signal'>): Promise<Discovery> {
  const { target } = request;
  return await discover(
    {
      url: target.url,
      apiKey: () => keyOf(target),
      headers: liveHeaders(() => target),
      engine: target.engine,
      metricsUrl: target.metrics.metricsUrl,
      timeoutSeconds: ASK_TIMEOUT,
      tls: target.connection,
      signal: deps.signal,
    },
    deps,
  );
}

/** Asked without a key that cannot be read, the endpoint would be taken for one that cannot be reached. */
function checkKey({ target }: LoadRequest): void {
  try {
    keyOf(target);
  } catch (error) {
    if (!(error instanceof ProbeExporterError)) throw error;
    wrongUsage(`the key cannot be read: ${error.message}`);
  }
}

/** Findings about a connection that did not come about; whatever answers is told in other words. */
const UNREACHABLE = /: (connect|dns|tls|timeout)/;
const WANTS_KEY = /\/models: HTTP 40[13]\b/;

function checkModel(request: LoadRequest, model: string | null, found: Discovery): string {
  const place = displayUrl(request.target.url);
  if (model === null) {
    if (found.findings.length > 0 && found.findings.every((finding) => UNREACHABLE.test(finding)))
      wrongUsage(`nothing can be asked of ${place}: is it running, and is the address right? ${found.findings[0]}`);
    const refusal = found.findings.find((finding) => WANTS_KEY.test(finding));
    if (refusal !== undefined) {
      const how =
        request.target.apiKey === null
          ? 'give its key with --api-key-file or --api-key-env'
          : 'the key is not the right one';
      wrongUsage(`${place} tells its models only to who has a key (${refusal}): ${how}`);
    }
    return wrongUsage(
      `${place} does not list its models: name one with --model. Asked: ${found.findings.slice(0, 3).join('; ') || 'nothing answered'}`,
    );
  }
  if (found.models.length > 0 && !found.models.includes(model)) {
    return wrongUsage(
      `${place} does not serve ${JSON.stringify(model)}; it lists ${found.models.slice(0, 10).join(', ')}`,
    );
  }
  return model;
}

function checkContext(
  { promptTokens, maxOutputTokens, promptsFile }: LoadRequest,
  { maxModelLength }: Discovery,
): void {
  if (maxModelLength === null || promptsFile !== null || promptTokens + maxOutputTokens <= maxModelLength) return;
  wrongUsage(
    `${promptTokens} prompt tokens and ${maxOutputTokens} output tokens are over the context of the model (${maxModelLength}): lower --in-tokens or --max-out`,
  );
}

/** See `PrepareLoad`. */
export const prepareLoad: PrepareLoad = async (request, deps): Promise<PreparedLoad> => {
  checkNumbers(request);
  const sloWarnings = checkSlo(request);
  const { target } = request;
  const filePrompts = request.promptsFile === null ? [] : readPromptsFile(request.promptsFile);
  checkKey(request);
  const found = await ask(request, deps);
  if (deps.signal.aborted) wrongUsage('interrupted before the run began: nothing was measured');
  const facts = combineFacts(target, found, null);
  const model = checkModel(request, facts.model, found);
  checkContext(request, found);
  const api = facts.apis[0] ?? 'chat';
  return {
    request,
    plan: {
      url: displayUrl(target.url),
      model,
      api,
      engine: facts.engine,
      arrival: request.arrival,
      windowSeconds: request.windowSeconds,
      trimSeconds: request.trimSeconds,
      warmupMaxSeconds: request.warmupMaxSeconds,
      promptTokens: request.promptTokens,
      maxOutputTokens: request.maxOutputTokens,
      prefix: request.prefix,
      respectEos: request.respectEos,
      promptsFile: request.promptsFile,
      promptSetHash: '',
      seed: request.seed,
      workers: request.workers,
      slo: request.slo,
      metrics: request.metrics,
    },
    facts: { ...facts, model },
    discovery: found,
    filePrompts,
    calibration: null,
    cost: loadCost(request, null),
    warnings: [
      ...sloWarnings,
      ...(request.metrics && facts.metricsUrl === null
        ? ["the engine's metrics page was not found: its queue, cache and preemptions stay unknown (--metrics-url)"]
        : []),
    ],
  };
};

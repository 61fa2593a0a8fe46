import { elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import type { ExchangeFacts } from './exchange.ts';
import type { Failure, GoodProbe, PhaseSeconds, ProbeMeasurement, ProbeOutcome, TimelineEntry } from './outcome.ts';
import type { ReadingResult } from './reading.ts';

/** What is known of a probe besides its exchange. */
export interface ProbeFrame
  extends Pick<ProbeMeasurement, 'id' | 'target' | 'model' | 'profile' | 'api' | 'startedAt' | 'beganAt'>,
    Pick<ProbeMeasurement, 'refusedParameters' | 'retryAfterSeconds' | 'clientCertificateExpiresAt'> {
  readonly loopDelaySeconds: Seconds;
  /** Loop delay above max(this, 5 % of the TTFT) spoils the times of this probe. */
  readonly disturbedAfterSeconds: Seconds;
}

const DISTURBED_SHARE = 0.05;

/** Seconds from the hand-over of the request; stamps of one clock never lie before it, whatever the clock of a test. */
function since(requestAt: MonotonicInstant | null, at: MonotonicInstant | null | undefined): Seconds | null {
  if (requestAt === null || at === null || at === undefined) return null;
  return seconds(Math.max(0, elapsed(requestAt, at)));
}

function phasesOf({ connection, requestAt, writtenAt, headersAt }: ExchangeFacts): PhaseSeconds {
  const { dns = null, tcp = null, tls = null } = connection?.phases ?? {};
  return { dns, tcp, tls, write: since(requestAt, writtenAt), headers: since(requestAt, headersAt) };
}

function timelineOf(result: ReadingResult | null, requestAt: MonotonicInstant | null): readonly TimelineEntry[] {
  return (result?.timeline ?? []).map(({ at, kind, tokens }) => ({
    atSeconds: since(requestAt, at) ?? seconds(0),
    kind,
    tokens,
  }));
}

/** A gateway says that another model answered in place of the one that was asked for. */
const fellBack = (headers: Readonly<Record<string, string>>): boolean =>
  Number(headers['x-litellm-attempted-fallbacks'] ?? 0) > 0;

/**
 * Puts the outcome of one probe together. What it is made of must not change afterwards: the outcome is immutable.
 * Field by field: spreads of this many make objects of no fixed shape, at many times the cost.
 */
export function assemble(facts: ExchangeFacts, failure: Failure | null, frame: ProbeFrame): ProbeOutcome {
  const { result, connection, requestAt, endedAt, ending } = facts;
  const { loopDelaySeconds } = frame;
  const gapsSeconds = result?.gapsSeconds ?? [];
  const ttftSeconds = since(requestAt, result?.firstTokenAt);
  const complete = failure === null || (result?.terminal ?? false);
  const disturbed = loopDelaySeconds > Math.max(frame.disturbedAfterSeconds, DISTURBED_SHARE * (ttftSeconds ?? 0));
  const failed = ending.kind === 'broken' ? ending.failure.certificateExpiresAt : null;
  const good: GoodProbe = {
    outcome: 'good',
    id: frame.id,
    target: frame.target,
    model: frame.model,
    profile: frame.profile,
    api: frame.api,
    startedAt: frame.startedAt,
    beganAt: frame.beganAt,
    requestAt,
    endedAt,
    httpStatus: facts.status,
    connection: connection === null ? null : connection.reused ? 'reused' : 'fresh',
    phases: phasesOf(facts),
    ttfeSeconds: since(requestAt, result?.firstEventAt),
    ttftSeconds,
    ttfcSeconds: since(requestAt, result?.firstContentAt),
    tpotSeconds: result?.tpotSeconds ?? null,
    gapsSeconds,
    longestGapSeconds: longest(gapsSeconds),
    durationSeconds: since(requestAt, complete ? (result?.terminalAt ?? endedAt) : endedAt),
    outputTokens: result?.outputTokens ?? null,
    firstChunkTokens: result?.firstChunkTokens ?? null,
    tokenSource: result?.tokenSource ?? null,
    promptTokens: result?.promptTokens ?? null,
    cachedPromptTokens: result?.cachedPromptTokens ?? null,
    reasoningTokens: result?.reasoningTokens ?? null,
    events: result?.events ?? 0,
    tokenChunks: result?.tokenChunks ?? 0,
    nonconformingEvents: result?.nonconformingEvents ?? 0,
    finishReason: result?.finishReason ?? null,
    terminal: result?.terminal ?? false,
    // What lay in our own socket until our loop ran again also comes in lumps: nobody else need have held it back.
    buffered: !disturbed && (result?.buffered ?? false),
    disturbed,
    eventLoopDelaySeconds: loopDelaySeconds,
    fallback: fellBack(facts.headers),
    compressed: facts.compressed,
    retriedStaleConnection: connection?.retriedStale ?? false,
    refusedParameters: frame.refusedParameters,
    retryAfterSeconds: frame.retryAfterSeconds,
    certificateExpiresAt: connection?.certificateExpiresAt ?? failed,
    clientCertificateExpiresAt: frame.clientCertificateExpiresAt,
    outputHash: result?.textHash ?? null,
    timeline: timelineOf(result, requestAt),
  };
  return failure === null ? good : { ...good, outcome: 'failed', failure };
}

function longest(gapsSeconds: readonly Seconds[]): Seconds | null {
  if (gapsSeconds.length === 0) return null;
  let most = 0;
  for (const gap of gapsSeconds) if (gap > most) most = gap;
  return seconds(most);
}

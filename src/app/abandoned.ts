import { randomBytes } from 'node:crypto';
import type { ApiName, FailedProbe } from '../probe/outcome.ts';
import { sideOf, stageOf } from '../probe/reasons.ts';
import type { MonotonicInstant, UnixTime } from '../units.ts';

/** What is known of a probe that never came back. */
export interface AbandonedProbe {
  readonly target: string;
  readonly model: string;
  readonly profile: string;
  readonly api: ApiName;
  readonly startedAt: UnixTime;
  readonly beganAt: MonotonicInstant;
  readonly endedAt: MonotonicInstant;
  readonly message: string;
}

/**
 * The outcome of a probe that did not settle by its hard deadline, or threw. Every deadline of the probe's own lies
 * before it, so it is a fault of the exporter: it is counted as such, and never as the endpoint's.
 */
export function abandonedOutcome(probe: AbandonedProbe): FailedProbe {
  const { message, ...known } = probe;
  return {
    ...known,
    id: randomBytes(16).toString('hex'),
    requestAt: null,
    httpStatus: null,
    connection: null,
    phases: { dns: null, tcp: null, tls: null, write: null, headers: null },
    ttfeSeconds: null,
    ttftSeconds: null,
    ttfcSeconds: null,
    tpotSeconds: null,
    gapsSeconds: [],
    longestGapSeconds: null,
    durationSeconds: null,
    outputTokens: null,
    firstChunkTokens: null,
    tokenSource: null,
    promptTokens: null,
    cachedPromptTokens: null,
    reasoningTokens: null,
    events: 0,
    tokenChunks: 0,
    nonconformingEvents: 0,
    finishReason: null,
    terminal: false,
    buffered: false,
    disturbed: false,
    eventLoopDelaySeconds: null,
    fallback: false,
    compressed: false,
    retriedStaleConnection: false,
    refusedParameters: [],
    retryAfterSeconds: null,
    certificateExpiresAt: null,
    clientCertificateExpiresAt: null,
    outputHash: null,
    timeline: [],
    outcome: 'failed',
    failure: { reason: 'internal', stage: stageOf('internal'), side: sideOf('internal'), message, detail: {} },
  };
}

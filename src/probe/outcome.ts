import type { MonotonicInstant, Seconds, UnixTime } from '../units.ts';
import type { FailureReason, FailureSide, FailureStage } from './reasons.ts';

/** The streaming APIs that the probe speaks; each has one file in `apis/`. */
export const API_NAMES = [
  'completions',
  'chat',
  'responses',
  'messages',
  'azure',
  'sglang',
  'tgi',
  'llamacpp',
  'ollama',
] as const;
export type ApiName = (typeof API_NAMES)[number];

/** Where the number of output tokens comes from: the server's usage, or a count of the chunks that carried content. */
export const TOKEN_SOURCES = ['usage', 'chunks'] as const;
export type TokenSource = (typeof TOKEN_SOURCES)[number];

/** Connection and request phases, each in seconds; null when the phase did not happen (a reused connection has no dns). */
export const PHASES = ['dns', 'tcp', 'tls', 'write', 'headers'] as const;
export type Phase = (typeof PHASES)[number];
/** `write`: request handed to the socket -> fully written. `headers`: request handed to the socket -> response headers. */
export type PhaseSeconds = { readonly [P in Phase]: Seconds | null };

export const TIMELINE_KINDS = ['event', 'token', 'comment', 'usage', 'terminal', 'error'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One thing that arrived. `atSeconds` counts from the instant at which the request was handed to the socket. */
export interface TimelineEntry {
  readonly atSeconds: Seconds;
  readonly kind: TimelineKind;
  /** Tokens that this entry stands for, where that is known; otherwise 1 for a token chunk and 0 for the rest. */
  readonly tokens: number;
}

/**
 * Everything that one probe measured. Instants are monotonic; a quantity that does not exist is null, never 0.
 * Definitions: docs/measurement.md.
 */
export interface ProbeMeasurement {
  /** 32 hexadecimal digits; also the trace id of the traceparent header that the request carried. */
  readonly id: string;
  readonly target: string;
  /** The requested model, whatever the response claims. */
  readonly model: string;
  readonly profile: string;
  readonly api: ApiName;
  readonly startedAt: UnixTime;
  /** The call to the probe; connection set-up lies between this and `requestAt`. */
  readonly beganAt: MonotonicInstant;
  /** The request was handed to the socket: the zero of every duration below. Null when it never was. */
  readonly requestAt: MonotonicInstant | null;
  readonly endedAt: MonotonicInstant;
  readonly httpStatus: number | null;
  readonly connection: 'fresh' | 'reused' | null;
  readonly phases: PhaseSeconds;
  readonly ttfeSeconds: Seconds | null;
  readonly ttftSeconds: Seconds | null;
  /** First visible answer text. Equal to `ttftSeconds` where there is no reasoning. */
  readonly ttfcSeconds: Seconds | null;
  readonly tpotSeconds: Seconds | null;
  /** Time between consecutive token chunks, in order. Empty for fewer than two chunks. */
  readonly gapsSeconds: readonly Seconds[];
  readonly longestGapSeconds: Seconds | null;
  /** Request handed to the socket -> terminal event (for a failed probe: -> the failure). */
  readonly durationSeconds: Seconds | null;
  readonly outputTokens: number | null;
  readonly firstChunkTokens: number | null;
  readonly tokenSource: TokenSource | null;
  readonly promptTokens: number | null;
  readonly cachedPromptTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly events: number;
  readonly tokenChunks: number;
  readonly nonconformingEvents: number;
  /** Bounded: one of the known values, or "other". Null when none came. */
  readonly finishReason: string | null;
  readonly terminal: boolean;
  /** The answer came in lumps, so gaps and TPOT do not describe the engine and must not be observed. */
  readonly buffered: boolean;
  /** Our own event loop was late during the probe, so no time of it may be observed. */
  readonly disturbed: boolean;
  readonly eventLoopDelaySeconds: Seconds | null;
  /** A gateway says that it fell back to another model. */
  readonly fallback: boolean;
  /** The body was compressed although identity was asked for. */
  readonly compressed: boolean;
  /** The one retry on a fresh socket, after a kept-alive one turned out to be closed before any byte came. */
  readonly retriedStaleConnection: boolean;
  /** Request parameters that the endpoint has refused and that are left out since. */
  readonly refusedParameters: readonly string[];
  /** How long the endpoint asked us to stay away (Retry-After, clamped). */
  readonly retryAfterSeconds: Seconds | null;
  /** Expiry of the server's certificate; null without TLS. */
  readonly certificateExpiresAt: UnixTime | null;
  /** Expiry of our own certificate, of those files that were used last; null without one. */
  readonly clientCertificateExpiresAt: UnixTime | null;
  /** SHA-256 of the generated text, first 16 hexadecimal digits; null when there is none, or only figures are wanted. */
  readonly outputHash: string | null;
  /** Bounded in length; the first entries and the last ones are kept. Empty when only figures are wanted. */
  readonly timeline: readonly TimelineEntry[];
}

/** What went wrong. `message` is for people: redacted, one line, at most 300 characters, never forwarded response text. */
export interface Failure {
  readonly reason: FailureReason;
  readonly stage: FailureStage;
  readonly side: FailureSide;
  readonly message: string;
  /** Facts of the reason for the record: an error code, the HTTP status inside a stream, addresses tried... */
  readonly detail: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

export type GoodProbe = ProbeMeasurement & { readonly outcome: 'good' };
export type FailedProbe = ProbeMeasurement & { readonly outcome: 'failed'; readonly failure: Failure };
/** What a probe returns. A probe never throws for anything that an endpoint does. */
export type ProbeOutcome = GoodProbe | FailedProbe;

/** Why a tick of the timetable sent nothing. */
export const SKIP_REASONS = ['overlap', 'budget', 'paused', 'backoff', 'starting', 'missed', 'asleep'] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

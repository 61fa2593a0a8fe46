import type { Diagnosis, Evidence } from './diagnose/types.ts';
import type { ProbeOutcome } from './probe/outcome.ts';

/** Name and version of the engine, for the record. */
export interface EngineIdentity {
  readonly name: string;
  readonly version: string | null;
}

/** A finished probe with what was found out about it: what metrics, page, log and `once` are made from. */
export interface FinishedProbe {
  readonly outcome: ProbeOutcome;
  readonly engine: EngineIdentity | null;
  readonly diagnosis: Diagnosis | null;
  /** Warm-up probes are counted, but enter neither histograms nor SLO. */
  readonly warmup: boolean;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The evidence under its public names; null when there was no page of the engine to take it from. */
export function toEvidenceRecord(evidence: Evidence | null): Readonly<Record<string, unknown>> | null {
  if (evidence === null || evidence.samples === 0) return null;
  return Object.fromEntries(Object.entries(evidence).map(([name, value]) => [snakeCase(name), value]));
}

/**
 * The public record of one probe (docs/record.md): fields are added, never renamed. Quantities that do not exist are
 * null.
 */
export function toRecord(finished: FinishedProbe): Readonly<Record<string, unknown>> {
  const { outcome, engine, diagnosis } = finished;
  const failure = outcome.outcome === 'failed' ? outcome.failure : null;
  return {
    id: outcome.id,
    target: outcome.target,
    model: outcome.model,
    profile: outcome.profile,
    api: outcome.api,
    engine,
    started_at: new Date(outcome.startedAt * 1000).toISOString(),
    outcome: outcome.outcome,
    reason: failure?.reason ?? null,
    stage: failure?.stage ?? null,
    side: failure?.side ?? null,
    message: failure?.message ?? null,
    detail: failure?.detail ?? null,
    warmup: finished.warmup,
    http_status: outcome.httpStatus,
    connection: outcome.connection,
    phases: outcome.phases,
    ttfe_seconds: outcome.ttfeSeconds,
    ttft_seconds: outcome.ttftSeconds,
    ttfc_seconds: outcome.ttfcSeconds,
    tpot_seconds: outcome.tpotSeconds,
    longest_gap_seconds: outcome.longestGapSeconds,
    duration_seconds: outcome.durationSeconds,
    output_tokens: outcome.outputTokens,
    first_chunk_tokens: outcome.firstChunkTokens,
    token_source: outcome.tokenSource,
    prompt_tokens: outcome.promptTokens,
    cached_prompt_tokens: outcome.cachedPromptTokens,
    reasoning_tokens: outcome.reasoningTokens,
    events: outcome.events,
    token_chunks: outcome.tokenChunks,
    nonconforming_events: outcome.nonconformingEvents,
    finish_reason: outcome.finishReason,
    terminal: outcome.terminal,
    buffered: outcome.buffered,
    disturbed: outcome.disturbed,
    event_loop_delay_seconds: outcome.eventLoopDelaySeconds,
    fallback: outcome.fallback,
    compressed: outcome.compressed,
    retried_stale_connection: outcome.retriedStaleConnection,
    refused_parameters: outcome.refusedParameters,
    retry_after_seconds: outcome.retryAfterSeconds,
    output_hash: outcome.outputHash,
    cause: diagnosis?.cause ?? null,
    evidence: toEvidenceRecord(diagnosis?.evidence ?? null),
    timeline: outcome.timeline.map((entry) => ({
      at_seconds: entry.atSeconds,
      kind: entry.kind,
      tokens: entry.tokens,
    })),
  };
}

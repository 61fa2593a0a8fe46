import { SLO_NAMES } from '../config/types.ts';
import { CAUSES } from '../diagnose/types.ts';
import { PHASES, SKIP_REASONS, TOKEN_SOURCES } from '../probe/outcome.ts';
import { FAILURE_REASONS } from '../probe/reasons.ts';
import type { FamilyDefinition } from './definition.ts';

/** Values of the label `outcome`. */
export const OUTCOMES = ['success', 'failure'] as const;
export type OutcomeLabel = (typeof OUTCOMES)[number];

export const BUDGET_WINDOWS = ['hour', 'day'] as const;

const profile = { scope: 'profile', labels: [] } as const;
const counter = { ...profile, type: 'counter', born: 'start' } as const;
const lastProbe = { ...profile, type: 'gauge', born: 'later' } as const;
const setting = { ...profile, type: 'gauge', born: 'start' } as const;

/** What a client sees: one set of series for each target and profile. */
export const PROBE_FAMILIES = {
  attempts: {
    ...counter,
    name: 'inference_probe_attempts_total',
    help: 'Probes finished, whatever their outcome; warm-up probes included, skipped ticks not.',
  },
  warmup: {
    ...counter,
    name: 'inference_probe_warmup_attempts_total',
    labels: ['outcome'],
    values: { outcome: OUTCOMES },
    help: 'Warm-up probes (before the engine first answered ready, and the first ones of a process), by outcome. They count as attempts and tokens, but enter neither failures, histograms nor SLO.',
  },
  failures: {
    ...counter,
    name: 'inference_probe_failures_total',
    labels: ['reason'],
    values: { reason: FAILURE_REASONS },
    help: 'Failed probes by reason (docs/METRICS.md), warm-up probes left out.',
  },
  skipped: {
    ...counter,
    name: 'inference_probe_skipped_total',
    labels: ['reason'],
    values: { reason: SKIP_REASONS },
    help: 'Ticks of the timetable that sent no probe, by reason.',
  },
  success: {
    ...lastProbe,
    name: 'inference_probe_success',
    help: 'Whether the last probe was good: at least one token, a terminal marker, no error and its expectation met. A failed warm-up probe leaves it as it was; absent before the first probe.',
  },
  lastSuccess: {
    ...lastProbe,
    name: 'inference_probe_last_success_timestamp_seconds',
    help: 'When the last good probe was started, in seconds since 1970; absent before the first.',
  },
  lastAttempt: {
    ...lastProbe,
    name: 'inference_probe_last_attempt_timestamp_seconds',
    help: 'When the last probe was started, good or not, in seconds since 1970; absent before the first.',
  },
  ttft: {
    ...profile,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_ttft_seconds',
    labels: ['outcome'],
    values: { outcome: OUTCOMES },
    bounds: 'ttftSeconds',
    boundsReason:
      'factor 1.3 from 0.1 s to 4.5 s, where TTFT objectives are set; coarse below, where only the order of magnitude matters, and up to the first-token deadline, at which failures are entered',
    help: 'Time to first token: request handed to the socket until the first event that carries generated content. Connection set-up is not in it. outcome="failure": a probe that failed before its first token is entered at the first-token deadline (a lower bound), one that failed later with its own time. Faults on the side of the probe are left out.',
  },
  firstContent: {
    ...profile,
    type: 'histogram',
    born: 'later',
    name: 'inference_probe_first_content_seconds',
    bounds: 'ttftSeconds',
    boundsReason: 'as for TTFT, so that the two can be compared',
    help: 'Request handed to the socket until the first visible answer text, of good probes in which that is later than the first token (reasoning models); absent elsewhere.',
  },
  tpot: {
    ...profile,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_tpot_seconds',
    bounds: 'tpotSeconds',
    boundsReason:
      'factor 1.3 from 8 ms (120 tokens a second) to 0.2 s (slower than reading), where TPOT objectives are set',
    help: 'Time per output token of a good probe: first token chunk until last token chunk, divided by the tokens after the first chunk. Left out for one-token answers and buffered streams.',
  },
  chunkGap: {
    ...profile,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_chunk_gap_seconds',
    bounds: 'gapSeconds',
    boundsReason: 'read for its tail: a stall of seconds among gaps of milliseconds',
    help: 'A token chunk until the next token chunk, every gap of every good probe; a chunk may hold several tokens. Left out for buffered streams.',
  },
  longestGap: {
    ...profile,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_longest_gap_seconds',
    bounds: 'gapSeconds',
    boundsReason: 'as for the gaps themselves',
    help: 'The longest gap between two token chunks of a good probe, one sample a probe. Left out for buffered streams.',
  },
  duration: {
    ...profile,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_duration_seconds',
    labels: ['outcome'],
    values: { outcome: OUTCOMES },
    bounds: 'durationSeconds',
    boundsReason: 'coarse: no objective is set on the duration of a probe; up to the whole-probe deadline',
    help: 'Request handed to the socket until the terminal event (outcome="success") or until the failure. Probes that never got as far as sending, and faults on the side of the probe, are left out.',
  },
  phases: {
    ...profile,
    type: 'summary',
    born: 'start',
    name: 'inference_probe_phase_seconds',
    labels: ['phase'],
    values: { phase: PHASES },
    help: 'Phases of probes: dns, tcp and tls of a fresh connection; write: request handed to the socket until fully written; headers: request handed to the socket until the response headers.',
  },
  outputTokens: {
    ...counter,
    name: 'inference_probe_output_tokens_total',
    labels: ['token_source'],
    values: { token_source: TOKEN_SOURCES },
    help: "Tokens generated for probes, warm-up and failed ones included: from the endpoint's usage, or counted as chunks where it sends none.",
  },
  promptTokens: {
    ...counter,
    name: 'inference_probe_prompt_tokens_total',
    help: "Prompt tokens of probes by the endpoint's usage, warm-up and failed ones included.",
  },
  cachedPromptTokens: {
    ...counter,
    name: 'inference_probe_cached_prompt_tokens_total',
    help: 'Prompt tokens that the endpoint says came from its prefix cache. Stays 0 with an endpoint that does not report them.',
  },
  configuredPromptTokens: {
    ...setting,
    name: 'inference_probe_configured_prompt_tokens',
    help: 'Prompt length that the profile asks for; absent for a fixed prompt.',
  },
  lastPromptTokens: {
    ...lastProbe,
    name: 'inference_probe_last_prompt_tokens',
    help: "Prompt length of the last probe by the endpoint's usage; a drift against the configured length changes TTFT.",
  },
  causes: {
    ...counter,
    name: 'inference_probe_causes_total',
    labels: ['cause'],
    values: { cause: CAUSES },
    help: 'Slow or failed probes by their one likely cause (docs/causes.md), warm-up probes left out.',
  },
  sloEvents: {
    ...counter,
    name: 'inference_probe_slo_events_total',
    labels: ['slo'],
    values: { slo: SLO_NAMES },
    help: 'Events that count for an objective (docs/slo.md). Warm-up probes, faults on the side of the probe and, for ttft and tpot, disturbed probes are none.',
  },
  sloGood: {
    ...counter,
    name: 'inference_probe_slo_good_total',
    labels: ['slo'],
    values: { slo: SLO_NAMES },
    help: 'Good ones among inference_probe_slo_events_total: availability, the probe was good; ttft and tpot, it was good and within the threshold.',
  },
  sloThreshold: {
    ...setting,
    name: 'inference_probe_slo_threshold_seconds',
    labels: ['slo'],
    values: { slo: ['ttft', 'tpot'] },
    help: 'Configured threshold of an objective.',
  },
  sloObjective: {
    ...setting,
    name: 'inference_probe_slo_objective_ratio',
    labels: ['slo'],
    values: { slo: SLO_NAMES },
    help: 'Configured share of good events, 0 to 1.',
  },
  interval: {
    ...setting,
    name: 'inference_probe_interval_seconds',
    help: 'Time between two ticks of the timetable; for a cron expression the longest one.',
  },
  firstTokenDeadline: {
    ...setting,
    name: 'inference_probe_first_token_deadline_seconds',
    help: 'Configured first-token deadline: the value at which probes without a first token enter inference_probe_ttft_seconds.',
  },
  buffered: {
    ...counter,
    name: 'inference_probe_buffered_streams_total',
    help: 'Answers that came in lumps (a buffering proxy): their TTFT is kept, gaps and TPOT are withheld.',
  },
  nonconforming: {
    ...counter,
    name: 'inference_probe_nonconforming_events_total',
    help: 'Stream events that do not follow the API and were passed over.',
  },
  disturbed: {
    ...counter,
    name: 'inference_probe_disturbed_samples_total',
    help: "Probes whose times were kept out of the histograms because the exporter's own event loop was late.",
  },
  staleConnections: {
    ...counter,
    name: 'inference_probe_stale_connection_retries_total',
    help: 'Probes sent again on a fresh connection because the kept-alive one turned out to be closed before any byte came.',
  },
  fallbacks: {
    ...counter,
    name: 'inference_probe_fallback_responses_total',
    help: 'Answers for which a gateway says that it fell back to another model.',
  },
  compressed: {
    ...counter,
    name: 'inference_probe_compressed_streams_total',
    help: 'Answers that came compressed although the probe asked for identity; compression delays tokens.',
  },
  scheduleLag: {
    ...profile,
    type: 'summary',
    born: 'start',
    name: 'inference_probe_schedule_lag_seconds',
    help: 'Due time of a tick until the probe really started.',
  },
  targetInfo: {
    ...profile,
    type: 'info',
    born: 'start',
    name: 'inference_probe_target_info',
    labels: ['engine', 'api', 'vantage', 'connection'],
    help: 'What is known of a target and how it is probed. An engine or API that is not found out yet is "unknown".',
  },
  refusedParameter: {
    ...profile,
    type: 'info',
    born: 'later',
    name: 'inference_probe_refused_parameter_info',
    labels: ['parameter'],
    help: 'Request parameters that the endpoint refused and that are left out since.',
  },
  paused: {
    scope: 'target',
    type: 'gauge',
    born: 'start',
    labels: [],
    name: 'inference_probe_paused',
    help: 'Whether probing of the target is switched off by configuration or by POST /-/pause.',
  },
  budgetRemaining: {
    scope: 'target',
    type: 'gauge',
    born: 'start',
    labels: ['window'],
    values: { window: BUDGET_WINDOWS },
    name: 'inference_probe_token_budget_remaining',
    help: 'Prompt and output tokens that probes of the target may still spend in the current window.',
  },
  budgetLimit: {
    scope: 'target',
    type: 'gauge',
    born: 'start',
    labels: ['window'],
    values: { window: BUDGET_WINDOWS },
    name: 'inference_probe_token_budget_limit',
    help: 'Configured token budget of the target by window.',
  },
  certificateExpiry: {
    scope: 'target',
    type: 'gauge',
    born: 'later',
    labels: [],
    name: 'inference_probe_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that the last probe saw expires, in seconds since 1970; absent without TLS.',
  },
  clientCertificateExpiry: {
    scope: 'target',
    type: 'gauge',
    born: 'later',
    labels: [],
    name: 'inference_probe_tls_client_certificate_expiry_timestamp_seconds',
    help: 'When the client certificate that the last probe used expires, in seconds since 1970; absent without one.',
  },
} as const satisfies Record<string, FamilyDefinition>;

export type ProbeFamily = keyof typeof PROBE_FAMILIES;

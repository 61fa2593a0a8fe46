/**
 * The closed set of reasons for which a probe can fail. The array order is the order of the documentation.
 *
 * - `stage`: where in the request it happened.
 * - `side`: who has to act. `endpoint` the engine or its server, `path` what lies between (DNS, TLS, proxies),
 *   `capacity` a healthy endpoint that refuses more work, `probe` ourselves or our configuration. Reasons of side
 *   `probe` never enter the latency histograms nor the SLO counters: they say nothing of what users see.
 */
export const FAILURE_SIDES = ['endpoint', 'path', 'capacity', 'probe'] as const;
export type FailureSide = (typeof FAILURE_SIDES)[number];

export const FAILURE_STAGES = ['connect', 'request', 'headers', 'first_token', 'stream', 'end'] as const;
export type FailureStage = (typeof FAILURE_STAGES)[number];

interface ReasonFacts {
  readonly stage: FailureStage;
  readonly side: FailureSide;
  /** What the reason means, in one line for the documentation. */
  readonly meaning: string;
}

export const REASON_TABLE = {
  dns: { stage: 'connect', side: 'path', meaning: 'the host name could not be resolved' },
  connect_refused: {
    stage: 'connect',
    side: 'endpoint',
    meaning: 'nothing listens on the address, or it is unreachable',
  },
  connect_timeout: { stage: 'connect', side: 'path', meaning: 'no connection within the connect deadline' },
  tls: { stage: 'connect', side: 'path', meaning: 'the TLS handshake or the verification of the certificate failed' },
  headers_timeout: { stage: 'headers', side: 'endpoint', meaning: 'no response headers within the headers deadline' },
  ttft_timeout: {
    stage: 'first_token',
    side: 'endpoint',
    meaning: 'headers came, but no token within the first-token deadline',
  },
  stalled: {
    stage: 'stream',
    side: 'endpoint',
    meaning: 'after the first token, silence for longer than the between-tokens deadline',
  },
  total_timeout: {
    stage: 'stream',
    side: 'endpoint',
    meaning: 'tokens still flowed when the whole-probe deadline passed',
  },
  connection_lost: {
    stage: 'stream',
    side: 'path',
    meaning: 'the connection was closed or reset in the middle of the exchange',
  },
  truncated: { stage: 'end', side: 'endpoint', meaning: 'the stream ended in good order without a terminal marker' },
  stream_error: { stage: 'stream', side: 'endpoint', meaning: 'an error object arrived inside a stream with HTTP 200' },
  empty_stream: { stage: 'end', side: 'endpoint', meaning: 'the stream ended without a single token' },
  no_visible_output: {
    stage: 'end',
    side: 'probe',
    meaning: 'tokens were generated but none was visible; max_tokens is too small for the model',
  },
  engine_abort: {
    stage: 'end',
    side: 'endpoint',
    meaning: 'the engine ended the request itself (finish_reason abort or error)',
  },
  content_filtered: { stage: 'end', side: 'probe', meaning: 'a content filter ended the answer' },
  not_streaming: { stage: 'headers', side: 'path', meaning: 'one complete answer instead of a stream' },
  protocol_error: {
    stage: 'stream',
    side: 'path',
    meaning: 'bytes that are not HTTP, or not the promised kind of body',
  },
  response_too_large: {
    stage: 'stream',
    side: 'path',
    meaning: 'an event or the whole response exceeds its byte limit',
  },
  unauthorized: { stage: 'headers', side: 'probe', meaning: 'the key is missing or wrong (401)' },
  forbidden: { stage: 'headers', side: 'probe', meaning: 'a policy refuses the probe (403, 451)' },
  not_found: { stage: 'headers', side: 'endpoint', meaning: 'the path or the model does not exist there (404)' },
  bad_request: {
    stage: 'headers',
    side: 'probe',
    meaning: 'the endpoint refuses the request as asked (400, 405, 413, 422)',
  },
  rate_limited: { stage: 'headers', side: 'capacity', meaning: '429' },
  quota_exhausted: { stage: 'headers', side: 'probe', meaning: 'the budget of the key that the probe uses is spent' },
  overloaded: {
    stage: 'headers',
    side: 'capacity',
    meaning: 'the endpoint says that it has no room (503, 529, a full queue)',
  },
  starting: { stage: 'headers', side: 'capacity', meaning: 'the endpoint says that it is loading its model' },
  no_upstream: { stage: 'headers', side: 'path', meaning: 'a gateway has no healthy engine to send the request to' },
  bad_gateway: {
    stage: 'headers',
    side: 'path',
    meaning: 'a gateway got no valid answer from the engine (499, 502, 520 to 523, 525 to 527, 530)',
  },
  gateway_timeout: { stage: 'headers', side: 'path', meaning: 'a gateway gave up waiting for the engine (504, 524)' },
  server_error: { stage: 'headers', side: 'endpoint', meaning: 'any other 5xx' },
  redirected: {
    stage: 'headers',
    side: 'path',
    meaning: 'the endpoint redirects; probes never follow to another origin',
  },
  expectation_failed: {
    stage: 'end',
    side: 'endpoint',
    meaning: 'the answer is complete but not what the profile expects',
  },
  degenerate_output: {
    stage: 'end',
    side: 'endpoint',
    meaning: 'the answer is the kind of garbage that broken weights or kernels make',
  },
  internal: { stage: 'request', side: 'probe', meaning: 'a fault of the exporter itself' },
} as const satisfies Record<string, ReasonFacts>;

export type FailureReason = keyof typeof REASON_TABLE;
export const FAILURE_REASONS = Object.keys(REASON_TABLE) as readonly FailureReason[];

export const sideOf = (reason: FailureReason): FailureSide => REASON_TABLE[reason].side;
export const stageOf = (reason: FailureReason): FailureStage => REASON_TABLE[reason].stage;

import type { FailureReason } from '../probe/reasons.ts';

/**
 * What a failure reason can be explained by.
 * - `ours`: our own side; nothing that the engine does explains it.
 * - `limit`: a limit of the key or the tenant.
 * - `loading`: the engine says that it is starting.
 * - `silence`: the engine was too slow or still; load, a hang or the way to it explain it.
 * - `refusal`: no room; load explains it, and without load a limit does.
 * - `break`: the engine or what lies before it broke off; a restart, load or the way to it explain it.
 * - `path`: what lies between us and the engine.
 * - `gone`: nothing listens.
 * - `answer`: a complete answer of the wrong kind; no load explains it.
 */
export type FailureKind = 'ours' | 'limit' | 'loading' | 'silence' | 'refusal' | 'break' | 'path' | 'gone' | 'answer';

export const FAILURE_KINDS: Readonly<Record<FailureReason, FailureKind>> = {
  dns: 'path',
  connect_refused: 'gone',
  connect_timeout: 'path',
  tls: 'path',
  headers_timeout: 'silence',
  ttft_timeout: 'silence',
  stalled: 'silence',
  total_timeout: 'silence',
  connection_lost: 'break',
  truncated: 'break',
  stream_error: 'break',
  empty_stream: 'answer',
  no_visible_output: 'ours',
  engine_abort: 'break',
  content_filtered: 'ours',
  not_streaming: 'path',
  protocol_error: 'path',
  response_too_large: 'path',
  unauthorized: 'ours',
  forbidden: 'ours',
  not_found: 'answer',
  bad_request: 'ours',
  rate_limited: 'limit',
  quota_exhausted: 'limit',
  overloaded: 'refusal',
  starting: 'loading',
  no_upstream: 'gone',
  bad_gateway: 'break',
  gateway_timeout: 'silence',
  server_error: 'break',
  redirected: 'path',
  expectation_failed: 'answer',
  degenerate_output: 'answer',
  internal: 'ours',
};

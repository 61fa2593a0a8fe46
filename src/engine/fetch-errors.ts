import type { PollFailureReason } from './types.ts';

const MAX_DEPTH = 4;

/** An error with all that caused it: connection attempts to several addresses come wrapped. */
function* unwrap(error: unknown, depth = 0): Generator<{ readonly code: string; readonly name: string }> {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  yield { code, name: error.name };
  if (error instanceof AggregateError) for (const inner of error.errors) yield* unwrap(inner, depth + 1);
  yield* unwrap(error.cause, depth + 1);
}

const isTls = (code: string): boolean =>
  /^ERR_(TLS|SSL)_/.test(code) || /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/.test(code);
const isTimeout = (code: string): boolean => /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(code);
// The bytes arrived but are not what the Content-Encoding promised.
const isEncoding = (code: string): boolean => /^(Z_|ERR_ZLIB)/.test(code);
// The connection was fine until the body broke off: a short Content-Length, or chunks that stop.
const isCut = (code: string): boolean => /^UND_ERR_(RES_CONTENT_LENGTH_MISMATCH|BODY_TIMEOUT)$/.test(code);

const BROKEN = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** The connection was there and broke off, as a kept-alive one does that the other side has closed. */
export function isBrokenConnection(error: unknown): boolean {
  for (const { code } of unwrap(error)) if (BROKEN.has(code)) return true;
  return false;
}

/** Classifies what a GET threw, by codes only. Everything that never got an answer is `connect`. */
export function reasonOfFetchError(error: unknown): PollFailureReason {
  const codes = [...unwrap(error)].map(({ code }) => code);
  if (codes.some(isTls)) return 'tls';
  if (codes.some(isEncoding)) return 'bad_encoding';
  if (codes.some(isTimeout)) return 'timeout';
  if (codes.some(isCut)) return 'truncated';
  return 'connect';
}

/** One line for people: the codes, never the message, which may quote what the server sent. */
export function describeFetchError(error: unknown): string {
  const codes = [...unwrap(error)].map(({ code, name }) => code || name);
  return codes.length === 0 ? 'the request failed' : [...new Set(codes)].join(', ');
}

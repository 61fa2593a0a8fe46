import { errorCode, type FailureDetail, failure } from './failure.ts';
import type { Failure } from './outcome.ts';
import type { TransportFailure } from './transport-types.ts';

const NO_ANSWER: ReadonlySet<string> = new Set(['ETIMEDOUT']);
const OUT_OF_OUR_MEANS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);
/** No local port or address to connect from. One address family may be missing here without harm to the other. */
const NO_OWN_ADDRESS = 'EADDRNOTAVAIL';
const OURS: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
]);
const PLAIN_HTTP: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

function tlsHint(code: string | null): string {
  if (code === null) return '';
  if (PLAIN_HTTP.has(code)) return ', the server does not speak TLS';
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return ', the server speaks HTTP/2 only';
  if (code.includes('CERTIFICATE_REQUIRED')) return ', the server demands a client certificate';
  return '';
}

const tcpReason = (codes: readonly string[]): 'connect_timeout' | 'connect_refused' | 'internal' => {
  if (codes.some((code) => OUT_OF_OUR_MEANS.has(code))) return 'internal';
  if (codes.length > 0 && codes.every((code) => code === NO_OWN_ADDRESS)) return 'internal';
  return codes.length > 0 && codes.every((code) => NO_ANSWER.has(code)) ? 'connect_timeout' : 'connect_refused';
};

function classifyTcp(place: string, failed: TransportFailure): Failure {
  const reason = tcpReason(failed.attempts.map(({ code }) => code));
  const tried = failed.attempts.map(({ address, code }) => `${address} ${code}`);
  return failure(reason, place, `no connection (${tried.join(', ')})`, { addresses: tried });
}

function classifyProxy(place: string, { proxyStatus, attempts }: TransportFailure, detail: FailureDetail): Failure {
  if (attempts.length > 0) {
    const tried = attempts.map(({ address, code }) => `${address} ${code}`);
    const what = `the proxy cannot be reached (${tried.join(', ')})`;
    return failure('connection_lost', place, what, { ...detail, addresses: tried });
  }
  if (proxyStatus === null) return failure('connection_lost', place, 'the proxy broke off', detail);
  const facts = { ...detail, proxy_status: proxyStatus };
  const what = `the proxy refused the tunnel with HTTP ${proxyStatus}`;
  if (proxyStatus === 407 || proxyStatus === 401) return failure('unauthorized', place, what, facts);
  if (proxyStatus === 403) return failure('forbidden', place, what, facts);
  return failure(proxyStatus === 504 ? 'gateway_timeout' : 'bad_gateway', place, what, facts);
}

function classifyConfiguration(
  place: string,
  failed: TransportFailure,
  code: string | null,
  detail: FailureDetail,
): Failure {
  if (failed.setting === null)
    return failure('internal', place, `the connection failed in our own code (${code})`, detail);
  const why = code === null ? '' : ` (${code})`;
  return failure('internal', place, `${failed.setting} cannot be used${why}`, { ...detail, setting: failed.setting });
}

/** A TLS record begins with its type (21 alert, 22 handshake) and the major version 3. */
function speaksTls(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('data' in error) || typeof error.data !== 'string') return false;
  const [type, version] = [error.data.charCodeAt(0), error.data.charCodeAt(1)];
  return (type === 21 || type === 22) && version === 3;
}

// undici gives its parser's errors a code only sometimes; the name is always there.
const isParserError = (error: unknown): boolean => error instanceof Error && error.name === 'HTTPParserError';

/**
 * undici takes an end in the middle of a chunked body for a fault of the syntax when the server has announced that it
 * would close the connection; such an error has no bytes that broke the syntax.
 */
const isEarlyEnd = (error: unknown, { step, closedByPeer }: TransportFailure): boolean =>
  step === 'response' && closedByPeer && isParserError(error) && !(error as { readonly data?: unknown }).data;

function classifyExchange(
  place: string,
  failed: TransportFailure,
  code: string | null,
  detail: FailureDetail,
): Failure {
  const { error, step, responseBytes, closedByPeer } = failed;
  if (isEarlyEnd(error, failed))
    return failure('connection_lost', place, 'the connection was lost in the middle of the response', detail);
  if (isParserError(error)) {
    const hint = speaksTls(error) ? ': the server speaks TLS' : '';
    return failure('protocol_error', place, `the answer is not HTTP/1.1${hint}`, {
      ...detail,
      speaks_tls: hint !== '',
    });
  }
  // Before any byte of the body: the headers contradict each other.
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && step === 'request')
    return failure('protocol_error', place, 'the headers announce two lengths', detail);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return failure('response_too_large', place, 'endless response headers', detail);
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return failure('headers_timeout', place, 'no response headers', detail);
  if (code === 'UND_ERR_BODY_TIMEOUT') return failure('stalled', place, 'no more bytes', detail);
  if (code?.startsWith('ERR_SSL_')) return failure('tls', place, `TLS broke (${code})${tlsHint(code)}`, detail);
  // Neither FIN nor RST, and yet undici dropped the connection: a head that HTTP does not allow, such as a lone 100.
  if (code === 'UND_ERR_SOCKET' && step === 'request' && responseBytes > 0 && !closedByPeer) {
    return failure('protocol_error', place, 'the answer is not a response to the request', detail);
  }
  if (code === null || OURS.has(code))
    return failure('internal', place, `the request could not be sent (${code})`, detail);
  const when = step === 'response' ? 'in the middle of the response' : 'before the response';
  return failure('connection_lost', place, `the connection was lost ${when} (${code})`, detail);
}

/**
 * What broke below HTTP, as a reason: the only place that knows the codes of Node and undici. Codes are matched, never
 * texts.
 */
export function classifyTransport(place: string, failed: TransportFailure): Failure {
  const code = errorCode(failed.error);
  const detail: FailureDetail = code === null ? {} : { code };
  switch (failed.step) {
    case 'configuration':
      return classifyConfiguration(place, failed, code, detail);
    case 'dns':
      return failure('dns', place, `the host name does not resolve (${code ?? 'no address'})`, detail);
    case 'tcp':
      return classifyTcp(place, failed);
    case 'proxy':
      return classifyProxy(place, failed, detail);
    case 'tls':
      return failure('tls', place, `TLS failed (${code})${tlsHint(code)}`, detail);
    case 'request':
    case 'response':
      return classifyExchange(place, failed, code, detail);
  }
}

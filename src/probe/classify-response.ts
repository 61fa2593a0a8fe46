import { refusedFor } from './classify-error.ts';
import { namesUpstreamDns, reasonOfStatus, reasonOfText } from './classify-status.ts';
import { impliedStatus, strongReason } from './error-words.ts';
import { type FailureDetail, failure } from './failure.ts';
import type { Failure } from './outcome.ts';
import type { StreamErrorObject } from './reading.ts';
import type { FailureReason } from './reasons.ts';
import { namedParameter } from './refusals.ts';

/** A response that is no stream, or an error inside one. */
export interface ErrorResponse {
  readonly place: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the body, for matching only; empty for an error inside a stream. */
  readonly body: string;
  readonly error: StreamErrorObject | null;
  /** Names of the parameters that were sent: the only ones that a message may name. */
  readonly parameters: readonly string[];
}

const REFUSED_FOR = {
  prompt_too_long: 'the prompt does not fit into the context of the model',
  max_tokens_too_small: 'max_tokens was used up before anything could be said',
} as const;

function details(response: ErrorResponse, status: number): { what: string; detail: FailureDetail } {
  const { error, parameters } = response;
  const badRequest = status === 400 || status === 413 || status === 422;
  const why = badRequest ? refusedFor(error) : null;
  const parameter = badRequest && error !== null ? namedParameter(error, parameters) : null;
  const what = why !== null ? `, ${REFUSED_FOR[why]}` : parameter !== null ? `, about the parameter ${parameter}` : '';
  return { what, detail: { ...(why !== null && { refused_for: why }), ...(parameter !== null && { parameter }) } };
}

/** LiteLLM refuses a key with 400 or 500 where the fault is found late; the type of the error says what it is. */
const isBadKey = (status: number, error: StreamErrorObject | null): boolean =>
  (status === 400 || status === 500) && error !== null && impliedStatus(error) === 401;

const ASKS_FOR_TLS = /http request (?:was sent )?to (?:an? )?https (?:port|server)|requires TLS/i;

function redirectDetail({ headers, place }: ErrorResponse): FailureDetail {
  const location = headers.location;
  if (location === undefined || !URL.canParse(location, place)) return {};
  return { location_host: new URL(location, place).host };
}

/**
 * A response with a status of 300 and above. The words of its error object come first where they say more than any
 * status (a spent budget); then the status with what refines it. A body that cannot be read is nothing special.
 */
export function classifyResponse(response: ErrorResponse): Failure {
  const { status, headers, body, error, place } = response;
  const text = `${error?.text ?? ''} ${body}`;
  const reason =
    strongReason(error, headers['x-amzn-errortype']) ??
    (isBadKey(status, error) ? 'unauthorized' : reasonOfStatus(status, { headers, text }));
  if (reason === 'redirected') return failure(reason, place, `HTTP ${status}`, { status, ...redirectDetail(response) });
  // nginx, Go, Tomcat and Jetty: the scheme of the URL is wrong.
  if (status === 400 && ASKS_FOR_TLS.test(text)) {
    return failure('protocol_error', place, `HTTP ${status}: the server speaks TLS`, { status, speaks_tls: true });
  }
  const { what, detail } = details(response, status);
  const upstreamDns = reason === 'bad_gateway' && namesUpstreamDns(status, text) ? { upstream_dns: true } : {};
  const proxy = status === 407 ? ', the proxy demands credentials' : '';
  return failure(reason, place, `HTTP ${status}${what}${proxy}`, { status, ...detail, ...upstreamDns });
}

/**
 * An error object that came with HTTP 200, in a stream or as the whole body. Its own words first, then the status inside
 * it, used like an HTTP status; what would be `server_error` there is `stream_error` here.
 */
export function classifyErrorObject(response: ErrorResponse & { readonly error: StreamErrorObject }): Failure {
  const { error, headers, place } = response;
  const { status } = error;
  const implied = status ?? impliedStatus(error);
  const byStatus =
    implied === null ? byText(error) : reasonOfStatus(implied, { headers: onlyEnvoy(headers), text: error.text });
  const found = strongReason(error) ?? byStatus ?? 'stream_error';
  const reason: FailureReason = found === 'server_error' ? 'stream_error' : found;
  const { what, detail } = details(response, status ?? (reason === 'bad_request' ? 400 : 0));
  const inside = status === null ? '' : ` with code ${status}`;
  return failure(reason, place, `HTTP ${response.status}, then an error object${inside}${what}`, {
    status: response.status,
    ...(status !== null && { error_status: status }),
    ...detail,
  });
}

const byText = (error: StreamErrorObject): FailureReason | null =>
  refusedFor(error) === null ? reasonOfText(error.text) : 'bad_request';

// The content type of the stream says nothing about the error inside it.
const onlyEnvoy = ({ 'x-envoy-overloaded': overloaded }: Readonly<Record<string, string>>): Record<string, string> =>
  overloaded === undefined ? {} : { 'x-envoy-overloaded': overloaded };

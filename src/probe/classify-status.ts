import type { FailureReason } from './reasons.ts';

/** What stands beside a status and may refine it. */
export interface StatusHints {
  /** Response headers, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the body or of the error object in it; for matching only. */
  readonly text: string;
}

const BY_STATUS: ReadonlyMap<number, FailureReason> = new Map([
  [401, 'unauthorized'],
  [402, 'quota_exhausted'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [407, 'unauthorized'],
  [408, 'gateway_timeout'],
  [410, 'not_found'],
  // TGI: the generation failed, which is no fault of the request.
  [424, 'server_error'],
  [429, 'rate_limited'],
  // nginx and gateways before another one: the one in between hung up on the engine.
  [499, 'bad_gateway'],
  [502, 'bad_gateway'],
  [504, 'gateway_timeout'],
  [520, 'bad_gateway'],
  [521, 'bad_gateway'],
  [522, 'bad_gateway'],
  [523, 'bad_gateway'],
  [524, 'gateway_timeout'],
  [525, 'bad_gateway'],
  [526, 'bad_gateway'],
  [527, 'bad_gateway'],
  [529, 'overloaded'],
  [530, 'bad_gateway'],
]);

const LOADING =
  /loading (?:the )?model|\b(?:is|still|currently|being) load(?:ing|ed)\b|warming up|starting up|not (?:yet )?ready/i;
// Envoy, HAProxy, Traefik, Kong, LiteLLM, and the routers of SGLang, vLLM and Dynamo.
const NO_UPSTREAM =
  /no healthy upstream|no server is available|ring-balancer|no (?:available|healthy|ready|active) (?:\w+ )?(?:servers?|endpoints?|workers?|backends?|instances?|deployments?|pods?)|no (?:endpoints|instances|responders|deployments)/i;
const CONNECT_FAILED = /upstream connect error/i;
/** Envoy's circuit breaker, where the header that says so was taken off. */
const OVERFLOW = /reset reason: overflow/i;

/** 503 has the most meanings of all. An engine never answers in HTML: such a page is a gateway's own. */
function unavailable({ headers, text }: StatusHints): FailureReason {
  if (headers['x-envoy-overloaded'] !== undefined || OVERFLOW.test(text)) return 'overloaded';
  if (LOADING.test(text)) return 'starting';
  if (CONNECT_FAILED.test(text)) return 'bad_gateway';
  const page = headers['content-type']?.toLowerCase().startsWith('text/html') ?? false;
  return page || NO_UPSTREAM.test(text) ? 'no_upstream' : 'overloaded';
}

/** The reason for an HTTP status of 300 and above, also for one that stands inside an error object. */
export function reasonOfStatus(status: number, hints: StatusHints): FailureReason {
  if (status === 503) return unavailable(hints);
  // LiteLLM with every deployment in its cool-down.
  if (status === 429 && NO_UPSTREAM.test(hints.text)) return 'no_upstream';
  const known = BY_STATUS.get(status);
  if (known !== undefined) return known;
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'bad_request' : 'redirected';
}

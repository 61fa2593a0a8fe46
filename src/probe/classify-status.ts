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
  // Refused for legal reasons, which a gateway's policy decides.
  [451, 'forbidden'],
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

/** Not where the loading has failed, which will not be over in a while (Ollama: "error loading model"). */
const LOADING =
  /(?<!\b(?:error|fail|failed|failure|unable|cannot)\b.{0,20})loading (?:the )?model|\b(?:is|still|currently|being) load(?:ing|ed)\b|warming up|starting up|not (?:yet )?ready/i;
// Envoy, HAProxy, Traefik, Kong, LiteLLM, one-api, the inference gateway, and the routers of SGLang, vLLM and Dynamo.
const NO_UPSTREAM =
  /no healthy upstream|no server is available|ring-balancer|no (?:available|healthy|ready|active) (?:\w+ )?(?:servers?|endpoints?|workers?|backends?|instances?|deployments?|pods?|channels?)|无可用渠道|all (?:\w+ )?(?:servers|endpoints|workers|backends|instances|deployments) (?:are )?(?:unhealthy|down|unavailable)|no (?:endpoints|instances|responders|deployments)|find (?:\w+ )?(?:pods|endpoints|workers|backends)/i;
/** Envoy, then the words of the HTTP clients that gateways are made of: LiteLLM, and proxies in Python, Node and Go. */
const CONNECT_FAILED =
  /upstream connect error|\bconnection error\b|(?:cannot|failed to) connect to (?:host|backend)|all connection attempts failed|connect(?:ion|: connection)? refused|ECONNREFUSED/i;
/** The same clients, when the engine hangs up on them or keeps them waiting. */
const HUNG_UP =
  /ECONNRESET|connection (?:reset by peer|closed)|socket hang up|peer closed connection|incomplete chunked read|server disconnected|remote end closed|unexpected EOF|ended prematurely|prematurely closed/i;
const KEPT_WAITING =
  /context deadline exceeded|upstream (?:request )?time(?:d ?out|out)|timeout awaiting response headers|\bReadTimeout\b|APITimeoutError/i;
const UPSTREAM_DNS =
  /name resolution|name or service not known|ENOTFOUND|no such host|nodename nor servname|could not be resolved/i;
/** Envoy's circuit breaker, where the header that says so was taken off. */
const OVERFLOW = /reset reason: overflow/i;
/** In the words of LiteLLM, OpenRouter, Triton, and the routers of vLLM; an adapter is a model to its users. */
const MODEL_MISSING =
  /model(?: (?:id|with name))?[ :=]*["'`]?[^\s"'`]{0,200}["'`]? (?:(?:was |is )?not (?:found|loaded|served)|(?:does )?not exist)|not a valid model|model identifier is invalid|(?:invalid|unknown) model(?: name| id)?\b|no such model|adapters?\b.{0,80}\b(?:not found|not loaded|never been loaded|does not exist)/i;

/** An account without money, where neither status nor code says so: Anthropic, DeepSeek, xAI, Z.ai, Fireworks, one-api. */
const SPENT =
  /balance is too low|(?:insufficient|not enough) (?:\w+ )?(?:balance|credits?|funds|quota)|quota is (?:not enough|insufficient|exhausted)|call volume quota|all available credits|spend(?:ing)? limit|key limit exceeded|api usage limits|in arrears|past invoices|余额不足|额度不足|欠费/i;
/** A rate limit in the words of Baidu, too: "qps request limit reached". */
const RATE =
  /rate limit|too many requests|\b(?:qps|qpm|rpm|tpm|concurrency) (?:\w+ )?limit|request limit reached|速率限制|请求过于频繁/i;
/** More than the phrase of the status, which stands beside anything. */
const RATE_LIMIT = /\brate[ _-]?limit/i;
/** No room, as opposed to a client that asks too often. With 429 also the inference gateway, Mistral and Cloudflare. */
const NO_ROOM =
  /overloaded|queue (?:is )?full|backpressure|(?:server|workers?|instances?|backends?) (?:(?:is|are) )?busy|too busy|(?:at|no|out of|insufficient) capacity|capacity (?:\w+ )?exceeded|saturated|负载已饱和|系统繁忙/i;
/** A key that is missing or wrong: Google and xAI refuse it with 400. */
const BAD_KEY =
  /\b(?:api|access|secret)[ _-]?(?:key|token)\b.{0,40}\b(?:not valid|invalid|incorrect|expired|required|missing|not found)\b|\b(?:invalid|incorrect|missing|no|wrong|expired) (?:api|access|secret)[ _-]?(?:key|token)\b|authentication (?:error|failed)|\blog ?in fail/i;
const FILTERED =
  /content (?:management )?policy|content[ _]?filter|new_sensitive|sensitive (?:content|information|words)/i;

/** The same words from the inside of an engine, whose processes have lost one another (gloo, NCCL; Ollama's runner). */
const LOST_INSIDE = /\b(?:gloo|nccl|torch|cuda)\b|running the model|\brunner\b/i;

/** What a gateway says that was let down by its engine. */
function lostUpstream(text: string): FailureReason | null {
  if (LOST_INSIDE.test(text)) return null;
  if (CONNECT_FAILED.test(text) || UPSTREAM_DNS.test(text) || HUNG_UP.test(text)) return 'bad_gateway';
  return KEPT_WAITING.test(text) ? 'gateway_timeout' : null;
}

/** 503 has the most meanings of all. An engine never answers in HTML: such a page is a gateway's own. */
function unavailable({ headers, text }: StatusHints): FailureReason {
  if (headers['x-envoy-overloaded'] !== undefined || OVERFLOW.test(text)) return 'overloaded';
  if (LOADING.test(text)) return 'starting';
  const upstream = lostUpstream(text);
  if (upstream !== null) return upstream;
  const page = headers['content-type']?.toLowerCase().startsWith('text/html') ?? false;
  // Linkerd's own answer: it has found no endpoint for some seconds.
  const linkerd = headers['l5d-proxy-error'] !== undefined;
  return page || linkerd || NO_UPSTREAM.test(text) ? 'no_upstream' : 'overloaded';
}

/** Where something else went wrong meanwhile. */
const FAILED_LOADING = /\b(?:while|when|during|after|on) loading\b/i;

/** 500 is also what a gateway says that did not expect to be left without an engine. */
function internalError({ text }: StatusHints): FailureReason {
  if (NO_UPSTREAM.test(text)) return 'no_upstream';
  const upstream = lostUpstream(text);
  if (upstream !== null) return upstream;
  if (NO_ROOM.test(text)) return 'overloaded';
  return LOADING.test(text) && !FAILED_LOADING.test(text) ? 'starting' : 'server_error';
}

/** Cloudflare's 530 with "error code: 1016", and gateways that say it in words: the engine's name does not resolve. */
export const namesUpstreamDns = (status: number, text: string): boolean =>
  UPSTREAM_DNS.test(text) || (status === 530 && /\b1016\b/.test(text));

const BY_TEXT: readonly (readonly [RegExp, FailureReason])[] = [
  [SPENT, 'quota_exhausted'],
  [BAD_KEY, 'unauthorized'],
  [MODEL_MISSING, 'not_found'],
  [RATE, 'rate_limited'],
  [NO_ROOM, 'overloaded'],
  [LOADING, 'starting'],
  [FILTERED, 'content_filtered'],
  [NO_UPSTREAM, 'no_upstream'],
];

/** The reason that an error gives which has neither a status nor words of a known kind; null when it gives none. */
export const reasonOfText = (text: string): FailureReason | null => firstOf(BY_TEXT, text) ?? lostUpstream(text);

/** Statuses that gateways use for more than they mean, refined by the words beside them. */
const WORDS_BY_STATUS: ReadonlyMap<number, readonly (readonly [RegExp, FailureReason])[]> = new Map([
  [
    400,
    [
      // LiteLLM with every deployment in its cool-down, or down.
      [NO_UPSTREAM, 'no_upstream'],
      [SPENT, 'quota_exhausted'],
      [BAD_KEY, 'unauthorized'],
      [MODEL_MISSING, 'not_found'],
    ],
  ],
  [403, [[SPENT, 'quota_exhausted']]],
  [412, [[SPENT, 'quota_exhausted']]],
  [422, [[MODEL_MISSING, 'not_found']]],
  // Groq's own, for its tier without a guarantee.
  [498, [[NO_ROOM, 'overloaded']]],
  [
    429,
    [
      [NO_UPSTREAM, 'no_upstream'],
      [SPENT, 'quota_exhausted'],
      // A limit of the client's own, also where the server is called busy beside it.
      [RATE_LIMIT, 'rate_limited'],
      [NO_ROOM, 'overloaded'],
      [LOADING, 'starting'],
    ],
  ],
]);

const firstOf = (table: readonly (readonly [RegExp, FailureReason])[], text: string): FailureReason | null =>
  table.find(([pattern]) => pattern.test(text))?.[1] ?? null;

/** pydantic's errors quote the request that they refuse: such words are not the server's. */
const quotesRequest = (text: string): boolean => /["']loc["']: ?[[(]/.test(text) && /["']input["']: ?/.test(text);

const byWords = (status: number, text: string): FailureReason | null =>
  quotesRequest(text) ? null : firstOf(WORDS_BY_STATUS.get(status) ?? [], text);

/** The reason for an HTTP status of 300 and above, also for one that stands inside an error object. */
export function reasonOfStatus(status: number, hints: StatusHints): FailureReason {
  if (status === 503) return unavailable(hints);
  if (status === 500) return internalError(hints);
  const known = byWords(status, hints.text) ?? BY_STATUS.get(status);
  if (known !== undefined) return known;
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'bad_request' : 'redirected';
}

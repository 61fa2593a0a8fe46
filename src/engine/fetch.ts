import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { Seconds, UnixTime } from '../units.ts';
import { createExpositionParser, type ExpositionPage } from './exposition.ts';
import { createFetchAgent, type FetchTls } from './fetch-agent.ts';
import { BodyTooLarge, headerMap, isGzip, isIdentity, readBody } from './fetch-body.ts';
import { describeFetchError, isBrokenConnection, reasonOfFetchError } from './fetch-errors.ts';
import { faultOfPage } from './page-verdict.ts';
import type { PollFailureReason } from './types.ts';

export interface FetcherOptions {
  /** The endpoint that the key and the headers belong to; they are sent to this origin only. */
  readonly origin: string;
  readonly apiKey: () => string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole exchange: connection, headers and body. */
  readonly timeoutSeconds: Seconds;
  /** Limit of the body, counted after decompression. */
  readonly maxBytes: number;
  readonly tls?: FetchTls | null;
}

/** An answer of any status, with its body as text. */
export interface TextResponse {
  readonly ok: true;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Why nothing usable came. `message` is for people: one line, never response text, never a header. */
export interface FetchFailure {
  readonly ok: false;
  readonly reason: PollFailureReason;
  readonly status: number | null;
  readonly message: string;
}

export interface FetchedPage {
  readonly ok: true;
  readonly page: ExpositionPage;
  /** Decompressed size. */
  readonly bytes: number;
  /** Start of the server's process in seconds since 1970, from the header that llama.cpp sends. */
  readonly processStartSeconds: number | null;
  /** The page was fine but not labelled as one. */
  readonly contentTypeOdd: boolean;
}

/** Reads one metrics page. `wants` says which sample names to hold. */
export type FetchPage = (url: URL, wants: (name: string) => boolean) => Promise<FetchedPage | FetchFailure>;

export interface Fetcher {
  /** GET of a small document (JSON, text). */
  text(url: URL): Promise<TextResponse | FetchFailure>;
  /** GET of a metrics page, parsed as it arrives. */
  readonly page: FetchPage;
  /** Aborts what is in flight and closes the connections; nothing is asked any more. */
  close(): Promise<void>;
}

type Use<T> = (response: Dispatcher.ResponseData) => Promise<T>;

const MAX_REDIRECTS = 3;
// The Python client library gives OpenMetrics to whoever names it, whatever the weights, and without this escaping it
// rewrites the colons of names: SGLang's page would hold sglang_num_running_reqs.
const OPENMETRICS = 'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5';
const ACCEPT_PAGE = `text/plain;version=0.0.4;q=1,${OPENMETRICS},text/plain;q=0.4,*/*;q=0.1`;
const ACCEPT_TEXT = 'application/json, text/plain;q=0.5';

const failed = (reason: PollFailureReason, status: number | null, message: string): FetchFailure => ({
  ok: false,
  reason,
  status,
  message,
});

function abandon(response: Dispatcher.ResponseData): void {
  response.body.on('error', () => {}).destroy();
}

const EARLIEST_START = 1_500_000_000;
const CLOCK_SKEW_SECONDS = 86_400;

// Some builds send a year of the far past or future.
function plausibleStart(text: string | undefined, now: UnixTime): number | null {
  const value = Number(text);
  return text !== undefined && value > EARLIEST_START && value < now + CLOCK_SKEW_SECONDS ? value : null;
}

async function readPage(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  now: UnixTime,
  wants: (name: string) => boolean,
): Promise<FetchedPage | FetchFailure> {
  const status = response.statusCode;
  const headers = headerMap(response.headers);
  const encoding = headers.get('content-encoding') ?? '';
  if (status !== 200 || !(isGzip(encoding) || isIdentity(encoding))) {
    abandon(response);
    if (status === 200) return failed('bad_encoding', status, 'a content encoding that was not asked for');
    return failed(status === 401 || status === 403 ? 'unauthorized' : 'http_status', status, `HTTP ${status}`);
  }
  const contentType = headers.get('content-type') ?? '';
  const format = /^\s*application\/openmetrics-text\b/i.test(contentType) ? 'openmetrics' : 'text';
  const parser = createExpositionParser({ format, wants });
  let opening = '';
  const bytes = await readBody(response, maxBytes, (text) => {
    if (opening.length < 256) opening += text.slice(0, 256);
    parser.feed(text);
  });
  const page = parser.end();
  const lengthKnown = !isGzip(encoding) && headers.has('content-length');
  const fault = faultOfPage(page, { opening, format, bytes, lengthKnown });
  if (fault !== null) return failed(fault.reason, status, fault.message);
  const contentTypeOdd = !/^\s*(text\/plain|application\/openmetrics-text)\b/i.test(contentType);
  return {
    ok: true,
    page,
    bytes,
    processStartSeconds: plausibleStart(headers.get('process-start-time-unix'), now),
    contentTypeOdd,
  };
}

async function readText(response: Dispatcher.ResponseData, maxBytes: number): Promise<TextResponse> {
  let body = '';
  await readBody(response, maxBytes, (text) => {
    body += text;
  });
  return { ok: true, status: response.statusCode, headers: headerMap(response.headers), body };
}

const isLoopback = (hostname: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);

const nextLocation = (response: Dispatcher.ResponseData, from: URL): URL | null => {
  const location = headerMap(response.headers).get('location') ?? '';
  const isRedirect = response.statusCode >= 300 && response.statusCode < 400 && location !== '';
  return isRedirect && URL.canParse(location, from.href) ? new URL(location, from) : null;
};

/**
 * Reads metrics pages and small documents of one endpoint. Follows redirects inside an origin only, sends the key to
 * the endpoint's own origin only, and ends each exchange at its own deadline.
 */
export function createFetcher(options: FetcherOptions, deps: { readonly clock: Clock }): Fetcher {
  // Made at the first request, and anew after a TLS failure, so that renewed certificate files are read.
  let agent: Dispatcher | null = null;
  let closed = false;
  const running = new Set<AbortController>();

  const dropConnections = async (): Promise<void> => {
    const old = agent;
    agent = null;
    await old?.destroy();
  };

  const requestHeaders = (url: URL, accept: string): Record<string, string> => {
    // On the same machine compression costs the engine's own server time and saves nothing.
    const encoding = isLoopback(url.hostname) ? 'identity' : 'gzip';
    const common = { accept, 'accept-encoding': encoding, 'user-agent': 'inference-probe-exporter' };
    if (url.origin !== options.origin) return common;
    const key = options.apiKey();
    return { ...common, ...options.headers, ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
  };

  /** A kept-alive connection may be closed by the server just then: a GET is then sent again, on a fresh one. */
  const requestOnce = async (request: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> => {
    agent ??= createFetchAgent(options.tls ?? {}, options.timeoutSeconds);
    try {
      return await agent.request(request);
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
      return agent.request(request);
    }
  };

  const get = async (
    url: URL,
    accept: string,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData | FetchFailure> => {
    let at = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      const path = `${at.pathname}${at.search}`;
      const headers = requestHeaders(at, accept);
      const response = await requestOnce({ origin: at.origin, path, method: 'GET', headers, signal });
      const next = nextLocation(response, at);
      if (next === null) return response;
      await response.body.dump();
      if (next.origin !== at.origin) {
        return failed('http_status', response.statusCode, 'redirects to another origin, which is not followed');
      }
      at = next;
    }
    return failed('http_status', null, `more than ${MAX_REDIRECTS} redirects`);
  };

  const exchange = async <T>(url: URL, accept: string, use: Use<T>): Promise<T | FetchFailure> => {
    if (closed) return failed('connect', null, 'not asked any more');
    const controller = new AbortController();
    running.add(controller);
    let expired = false;
    let answered = false;
    const timer = deps.clock.setTimer(options.timeoutSeconds, () => {
      expired = true;
      controller.abort();
    });
    try {
      const response = await get(url, accept, controller.signal);
      answered = true;
      return 'ok' in response ? response : await use(response);
    } catch (error) {
      controller.abort();
      if (expired) return failed('timeout', null, `no complete answer within ${options.timeoutSeconds} s`);
      if (error instanceof BodyTooLarge) return failed('too_large', null, error.message);
      const reason = reasonOfFetchError(error);
      if (reason === 'tls') await dropConnections();
      // The answer had begun: what broke off is the page, not the connection attempt.
      return failed(answered && reason === 'connect' ? 'truncated' : reason, null, describeFetchError(error));
    } finally {
      timer.cancel();
      running.delete(controller);
    }
  };

  return {
    text: (url) => exchange(url, ACCEPT_TEXT, (response) => readText(response, options.maxBytes)),
    page: (url, wants) =>
      exchange(url, ACCEPT_PAGE, (response) => readPage(response, options.maxBytes, deps.clock.unix(), wants)),
    close: async () => {
      closed = true;
      for (const controller of running) controller.abort();
      await dropConnections();
    },
  };
}

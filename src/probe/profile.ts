import type { Seconds } from '../units.ts';
import type { ApiName } from './outcome.ts';

/** Five deadlines, each with its own timer and its own failure reason. Comments and pings reset none of them. */
export interface Deadlines {
  /** Start of the connection -> connected (TLS included). `connect_timeout`. */
  readonly connectSeconds: Seconds;
  /** Request handed to the socket -> response headers. `headers_timeout`. */
  readonly headersSeconds: Seconds;
  /** Request handed to the socket -> first token. `ttft_timeout`. */
  readonly firstTokenSeconds: Seconds;
  /** A token chunk -> the next token chunk or the terminal event. `stalled`. */
  readonly betweenTokensSeconds: Seconds;
  /** Request handed to the socket -> terminal event. `total_timeout`. */
  readonly totalSeconds: Seconds;
}

/** What a complete answer must look like; all optional, all null when not wanted. */
export interface Expectation {
  readonly minTokens: number | null;
  /** The answer must match. */
  readonly pattern: RegExp | null;
  /** The trimmed answer must be exactly this (a known-answer canary). */
  readonly answer: string | null;
  /** Look for repeated single tokens, runs of "!", replacement characters and the like. */
  readonly detectDegenerate: boolean;
}

/** One way of probing. A target has one or more; each is its own set of series. */
export interface ProbeProfile {
  readonly name: string;
  /** `unique`: every probe pays the whole prefill. `shared`: the same prompt every time, a warm prefix-cache hit. */
  readonly prefix: 'unique' | 'shared';
  /** `reuse`: what a gateway with warm connections sees. `fresh`: what a new client sees. */
  readonly connection: 'reuse' | 'fresh';
  readonly promptTokens: number;
  /** A fixed prompt instead of a generated one (for known answers); then `promptTokens` is not used. */
  readonly prompt: string | null;
  readonly maxTokens: number;
  /** `auto`: sent where the engine is known to honour it. */
  readonly ignoreEos: boolean | 'auto';
  readonly temperature: number;
  readonly deadlines: Deadlines;
  readonly expect: Expectation;
  /** Extra fields for the request body, merged last (for example chat_template_kwargs). */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** TLS and address settings of a target's connections. Paths are read again when the files change. */
export interface ConnectionSettings {
  readonly family: 4 | 6 | 'auto';
  /** Time that each address gets before the next one is tried (happy eyeballs). */
  readonly addressAttemptSeconds: Seconds;
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
  readonly serverName: string | null;
  readonly insecureSkipVerify: boolean;
  readonly proxyUrl: string | null;
}

/** What the probe needs to know of a target; `model` and `api` are already resolved. */
export interface ProbeTarget {
  readonly name: string;
  /** Base URL without trailing slash; may have a path (`https://gw.example/openai/v1`). Never logged with user info or query. */
  readonly url: URL;
  readonly model: string;
  readonly api: ApiName;
  /** The engine's name where known (decides which parameters are sent), e.g. "vllm". */
  readonly engine: string | null;
  /** Called for each request, so that a rotated key is used from the next probe on. Null: no key. */
  readonly apiKey: () => string | null;
  /** Extra request headers, possibly secret: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: ConnectionSettings;
}

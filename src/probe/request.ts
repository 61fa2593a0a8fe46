import { randomBytes, randomUUID } from 'node:crypto';
import type { ApiDialect, Ask } from './apis/api.ts';
import { basicAuthorization } from './basic-auth.ts';
import { displayUrl } from './failure.ts';
import type { ProbeProfile, ProbeTarget } from './profile.ts';
import type { TransportRequest } from './transport-types.ts';

/** Lets operators leave probes out of billing, user metrics and rate limits. */
const MARKER_HEADER = 'x-inference-probe';

/** Engines that honour `ignore_eos`; the others ignore it, or refuse the request. */
const IGNORE_EOS_ENGINES: ReadonlySet<string> = new Set([
  'vllm',
  'sglang',
  'tensorrt-llm',
  'llamacpp',
  'lmdeploy',
  'llm-d-inference-sim',
]);

/** A new probe id: 32 hexadecimal digits, valid as a W3C trace id. */
export const newProbeId = (): string => randomUUID().replaceAll('-', '');

/** W3C trace context with the probe's id as trace id, sampled, so that the engine's own trace can be found by it. */
export const traceparent = (id: string): string => `00-${id}-${randomBytes(8).toString('hex')}-01`;

/** What the profile asks for, in the terms of every API. */
export function buildAsk(
  target: ProbeTarget,
  profile: ProbeProfile,
  prompt: string,
  refused: ReadonlySet<string>,
): Ask {
  const { ignoreEos } = profile;
  return {
    model: target.model,
    prompt,
    maxTokens: profile.maxTokens,
    temperature: profile.temperature,
    ignoreEos: ignoreEos === 'auto' ? IGNORE_EOS_ENGINES.has(target.engine ?? '') : ignoreEos,
    engine: target.engine,
    refused,
    extraBody: profile.extraBody,
  };
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** What all requests of one target have in common. */
export interface RequestFrame {
  readonly url: URL;
  /** The URL as it is written for people. */
  readonly place: string;
  /** Headers that the key, the trace and those of the target may replace, and those of the target with the marker. */
  readonly first: Readonly<Record<string, string>>;
  readonly last: Readonly<Record<string, string>>;
}

export function createRequestFrame(target: ProbeTarget, dialect: ApiDialect, userAgent: string): RequestFrame {
  const url = dialect.url(target.url, target.model);
  // User info in the URL is what browsers and curl send as basic authentication; it never stays in the URL.
  const authorization = basicAuthorization(url);
  url.username = '';
  url.password = '';
  return {
    url,
    place: displayUrl(url),
    first: {
      'content-type': 'application/json',
      accept: [...dialect.streamTypes, 'application/json'].join(', '),
      // A compressor in between would hold events back; asked for identity it has no reason to be there.
      'accept-encoding': 'identity',
      'user-agent': userAgent,
      ...(authorization !== null && { authorization }),
    },
    last: { ...lowerCase(target.headers), [MARKER_HEADER]: '1' },
  };
}

export interface RequestParts {
  readonly frame: RequestFrame;
  readonly target: ProbeTarget;
  readonly dialect: ApiDialect;
  readonly body: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly traceparent: boolean;
}

/**
 * The request of one probe. The key is read here, so that each probe uses the current one; this throws what reading it
 * throws. Headers of the target replace ours of the same name, but never the marker.
 */
export function buildRequest({ frame, target, dialect, body, id, ...how }: RequestParts): TransportRequest {
  const headers = {
    ...frame.first,
    ...dialect.authHeaders(target.apiKey()),
    ...(how.traceparent && { traceparent: traceparent(id) }),
    ...frame.last,
  };
  return { url: frame.url, headers, body: JSON.stringify(body) };
}

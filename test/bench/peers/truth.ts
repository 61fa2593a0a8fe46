import type { ServerStamps } from '../stamps.ts';
import { type Distribution, distribution } from '../statistics.ts';
import type { Pair } from './match.ts';

/** What happened, by the server's stamps, to the requests that a client counts. */
export interface Truth {
  readonly requests: number;
  readonly outputTokens: number;
  /** First token minus the arrival of the request, milliseconds. */
  readonly ttftMs: Distribution;
  /** (last − first token) / (tokens − 1) of each answer, milliseconds. */
  readonly tpotMs: Distribution;
}

const milliseconds = (from: string, to: string): number => Number(BigInt(to) - BigInt(from)) / 1e6;

export function truthOf(server: ServerStamps, ids: readonly string[]): Truth {
  const streams = ids.flatMap((id) => server[id] ?? []);
  const ends = streams.flatMap(({ received, sent }) => {
    const [first, last] = [sent[0], sent.at(-1)];
    return first === undefined || last === undefined ? [] : [{ received, first, last, tokens: sent.length }];
  });
  return {
    requests: ends.length,
    outputTokens: ends.reduce((sum, { tokens }) => sum + tokens, 0),
    ttftMs: distribution(ends.map(({ received, first }) => milliseconds(received, first))),
    tpotMs: distribution(
      ends.flatMap(({ first, last, tokens }) => (tokens > 1 ? [milliseconds(first, last) / (tokens - 1)] : [])),
    ),
  };
}

/** Connections, caches and compiled code first: what a client makes of its first seconds is left out. */
const SETTLED_AFTER_MS = 2000;

/** How far a client's TTFT is from the server's, for each request that both know, milliseconds. */
export function ttftErrors(pairs: readonly Pair[], server: ServerStamps): Distribution {
  const known = pairs.flatMap(({ id, ttftSeconds }) => {
    const stamps = server[id];
    const first = stamps?.sent[0];
    return stamps === undefined || first === undefined ? [] : [{ received: stamps.received, first, ttftSeconds }];
  });
  const began = known.reduce<string | null>(
    (least, { received }) => (least === null || BigInt(received) < BigInt(least) ? received : least),
    null,
  );
  return distribution(
    known
      .filter(({ received }) => began !== null && milliseconds(began, received) >= SETTLED_AFTER_MS)
      .map(({ received, first, ttftSeconds }) => Math.abs(ttftSeconds * 1000 - milliseconds(received, first))),
  );
}

export const eventsOf = (server: ServerStamps): number =>
  Object.values(server).reduce((sum, { sent }) => sum + sent.length, 0);

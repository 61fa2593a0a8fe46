import type { ServerStamps } from '../stamps.ts';

/** One request as its client recorded it; seconds on any clock of its own. */
export interface Recorded {
  readonly sentAt: number;
  readonly endedAt: number;
  readonly ttftSeconds: number;
  readonly outputTokens: number;
}

/** A request that both sides know. */
export interface Pair {
  readonly id: string;
  readonly ttftSeconds: number;
  readonly outputTokens: number;
}

const at = (nanoseconds: string | undefined): number => Number(BigInt(nanoseconds ?? '0') / 1000n) / 1e6;
/** Beyond this a request and a stream are not the same one. */
const FARTHEST_SECONDS = 0.5;

interface Stream {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

const CANDIDATES = 12;
const SAMPLE = 40;

/** Nearest stream that is not taken, by its beginning and its end; null when none is near. */
function nearest(streams: readonly Stream[], from: number, to: number, taken: ReadonlySet<string>): Stream | null {
  let best: Stream | null = null;
  let least = 2 * FARTHEST_SECONDS;
  for (const stream of streams) {
    if (stream.from < from - FARTHEST_SECONDS) continue;
    if (stream.from > from + FARTHEST_SECONDS) break;
    const distance = Math.abs(stream.from - from) + Math.abs(stream.to - to);
    if (taken.has(stream.id) || distance >= least) continue;
    best = stream;
    least = distance;
  }
  return best;
}

/** The clocks differ by a constant: of a few guesses, the one under which the first requests lie nearest. */
function offsetOf(ordered: readonly Recorded[], streams: readonly Stream[]): number {
  const sample = ordered.slice(0, SAMPLE);
  const guesses = streams.slice(0, CANDIDATES).map(({ from }) => from - (ordered[0]?.sentAt ?? 0));
  const scored = guesses.map((offset) => {
    const distances = sample.map(({ sentAt, endedAt }) => {
      const found = nearest(streams, sentAt + offset, endedAt + offset, new Set());
      if (found === null) return 2 * FARTHEST_SECONDS;
      return Math.abs(found.from - sentAt - offset) + Math.abs(found.to - endedAt - offset);
    });
    return { offset, distance: distances.reduce((sum, distance) => sum + distance, 0) };
  });
  return scored.sort((a, b) => a.distance - b.distance)[0]?.offset ?? 0;
}

/**
 * Finds the streams of requests that carried no id, by when they began and ended: the instant of the first token, which
 * is what is held against the server's stamp later, is not used.
 */
export function pairByTime<T extends Recorded>(records: readonly T[], server: ServerStamps): readonly (Pair & T)[] {
  const streams = Object.entries(server)
    .map(([id, { received, sent }]) => ({ id, from: at(received), to: at(sent.at(-1)) }))
    .sort((a, b) => a.from - b.from);
  const ordered = [...records].sort((a, b) => a.sentAt - b.sentAt);
  const offset = offsetOf(ordered, streams);
  const taken = new Set<string>();
  return ordered.flatMap((record) => {
    const found = nearest(streams, record.sentAt + offset, record.endedAt + offset, taken);
    if (found === null) return [];
    taken.add(found.id);
    return [{ ...record, id: found.id }];
  });
}

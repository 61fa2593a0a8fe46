import type { ServerStamps } from '../stamps.ts';
import { distribution } from '../statistics.ts';

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

/** How far the ends of a request are from those of a stream, together. */
const distanceOf = (stream: Stream, from: number, to: number): number =>
  Math.abs(stream.from - from) + Math.abs(stream.to - to);

/** Streams that began about then; `streams` by their beginning. */
function near(streams: readonly Stream[], from: number): readonly Stream[] {
  return streams.filter((stream) => Math.abs(stream.from - from) <= FARTHEST_SECONDS);
}

/** The clocks differ by a constant: of a few guesses, the one under which the first requests lie nearest. */
function offsetOf(ordered: readonly Recorded[], streams: readonly Stream[]): number {
  const sample = ordered.slice(0, SAMPLE);
  const guesses = streams.slice(0, CANDIDATES).map(({ from }) => from - (ordered[0]?.sentAt ?? 0));
  const scored = guesses.map((offset) => {
    const distances = sample.map(({ sentAt, endedAt }) => {
      const from = sentAt + offset;
      const all = near(streams, from).map((stream) => distanceOf(stream, from, endedAt + offset));
      return Math.min(2 * FARTHEST_SECONDS, ...all);
    });
    return { offset, distance: distances.reduce((sum, distance) => sum + distance, 0) };
  });
  return scored.sort((a, b) => a.distance - b.distance)[0]?.offset ?? 0;
}

/** The surest pairs first: taken one request after the other, one would take the stream of the next. */
function assign<T extends Recorded>(ordered: readonly T[], streams: readonly Stream[], offset: number): Map<T, Stream> {
  const candidates = ordered.flatMap((record) =>
    near(streams, record.sentAt + offset).map((stream) => ({
      record,
      stream,
      distance: distanceOf(stream, record.sentAt + offset, record.endedAt + offset),
    })),
  );
  candidates.sort((a, b) => a.distance - b.distance);
  const taken = new Set<Stream>();
  const found = new Map<T, Stream>();
  for (const { record, stream, distance } of candidates) {
    if (distance >= 2 * FARTHEST_SECONDS || taken.has(stream) || found.has(record)) continue;
    taken.add(stream);
    found.set(record, stream);
  }
  return found;
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
  const guessed = [...assign(ordered, streams, offsetOf(ordered, streams))];
  // The guess is the delay of a single request; what all pairs have in common is nearer to the clocks' difference.
  const offset = distribution(guessed.map(([record, stream]) => stream.from - record.sentAt)).p50;
  return [...assign(ordered, streams, offset)].map(([record, { id }]) => ({ ...record, id }));
}

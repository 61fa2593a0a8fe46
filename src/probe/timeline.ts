import type { MonotonicInstant } from '../units.ts';
import type { TimelineKind } from './outcome.ts';
import type { StampedEntry } from './reading.ts';

/** The first and the last entries of a stream: how it began, how it ended. */
export interface Timeline {
  add(at: MonotonicInstant, kind: TimelineKind, tokens: number): void;
  entries(): readonly StampedEntry[];
}

/** Keeps at most `limit` entries; the middle of a longer stream goes. */
export function createTimeline(limit: number): Timeline {
  const headLimit = Math.ceil(limit / 2);
  const tailLimit = limit - headLimit;
  const head: StampedEntry[] = [];
  // A ring: `oldest` is the next to be overwritten once it is full.
  const tail: StampedEntry[] = [];
  let oldest = 0;
  return {
    add(at, kind, tokens) {
      if (head.length < headLimit) head.push({ at, kind, tokens });
      else if (tail.length < tailLimit) tail.push({ at, kind, tokens });
      else if (tailLimit > 0) {
        tail[oldest] = { at, kind, tokens };
        oldest = (oldest + 1) % tailLimit;
      }
    },
    entries: () => [...head, ...tail.slice(oldest), ...tail.slice(0, oldest)],
  };
}

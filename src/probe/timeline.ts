import type { MonotonicInstant } from '../units.ts';
import type { TimelineKind } from './outcome.ts';
import type { StampedEntry } from './reading.ts';

/** The first and the last entries of a stream: how it began, how it ended. */
export interface Timeline {
  add(at: MonotonicInstant, kind: TimelineKind, tokens: number): void;
  entries(): readonly StampedEntry[];
}

/** Keeps the entries as columns: an object for each would outlive the stream only to be copied. */
class Entries implements Timeline {
  private readonly limit: number;
  private readonly headLimit: number;
  private readonly ats: MonotonicInstant[] = [];
  private readonly kinds: TimelineKind[] = [];
  private readonly tokens: number[] = [];
  /** Behind the head lies a ring; this is its next entry to be overwritten once it is full. */
  private oldest: number;

  constructor(limit: number) {
    this.limit = limit;
    this.headLimit = Math.ceil(limit / 2);
    this.oldest = this.headLimit;
  }

  add(at: MonotonicInstant, kind: TimelineKind, tokens: number): void {
    if (this.ats.length < this.limit) {
      this.ats.push(at);
      this.kinds.push(kind);
      this.tokens.push(tokens);
    } else if (this.limit > this.headLimit) {
      this.ats[this.oldest] = at;
      this.kinds[this.oldest] = kind;
      this.tokens[this.oldest] = tokens;
      this.oldest = this.oldest + 1 < this.limit ? this.oldest + 1 : this.headLimit;
    }
  }

  entries(): readonly StampedEntry[] {
    const all = this.ats.map((at, index) => ({
      at,
      kind: this.kinds[index] ?? 'event',
      tokens: this.tokens[index] ?? 0,
    }));
    if (this.oldest === this.headLimit) return all;
    return [...all.slice(0, this.headLimit), ...all.slice(this.oldest), ...all.slice(this.headLimit, this.oldest)];
  }
}

const NO_ENTRIES: Timeline = { add: () => {}, entries: () => [] };

/** Keeps at most `limit` entries; the middle of a longer stream goes. */
export const createTimeline = (limit: number): Timeline => (limit === 0 ? NO_ENTRIES : new Entries(limit));

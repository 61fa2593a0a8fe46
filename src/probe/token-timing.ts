import { elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';

/**
 * What an event that may stand for a token showed.
 * - `text`: generated text, reasoning or a tool call.
 * - `empty`: a text field that is there but empty, and no role. A byte-level tokenizer, a stop string or the last
 *   token of an answer makes such chunks for real tokens; other servers send them for nothing.
 * - `bare`: no text field at all, but a finish reason. Stands for the end-of-sequence token on some servers.
 */
export type ChunkKind = 'text' | 'empty' | 'bare';

/** What the usage of the whole stream says; decides which chunks without text were tokens. */
export interface TokenEvidence {
  /** Output tokens according to usage; null when the server does not say. */
  readonly totalTokens: number | null;
  /** Reasoning tokens that were counted but not streamed: all came before the first chunk. */
  readonly hiddenTokens: number;
  /** Events that could not be read and may have been tokens. */
  readonly lostEvents: number;
}

export interface TokenTimes {
  readonly firstAt: MonotonicInstant | null;
  readonly lastAt: MonotonicInstant | null;
  readonly tokenChunks: number;
  readonly gapsSeconds: readonly Seconds[];
  readonly firstChunkTokens: number | null;
  readonly tpotSeconds: Seconds | null;
}

/** Keeps the arrival of every chunk that is or may be a token, until the counts tell them apart. */
export interface TokenTiming {
  /** `counted`: the running total of output tokens that this very event carried, if any. True for a sure token. */
  chunk(at: MonotonicInstant, kind: ChunkKind, counted: number | null): boolean;
  /** Highest running total seen beside a chunk. */
  readonly countedTokens: number;
  /** The total stood still while more chunks with text came than it counts: it is no total. */
  readonly countRefuted: boolean;
  /** Tokens of the last sure token chunk: the rise of the running total, or 1. */
  readonly lastChunkTokens: number;
  times(evidence: TokenEvidence): TokenTimes;
}

const SURE = 0;
const EMPTY = 1;
const BARE = 2;

interface Candidates {
  readonly leading: number;
  readonly later: number;
  readonly lastIsEmpty: boolean;
}

/** As many chunks with text after the first one, all with its count, show that the count does not run. */
const REPEATS_OF_A_STANDING_COUNT = 2;

/** How many of the chunks without text were tokens, by the rules of docs/measurement.md, "Tokens without text". */
function decide(missing: number, lost: number, found: Candidates): { leading: number; later: boolean; last: boolean } {
  const empties = found.leading + found.later;
  if (missing <= 0) return { leading: 0, later: false, last: false };
  if (missing >= empties) {
    // One more than all chunks explain: the finish frame stands for the end-of-sequence token.
    const last = found.lastIsEmpty || missing - empties - lost === 1;
    return { leading: found.leading, later: true, last };
  }
  // Too few for all: an empty chunk that ends the answer is the likeliest token, one that opens it the least.
  return { leading: Math.max(0, missing - found.later), later: false, last: found.lastIsEmpty };
}

/** A class, as one is made for each stream: its methods are compiled once, not bound anew each time. */
class Timing implements TokenTiming {
  countedTokens = 0;
  lastChunkTokens = 0;
  private readonly at: MonotonicInstant[] = [];
  private readonly mark: number[] = [];
  private sure = 0;
  private leadingEmpties = 0;
  private laterEmpties = 0;
  /** Running total at the first chunk with text; 0 when that chunk carried none. */
  private firstCounted = 0;
  /** Later chunks with text that carried the count of the first one. */
  private repeats = 0;

  /** Some gateways write the final usage, or a usage of 1, into every chunk. */
  private get standsStill(): boolean {
    return this.repeats >= REPEATS_OF_A_STANDING_COUNT && this.countedTokens === this.firstCounted;
  }

  get countRefuted(): boolean {
    return this.standsStill && this.countedTokens < this.sure;
  }

  chunk(instant: MonotonicInstant, kind: ChunkKind, counted: number | null): boolean {
    let isToken = false;
    if (kind === 'text') {
      this.sureToken(instant, counted);
      isToken = true;
    } else if (this.sure > 0) {
      isToken = this.laterCandidate(instant, kind, counted);
    } else if (kind === 'empty' && counted === null) {
      this.leadingEmpties += 1;
    }
    if (counted !== null && counted > this.countedTokens) this.countedTokens = counted;
    return isToken;
  }

  times(evidence: TokenEvidence): TokenTimes {
    const total = evidence.totalTokens;
    const firstCounted = this.standsStill ? 0 : this.firstCounted;
    const explained = firstCounted > 0 ? this.countedTokens : this.sure + evidence.hiddenTokens;
    const lastIsEmpty = this.mark.at(-1) === EMPTY;
    const found = { leading: this.leadingEmpties, later: this.laterEmpties, lastIsEmpty };
    const tokens = decide(total === null ? 0 : total - explained, evidence.lostEvents, found);
    const arrivals = this.tokenArrivals(tokens.later, tokens.last);
    const first =
      firstCounted > 0
        ? { tokens: firstCounted, proven: true }
        : estimateFirst(evidence, tokens.leading, arrivals.length + tokens.leading);
    return {
      firstAt: arrivals[0] ?? null,
      lastAt: arrivals.at(-1) ?? null,
      tokenChunks: arrivals.length,
      gapsSeconds: gaps(arrivals),
      firstChunkTokens: this.sure > 0 && total !== null && first.proven ? first.tokens : null,
      tpotSeconds: tpot(arrivals, (total ?? arrivals.length) - first.tokens),
    };
  }

  private keep(instant: MonotonicInstant, kind: number): void {
    this.at.push(instant);
    this.mark.push(kind);
    if (kind === EMPTY) this.laterEmpties += 1;
  }

  private sureToken(instant: MonotonicInstant, counted: number | null): void {
    const { countedTokens } = this;
    if (this.sure === 0) this.firstCounted = counted ?? 0;
    else if (counted !== null && counted === this.firstCounted) this.repeats += 1;
    this.lastChunkTokens = counted !== null && counted > countedTokens ? counted - countedTokens : 1;
    this.sure += 1;
    this.keep(instant, SURE);
  }

  /**
   * A chunk without text after the first token. Where each chunk carries the running total, its rise proves a token
   * and its standing still proves none; a total that comes only now proves nothing of this chunk.
   */
  private laterCandidate(instant: MonotonicInstant, kind: ChunkKind, counted: number | null): boolean {
    if (counted === null || this.firstCounted === 0) {
      this.keep(instant, kind === 'empty' ? EMPTY : BARE);
      return false;
    }
    if (counted <= this.countedTokens) return false;
    this.sureToken(instant, counted);
    return true;
  }

  private tokenArrivals(later: boolean, last: boolean): readonly MonotonicInstant[] {
    const { at, mark } = this;
    if (this.sure === at.length) return at;
    const end = at.length - 1;
    return at.filter((_, index) => mark[index] === SURE || (index === end ? last : later && mark[index] === EMPTY));
  }
}

/** Tokens up to and with the first chunk that has text, where no running total says it. */
function estimateFirst(
  evidence: TokenEvidence,
  leading: number,
  chunks: number,
): { readonly tokens: number; readonly proven: boolean } {
  const delivered = (evidence.totalTokens ?? chunks) - evidence.hiddenTokens;
  // The first chunk of an answer holds one token, as prefill makes one; the others share the rest.
  const each = chunks > 1 ? Math.max(1, (delivered - 1) / (chunks - 1)) : 1;
  return { tokens: evidence.hiddenTokens + 1 + leading * each, proven: delivered === chunks };
}

export const createTokenTiming = (): TokenTiming => new Timing();

function gaps(arrivals: readonly MonotonicInstant[]): Seconds[] {
  const result: Seconds[] = [];
  for (let index = 1; index < arrivals.length; index += 1) {
    const from = arrivals[index - 1];
    const to = arrivals[index];
    if (from !== undefined && to !== undefined) result.push(elapsed(from, to));
  }
  return result;
}

/** Null, never 0: without tokens after the first chunk, or without time between them, there is nothing to divide. */
function tpot(arrivals: readonly MonotonicInstant[], tokensAfterFirst: number): Seconds | null {
  const first = arrivals[0];
  const last = arrivals.at(-1);
  if (first === undefined || last === undefined || last <= first || tokensAfterFirst <= 0) return null;
  return seconds((last - first) / tokensAfterFirst);
}

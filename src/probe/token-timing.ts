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

export function createTokenTiming(): TokenTiming {
  const at: MonotonicInstant[] = [];
  const mark: number[] = [];
  let sure = 0;
  let leadingEmpties = 0;
  let countedTokens = 0;
  let lastChunkTokens = 0;
  /** Running total at the first chunk with text; 0 when that chunk carried none. */
  let firstCounted = 0;

  function keep(instant: MonotonicInstant, kind: number): void {
    at.push(instant);
    mark.push(kind);
  }

  function sureToken(instant: MonotonicInstant, counted: number | null): void {
    if (sure === 0) firstCounted = counted ?? 0;
    lastChunkTokens = counted !== null && counted > countedTokens ? counted - countedTokens : 1;
    sure += 1;
    keep(instant, SURE);
  }

  /**
   * A chunk without text after the first token. Where each chunk carries the running total, its rise proves a token
   * and its standing still proves none; a total that comes only now proves nothing of this chunk.
   */
  function laterCandidate(instant: MonotonicInstant, kind: ChunkKind, counted: number | null): boolean {
    if (counted === null || firstCounted === 0) {
      keep(instant, kind === 'empty' ? EMPTY : BARE);
      return false;
    }
    if (counted <= countedTokens) return false;
    sureToken(instant, counted);
    return true;
  }

  function chunk(instant: MonotonicInstant, kind: ChunkKind, counted: number | null): boolean {
    let isToken = false;
    if (kind === 'text') {
      sureToken(instant, counted);
      isToken = true;
    } else if (sure > 0) {
      isToken = laterCandidate(instant, kind, counted);
    } else if (kind === 'empty' && counted === null) {
      leadingEmpties += 1;
    }
    if (counted !== null && counted > countedTokens) countedTokens = counted;
    return isToken;
  }

  function tokenArrivals(later: boolean, last: boolean): MonotonicInstant[] {
    const end = at.length - 1;
    return at.filter((_, index) => mark[index] === SURE || (index === end ? last : later && mark[index] === EMPTY));
  }

  /** Tokens up to and with the first chunk that has text, where no running total says it. */
  function estimateFirst(
    evidence: TokenEvidence,
    leading: number,
    chunks: number,
  ): { tokens: number; proven: boolean } {
    const delivered = (evidence.totalTokens ?? chunks) - evidence.hiddenTokens;
    // The first chunk of an answer holds one token, as prefill makes one; the others share the rest.
    const each = chunks > 1 ? Math.max(1, (delivered - 1) / (chunks - 1)) : 1;
    return { tokens: evidence.hiddenTokens + 1 + leading * each, proven: delivered === chunks };
  }

  function times(evidence: TokenEvidence): TokenTimes {
    const total = evidence.totalTokens;
    const explained = firstCounted > 0 ? countedTokens : sure + evidence.hiddenTokens;
    const later = mark.reduce((sum, kind) => sum + (kind === EMPTY ? 1 : 0), 0);
    const found = { leading: leadingEmpties, later, lastIsEmpty: mark.at(-1) === EMPTY };
    const tokens = decide(total === null ? 0 : total - explained, evidence.lostEvents, found);
    const arrivals = tokenArrivals(tokens.later, tokens.last);
    const first =
      firstCounted > 0
        ? { tokens: firstCounted, proven: true }
        : estimateFirst(evidence, tokens.leading, arrivals.length + tokens.leading);
    return {
      firstAt: arrivals[0] ?? null,
      lastAt: arrivals.at(-1) ?? null,
      tokenChunks: arrivals.length,
      gapsSeconds: gaps(arrivals),
      firstChunkTokens: sure > 0 && total !== null && first.proven ? first.tokens : null,
      tpotSeconds: tpot(arrivals, (total ?? arrivals.length) - first.tokens),
    };
  }

  return {
    chunk,
    times,
    get countedTokens() {
      return countedTokens;
    },
    get lastChunkTokens() {
      return lastChunkTokens;
    },
  };
}

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

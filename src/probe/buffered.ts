import { elapsed, type MonotonicInstant, type Seconds } from '../units.ts';

/** Fewer tokens say nothing about the way in which they were delivered. */
const LEAST_TOKENS = 8;
/** An answer that arrives within this, or within the share of TTFT below, arrived as one lump... */
const LUMP_SECONDS = 0.02;
const LUMP_SHARE_OF_TTFT = 0.02;
/** ...if its tokens are also closer together than any single stream is decoded. */
const FASTEST_TOKEN_SECONDS = 0.001;
/** A gap below this, and below a tenth of the mean, lies inside a burst. */
const GLUED_SECONDS = 0.001;
const GLUED_SHARE_OF_MEAN = 0.1;
/** Bursts of four and more chunks. Smaller ones also come from speculative decoding. */
const GLUED_SHARE_OF_GAPS = 0.75;

export interface ArrivalPattern {
  /** Request handed to the socket; null when not known, then only the absolute bound of a lump counts. */
  readonly requestAt: MonotonicInstant | null;
  readonly firstAt: MonotonicInstant | null;
  readonly lastAt: MonotonicInstant | null;
  /** Tokens that were delivered, hidden reasoning left out. */
  readonly tokens: number;
  readonly gapsSeconds: readonly Seconds[];
}

/**
 * Whether something between the engine and us held tokens back and released them together, so that the gaps describe
 * it and not the engine. Rules and reasons: docs/measurement.md, "Buffered streams".
 */
export function isBuffered(pattern: ArrivalPattern): boolean {
  const { firstAt, lastAt, tokens } = pattern;
  if (firstAt === null || lastAt === null || tokens < LEAST_TOKENS) return false;
  const spanSeconds = elapsed(firstAt, lastAt);
  if (isProvenFast(pattern, lastAt)) return false;
  return isLump(spanSeconds, pattern) || isBurst(spanSeconds, pattern.gapsSeconds);
}

/**
 * All of it, the wait for the first token included, took less than any engine needs to decode the answer at the rate
 * above: nobody can have held it back for long enough to matter. So it is for mock servers, and for tiny models.
 */
const isProvenFast = ({ requestAt, tokens }: ArrivalPattern, lastAt: MonotonicInstant): boolean =>
  requestAt !== null && elapsed(requestAt, lastAt) < FASTEST_TOKEN_SECONDS * (tokens - 1);

function isLump(spanSeconds: number, { requestAt, firstAt, tokens }: ArrivalPattern): boolean {
  const ttftSeconds = requestAt === null || firstAt === null ? 0 : elapsed(requestAt, firstAt);
  const limitSeconds = Math.max(LUMP_SECONDS, LUMP_SHARE_OF_TTFT * ttftSeconds);
  return spanSeconds < limitSeconds && spanSeconds < FASTEST_TOKEN_SECONDS * (tokens - 1);
}

function isBurst(spanSeconds: number, gapsSeconds: readonly Seconds[]): boolean {
  if (gapsSeconds.length < LEAST_TOKENS - 1) return false;
  const gluedSeconds = Math.min(GLUED_SECONDS, (GLUED_SHARE_OF_MEAN * spanSeconds) / gapsSeconds.length);
  let glued = 0;
  for (const gap of gapsSeconds) if (gap < gluedSeconds) glued += 1;
  return glued >= GLUED_SHARE_OF_GAPS * gapsSeconds.length;
}

import type { MonotonicInstant, Seconds } from '../units.ts';
import type { TimelineKind, TokenSource } from './outcome.ts';

/** What one arrival of bytes changed; the deadlines are steered by it. */
export interface ReadingProgress {
  /** Token chunks (first tokens included) completed by these bytes. Comments, pings, roles and usage are none. */
  readonly tokenChunks: number;
  /** A terminal marker is known now: a non-empty finish reason, `[DONE]`, `message_stop`... */
  readonly terminal: boolean;
  /** Nothing of interest can follow: the last marker of this API was read. */
  readonly complete: boolean;
  /** Stop reading: an error object arrived, or a limit was passed. */
  readonly failed: boolean;
}

/** An error that the stream itself carried. `status` is the code field inside the error, used like an HTTP status. */
export interface StreamErrorObject {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
  /** As sent; for classification only. Never logged, exported or shown. */
  readonly text: string;
}

/** What a stream without a token held instead. */
export type ForeignForm = 'complete_answer' | 'other_api';

/** An entry of the timeline, still on the monotonic clock. */
export interface StampedEntry {
  readonly at: MonotonicInstant;
  readonly kind: TimelineKind;
  readonly tokens: number;
}

/** Everything that the bytes of one answer said, and when. Instants are those handed to `push`. */
export interface ReadingResult {
  readonly firstEventAt: MonotonicInstant | null;
  readonly firstTokenAt: MonotonicInstant | null;
  readonly firstContentAt: MonotonicInstant | null;
  readonly lastTokenAt: MonotonicInstant | null;
  /** The first terminal marker. Nothing after it adds tokens or moves a time. */
  readonly terminalAt: MonotonicInstant | null;
  readonly gapsSeconds: readonly Seconds[];
  /** (last token - first token) / tokens after the first chunk; null when there are none or the count is unknown. */
  readonly tpotSeconds: Seconds | null;
  readonly outputTokens: number | null;
  readonly firstChunkTokens: number | null;
  readonly tokenSource: TokenSource | null;
  readonly promptTokens: number | null;
  readonly cachedPromptTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly events: number;
  readonly tokenChunks: number;
  readonly nonconformingEvents: number;
  readonly keepAlives: number;
  /** Chunks with an empty text before the end: tokens that make no text, or nothing. */
  readonly emptyChunks: number;
  readonly finishReason: string | null;
  readonly terminal: boolean;
  /** Text has followed a marker before, so the one that came last may be none either; the API's last marker did not come. */
  readonly endDoubtful: boolean;
  readonly error: StreamErrorObject | null;
  /**
   * A limit was passed, the body is no event stream (many lines without one field of it), or it was cut in the middle
   * of an event or a character.
   */
  readonly fault: 'event_too_large' | 'stream_too_large' | 'not_a_stream' | 'cut_event' | null;
  /** Something else than the stream that was asked for; says nothing where there are tokens. */
  readonly foreignForm: ForeignForm | null;
  readonly buffered: boolean;
  /** The generated text, bounded; for expectations and its hash only. */
  readonly text: string;
  /** Null for an empty text, and where no hash is wanted. */
  readonly textHash: string | null;
  readonly timeline: readonly StampedEntry[];
}

/**
 * Reads one streamed answer: bytes in, facts out. Pure: knows no socket and no clock; any split of the same bytes with
 * the same stamps gives the same result. Never throws, whatever the bytes; memory is bounded.
 */
export interface StreamReading {
  /** `at`: when the bytes reached the program, taken before this call. */
  push(at: MonotonicInstant, bytes: Uint8Array): ReadingProgress;
  /** The body ended in good order at `at`: releases an event that the parser was holding back. */
  end(at: MonotonicInstant): ReadingProgress;
  result(): ReadingResult;
}

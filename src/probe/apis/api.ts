import type { MonotonicInstant } from '../../units.ts';
import type { ApiName } from '../outcome.ts';
import type { StreamErrorObject, StreamReading } from '../reading.ts';

/** What a probe asks for, in terms that each API translates into its own. */
export interface Ask {
  readonly model: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Ask the engine to go on to `maxTokens` whatever the model says. */
  readonly ignoreEos: boolean;
  /** The engine's name where known, e.g. "vllm": decides on parameters that other engines may refuse. */
  readonly engine?: string | null;
  /** Parameters that this endpoint has refused before; the API leaves them out or sends their older or newer form. */
  readonly refused: ReadonlySet<string>;
  /** Merged last. */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

/** How much a reading takes in and keeps. */
export interface ReadingLimits {
  readonly eventBytes: number;
  readonly streamBytes: number;
  /** Entries of the timeline that are kept. */
  readonly timelineEntries: number;
  /** False: the text is not hashed. */
  readonly hashText?: boolean;
}

/** One streaming API: how to ask, how to read. Each lives in one file of this folder. */
export interface ApiDialect {
  readonly name: ApiName;
  /** Where to send the request, from the target's base URL (which may already end in the API's version path). */
  url(base: URL, model: string): URL;
  /** Headers that carry the key, in lower case; empty without a key. */
  authHeaders(key: string | null): Readonly<Record<string, string>>;
  /** Content types under which a stream is accepted, in lower case without parameters. */
  readonly streamTypes: readonly string[];
  body(ask: Ask): Readonly<Record<string, unknown>>;
  /** Parameters of `body` that may be left out or replaced after a refusal. */
  readonly optionalParameters: readonly string[];
  /** `requestAt`: the request was handed to the socket. Sharpens the rule for buffered streams; may be left out. */
  createReading(limits: ReadingLimits, requestAt?: MonotonicInstant): StreamReading;
  /** The error object of a non-streamed body in any of the shapes seen in the field; null when there is none. */
  readErrorBody(text: string): StreamErrorObject | null;
}

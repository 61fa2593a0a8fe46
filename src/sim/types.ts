import type { Seconds } from '../units.ts';

/** Why an answer ended. `abort` is the engine's own doing (it was put to sleep); a client that leaves gets no answer. */
export type SimFinishReason = 'stop' | 'length' | 'abort';

export interface SimRequest {
  readonly promptTokenIds: readonly number[];
  /** At least 1; together with the prompt at most the model's length. */
  readonly maxTokens: number;
  /** False: the answer also ends where the simulated model would end it. */
  readonly ignoreEos: boolean;
  /** The model may not end the answer before it has this many tokens. */
  readonly minTokens: number;
  /** Mixed into the answer: the same prompt and seed always give the same text and natural length. */
  readonly seed: number;
}

export interface SimToken {
  /** 0 for the first token of the answer. */
  readonly index: number;
  /** Empty for the end mark, which counts as a token. */
  readonly text: string;
  /** Set on the last token only. */
  readonly finishReason: SimFinishReason | null;
}

/** How one request went, in the engine's own view. Lengths of time are null where the request did not get that far. */
export interface SimResult {
  /** Null: the engine restarted under the request. */
  readonly finishReason: SimFinishReason | null;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly preemptions: number;
  /** Arrival -> first admission to a batch. */
  readonly queueSeconds: Seconds | null;
  /** First admission -> first token. */
  readonly prefillSeconds: Seconds | null;
  /** First token -> last token. */
  readonly decodeSeconds: Seconds | null;
  /** Arrival -> first token. */
  readonly ttftSeconds: Seconds | null;
  /** Arrival -> last token. */
  readonly e2eSeconds: Seconds | null;
}

export interface SimListener {
  /** Called when the step that made the token ends. */
  onToken(token: SimToken): void;
  /** Called once, after the last token, or when the engine drops the request; not after `abort`. */
  onEnd?(result: SimResult): void;
}

export interface SimHandle {
  /** The client is gone: blocks are freed at once, nothing more is called. Safe at any time. */
  abort(): void;
  /** Prompt tokens found in the prefix cache; null until the request was admitted. */
  cachedTokens(): number | null;
}

/** What the engine says of itself: refreshed at the end of each step, standing still while it hangs. */
export interface PublishedGauges {
  readonly running: number;
  readonly waiting: number;
  readonly kvUsageRatio: number;
}

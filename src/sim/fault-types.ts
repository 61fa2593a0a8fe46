import type { Seconds } from '../units.ts';

/** What can be made to go wrong. `clear` ends faults instead of starting one. */
export const SIM_FAULT_KINDS = [
  'error',
  'stall',
  'truncate',
  'buffer',
  'degenerate',
  'refuse',
  'restart',
  'hang',
  'sleep',
  'slow',
  'clear',
] as const;
export type SimFaultKind = (typeof SIM_FAULT_KINDS)[number];

interface Lasting {
  /** In force for this long; null: until cleared. */
  readonly forSeconds: Seconds | null;
}

/** Faults of single answers: each request takes the faults in force when it arrives, and keeps them. */
interface OfRequests extends Lasting {
  /** Requests it befalls before it ends by itself; null: all. */
  readonly requests: number | null;
}

/** HTTP 500 instead of an answer, or an error object and `[DONE]` inside a stream that began well. */
interface ErrorFault extends OfRequests {
  readonly kind: 'error';
  readonly where: 'http' | 'stream';
  /** Tokens before the error object. */
  readonly afterTokens: number;
}
/** No byte for a time while the engine works on; what was made meanwhile comes as one chunk. */
export interface StallFault extends OfRequests {
  readonly kind: 'stall';
  readonly afterTokens: number;
  /** Null: for ever. */
  readonly stallSeconds: Seconds | null;
}
/** The body ends without finish reason or `[DONE]`: by its own end, or by a reset of the connection. */
interface TruncateFault extends OfRequests {
  readonly kind: 'truncate';
  readonly afterTokens: number;
  readonly how: 'end' | 'reset';
}
/** As a proxy that buffers: headers and all events are held back and leave in one lump at the end. */
interface BufferFault extends OfRequests {
  readonly kind: 'buffer';
}
/** The model says the same token again and again. */
interface DegenerateFault extends OfRequests {
  readonly kind: 'degenerate';
  readonly text: string;
}
/** An answer of 503 or 429 before the engine is asked. */
export interface RefuseFault extends OfRequests {
  readonly kind: 'refuse';
  readonly status: 429 | 503;
  /** Null: no Retry-After header. */
  readonly retryAfterSeconds: number | null;
}
/** The process goes and comes back: connections are dropped, the port is closed meanwhile, counters start at 0. */
interface RestartFault {
  readonly kind: 'restart';
  readonly downSeconds: Seconds;
}
/** The engine stands still. HTTP goes on: health and metrics answer with the last numbers, streams get headers only. */
interface HangFault extends Lasting {
  readonly kind: 'hang';
}
/** The engine was put to sleep: running requests end with `abort`, new ones wait, the metrics say so. */
interface SleepFault extends Lasting {
  readonly kind: 'sleep';
}
/** Steps take `factor` times as long. */
interface SlowFault extends Lasting {
  readonly kind: 'slow';
  readonly factor: number;
}
/** Ends the faults of one kind, or all. */
interface ClearFault {
  readonly kind: 'clear';
  readonly fault: Exclude<SimFaultKind, 'clear' | 'restart'> | null;
}

export type RequestFault = ErrorFault | StallFault | TruncateFault | BufferFault | DegenerateFault | RefuseFault;
export type EngineFault = HangFault | SleepFault | SlowFault;
export type SimFault = RequestFault | EngineFault | RestartFault | ClearFault;

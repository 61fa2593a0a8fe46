import type { Clock } from '../clock.ts';
import type { Environment } from '../config/expand.ts';

/** Everything that a command has of the process it runs in. */
export interface CliContext {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Whole lines for standard output and standard error. */
  out(text: string): void;
  err(text: string): void;
  readonly terminal: {
    /** Standard output is a terminal and NO_COLOR is not set. */
    readonly colour: boolean;
    /** Width of the terminal; 80 where there is none. */
    readonly columns: number;
  };
  /** Rewrites one line on standard error; null clears it. Missing where that is no terminal. */
  readonly status?: (line: string | null) => void;
  /** Asks whoever sits there; false for anything but yes. Missing where nobody does. */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** SIGTERM or SIGINT came: finish in good order. */
  readonly stop: AbortSignal;
  /** Calls back for each SIGHUP, until the returned function is called. */
  onHangup(callback: () => void): () => void;
}

/** 0: done. 1: a probe failed, a configuration cannot be used, a port cannot be had. 2: a wrong command line. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

import type { CliContext } from '../../src/cli/context.ts';
import { systemClock } from '../../src/clock.ts';

/** The process of a command, in memory. */
export interface FakeContext extends CliContext {
  output(): string;
  errors(): string;
  /** What SIGTERM does. */
  end(): void;
  hangUp(): void;
}

export function fakeContext(environment: Readonly<Record<string, string>> = {}): FakeContext {
  const stop = new AbortController();
  const out: string[] = [];
  const err: string[] = [];
  const hangups = new Set<() => void>();
  return {
    environment,
    clock: systemClock(),
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    terminal: { colour: false, columns: 80 },
    stop: stop.signal,
    onHangup: (callback) => {
      hangups.add(callback);
      return () => hangups.delete(callback);
    },
    output: () => out.join('\n'),
    errors: () => err.join('\n'),
    end: () => stop.abort(),
    hangUp: () => {
      for (const callback of hangups) callback();
    },
  };
}

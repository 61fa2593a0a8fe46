import { createSimulatedEngine, type SimulatedEngine } from '../../../src/sim/engine.ts';
import { DEFAULT_ENGINE, type SimEngineOptions } from '../../../src/sim/options.ts';
import type { SimHandle, SimRequest, SimResult } from '../../../src/sim/types.ts';
import { type FastClock, fastClock } from './fast-clock.ts';

/** `count` token ids that no other `salt` has. */
export const prompt = (count: number, salt = 1): readonly number[] =>
  Array.from({ length: count }, (_, position) => 1000 + salt * 100_000 + position);

export const request = (
  promptTokenIds: readonly number[],
  maxTokens: number,
  more: Partial<SimRequest> = {},
): SimRequest => ({
  promptTokenIds,
  maxTokens,
  ignoreEos: true,
  minTokens: 0,
  seed: 0,
  ...more,
});

/** What one submitted request has got so far. */
export interface Tracked {
  readonly handle: SimHandle;
  /** Instants of its tokens, in seconds of the clock. */
  readonly at: number[];
  readonly texts: string[];
  result: SimResult | null;
}

export interface Bench {
  readonly clock: FastClock;
  readonly engine: SimulatedEngine;
  submit(wanted: SimRequest): Tracked;
}

/** An engine under a clock that tests drive. */
export function bench(options: Partial<SimEngineOptions> = {}): Bench {
  const clock = fastClock();
  const engine = createSimulatedEngine({ ...DEFAULT_ENGINE, ...options }, { clock });
  return {
    clock,
    engine,
    submit(wanted) {
      const at: number[] = [];
      const texts: string[] = [];
      let result: SimResult | null = null;
      const handle = engine.submit(wanted, {
        onToken: (token) => {
          at.push(clock.monotonic());
          texts.push(token.text);
        },
        onEnd: (ended) => {
          result = ended;
        },
      });
      return {
        handle,
        at,
        texts,
        get result() {
          return result;
        },
      };
    },
  };
}

/** The longest time between two tokens. */
export const longestGap = (at: readonly number[]): number =>
  at.slice(1).reduce((longest, instant, index) => Math.max(longest, instant - (at[index] ?? instant)), 0);

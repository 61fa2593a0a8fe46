import type { Clock } from '../clock.ts';
import { type UnixTime, unixTime } from '../units.ts';
import { createEngineCore } from './core.ts';
import { checkEngineOptions, type SimEngineOptions } from './options.ts';
import type { Statistics } from './statistics.ts';
import { createStepLoop } from './step-loop.ts';
import type { PublishedGauges, SimHandle, SimListener, SimRequest } from './types.ts';

export interface SimEngineState {
  readonly running: number;
  /** Queued, and those that arrived during the step in flight. */
  readonly waiting: number;
  /** 1 - free / (blocks - 1), right now. */
  readonly kvUsageRatio: number;
  /** What the metrics page says: the same three as of the end of the last step. */
  readonly published: PublishedGauges;
  readonly steps: number;
  readonly frozen: boolean;
  readonly asleep: boolean;
  readonly slowFactor: number;
  readonly startedAt: UnixTime;
}

/**
 * A simulated inference engine: the scheduler, its cache and its clock, without HTTP. Deterministic: the same options,
 * submissions and clock give the same tokens at the same instants.
 *
 * Not modelled: more than one GPU or data-parallel rank, speculative decoding, asynchronous scheduling, priorities,
 * LoRA, multi-modal input, several answers a request, sampling (the text is made of invented words), log probabilities,
 * the time that tokenising and the HTTP front end take, swapping to the CPU, sliding windows, the memory of activations.
 */
export interface SimulatedEngine {
  readonly options: SimEngineOptions;
  /** Throws INVARIANT when the prompt is empty or prompt and answer cannot fit the model's length. */
  submit(request: SimRequest, listener: SimListener): SimHandle;
  state(): SimEngineState;
  /** Counters and histograms since the start or the last `reset`; a live view. */
  statistics(): Statistics;
  /** Multiplies the length of the steps from the next one on. */
  setSlowFactor(factor: number): void;
  /** Stops in the middle of the step in flight, as a stopped engine process does; `thaw` goes on from there. */
  freeze(): void;
  thaw(): void;
  /** Ends every request with reason `abort` and takes up no other before `wake`. */
  sleep(): void;
  wake(): void;
  /** A new process: every request is lost, cache and counters are empty. Faults stay. */
  reset(): void;
  /** Throws INVARIANT when blocks leaked. For tests. */
  audit(): void;
  /** Drops everything, leaves no timer, and takes up nothing more. */
  close(): void;
}

/** Throws CONFIG_INVALID when the options cannot work together. */
export function createSimulatedEngine(options: SimEngineOptions, deps: { readonly clock: Clock }): SimulatedEngine {
  checkEngineOptions(options);
  const { clock } = deps;
  const core = createEngineCore(options);
  let startedAt = unixTime(clock.unix());
  let asleep = false;
  let closed = false;
  const loop = createStepLoop({ clock, plan: (at) => (asleep || closed ? null : core.plan(at)) });

  return {
    options,
    submit(request, listener) {
      const sequence = core.submit(request, listener, clock.monotonic());
      loop.kick();
      return { abort: () => core.abort(sequence, !loop.frozen()), cachedTokens: () => sequence.cachedTokens };
    },
    state: () => ({
      ...core.gauges(),
      published: core.published(),
      steps: loop.steps(),
      frozen: loop.frozen(),
      asleep,
      slowFactor: loop.slowFactor(),
      startedAt,
    }),
    statistics: core.statistics,
    setSlowFactor: loop.setSlowFactor,
    freeze: loop.freeze,
    thaw: loop.thaw,
    sleep() {
      asleep = true;
      loop.drop();
      core.dropAll('abort');
    },
    wake() {
      asleep = false;
      loop.kick();
    },
    reset() {
      startedAt = unixTime(clock.unix());
      loop.drop();
      core.dropAll(null);
    },
    audit: core.audit,
    close() {
      closed = true;
      loop.drop();
      core.dropAll(null);
    },
  };
}

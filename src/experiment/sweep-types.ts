import type { LoadPlan } from './types.ts';

export interface PromptSize {
  /** `short`, `long`. */
  readonly name: string;
  readonly promptTokens: number;
}

/** Axis A: requests in flight on a fixed engine. */
export interface ConcurrencyAxis {
  readonly kind: 'concurrency';
  /** Null: doubling from `from` until overload, at most up to `to`. */
  readonly levels: readonly number[] | null;
  readonly from: number;
  readonly to: number;
}

/** Axis B: a start parameter of the engine, under fixed load. */
export interface ParameterAxis {
  readonly kind: 'parameter';
  /** Shell line with `{value}` in it. */
  readonly command: string;
  readonly values: readonly number[];
  readonly readySeconds: number;
  readonly stopSeconds: number;
}

/** What a sweep was asked to do: `experiment.json` of its folder. */
export interface SweepPlan {
  readonly format: 1;
  readonly kind: 'sweep';
  readonly axis: ConcurrencyAxis | ParameterAxis;
  readonly prompts: readonly PromptSize[];
  readonly repeats: number;
  readonly cooldownSeconds: number;
  readonly seed: string;
  readonly url: string;
  /** Common to all runs; the level, and for axis A the prompt, are put in for each. */
  readonly load: {
    readonly concurrency: number;
    readonly windowSeconds: number;
    readonly trimSeconds: number;
    readonly warmupMaxSeconds: number;
    readonly maxOutputTokens: number;
    readonly prefix: LoadPlan['prefix'];
    readonly respectEos: boolean;
    readonly slo: LoadPlan['slo'];
  };
}

import type { LoadPlan } from './types.ts';

/** What may differ between the sides once somebody has said so: `allow` of the experiment file. */
export const ALIGNMENTS = ['model', 'sequence_limit', 'parallelism', 'prompt_tokens', 'output_length'] as const;
export type Alignment = (typeof ALIGNMENTS)[number];

export interface SwitchArguments {
  /** Added to the start command. */
  readonly on: string;
  readonly off: string;
}

export interface CompareEngine {
  readonly name: string;
  readonly url: string;
  /** Null: found by asking. */
  readonly model: string | null;
  readonly api: string | null;
  readonly engine: string | null;
  readonly metricsUrl: string | null;
  readonly apiKeyFile: string | null;
  /** Null: it runs already, and is neither started nor stopped. */
  readonly start: string | null;
  readonly readySeconds: number;
  readonly stopSeconds: number;
  readonly switches: Readonly<Record<string, SwitchArguments>>;
}

/** What a comparison was asked to do: `experiment.json` of its folder. */
export interface ComparePlan {
  readonly format: 1;
  readonly kind: 'compare';
  readonly name: string;
  readonly seed: string;
  readonly repeats: number;
  readonly cooldownSeconds: number;
  readonly levels: readonly number[];
  /** Every combination of them is measured. */
  readonly switches: readonly string[];
  readonly engines: readonly CompareEngine[];
  readonly allow: readonly Alignment[];
  readonly load: {
    readonly windowSeconds: number;
    readonly trimSeconds: number;
    readonly warmupMaxSeconds: number;
    readonly promptTokens: number;
    readonly maxOutputTokens: number;
    readonly prefix: LoadPlan['prefix'];
    readonly respectEos: boolean;
    readonly slo: LoadPlan['slo'];
  };
}

export type SwitchStates = Readonly<Record<string, boolean>>;

/** An engine as it is started for some cells. */
export interface Setup {
  readonly engine: CompareEngine;
  readonly states: SwitchStates;
}

import { type Seconds, seconds } from '../units.ts';

/** What a step costs. Each term is a length of time; a step takes their sum over its work. */
export interface CostModel {
  /** Every step: reading the weights, launching the kernels. */
  readonly stepSeconds: Seconds;
  /** Each prompt token computed (a prefix-cache hit computes none). */
  readonly prefillTokenSeconds: Seconds;
  /** Each sequence that decodes one token. */
  readonly decodeSequenceSeconds: Seconds;
  /** Each token of context whose keys and values a scheduled sequence reads. */
  readonly kvTokenSeconds: Seconds;
}

export interface StepWork {
  readonly prefillTokens: number;
  readonly decodeSequences: number;
  readonly kvTokensRead: number;
}

/**
 * A small GPU with a model of some 8 billion parameters. One request alone: 16.3 ms a token, and a first token after
 * 83 ms for 512 prompt tokens. With 48 running at 500 tokens each a token takes 29 ms, and more while prompts come in.
 */
export const DEFAULT_COST: CostModel = {
  stepSeconds: seconds(0.016),
  prefillTokenSeconds: seconds(0.000_13),
  decodeSequenceSeconds: seconds(0.000_2),
  kvTokenSeconds: seconds(0.000_000_15),
};

/** How long the engine works at a step, from its start to its tokens. */
export function stepSeconds(cost: CostModel, work: StepWork): Seconds {
  return seconds(
    cost.stepSeconds +
      work.prefillTokens * cost.prefillTokenSeconds +
      work.decodeSequences * cost.decodeSequenceSeconds +
      work.kvTokensRead * cost.kvTokenSeconds,
  );
}

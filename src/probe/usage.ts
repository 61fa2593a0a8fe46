import { count, isObject, type JsonObject } from './json-value.ts';

/** What a server says of its own token counts; null where it says nothing. */
export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cachedPromptTokens: number | null;
  readonly reasoningTokens: number | null;
}

const detail = (details: unknown, name: string): number | null => (isObject(details) ? count(details[name]) : null);

/**
 * Cached prompt tokens under every name in use: OpenAI chat and responses, a flat field (SGLang's meta_info),
 * Anthropic's and DeepSeek's.
 */
function cachedTokens(usage: JsonObject): number | null {
  return (
    detail(usage.prompt_tokens_details, 'cached_tokens') ??
    detail(usage.input_tokens_details, 'cached_tokens') ??
    count(usage.cached_tokens) ??
    count(usage.cache_read_input_tokens) ??
    count(usage.prompt_cache_hit_tokens)
  );
}

/**
 * Anthropic's `input_tokens` leaves out what was read from or written to the cache; the prompt is the sum of the
 * three. The other APIs' `input_tokens` is the whole prompt and comes without the two cache fields.
 */
function inputTokens(usage: JsonObject): number | null {
  const input = count(usage.input_tokens);
  if (input === null) return null;
  return input + (count(usage.cache_read_input_tokens) ?? 0) + (count(usage.cache_creation_input_tokens) ?? 0);
}

const readReasoning = (usage: JsonObject): number | null =>
  detail(usage.completion_tokens_details, 'reasoning_tokens') ??
  detail(usage.output_tokens_details, 'reasoning_tokens') ??
  count(usage.reasoning_tokens);

/** Reasoning is part of the output, except for xAI, whose total shows that it counts reasoning apart from the answer. */
function outputTokens(usage: JsonObject, prompt: number | null, reasoning: number | null): number | null {
  const output = count(usage.completion_tokens) ?? count(usage.output_tokens);
  const total = count(usage.total_tokens);
  const apart = output !== null && total !== null && reasoning !== null && total === (prompt ?? 0) + output + reasoning;
  return apart ? output + reasoning : output;
}

/** Reads a usage object of any of the APIs. Null when it is none, or all zero: some servers send that for "unknown". */
export function readUsage(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const promptTokens = count(value.prompt_tokens) ?? inputTokens(value);
  const reasoningTokens = readReasoning(value);
  const completionTokens = outputTokens(value, promptTokens, reasoningTokens);
  if (!promptTokens && !completionTokens) return null;
  return {
    promptTokens: promptTokens || null,
    completionTokens,
    cachedPromptTokens: cachedTokens(value),
    reasoningTokens,
  };
}

/** The counts of one stream, from however many usage objects it sends. */
export interface UsageTotals {
  add(usage: Usage): void;
  totals(): Usage;
}

const higher = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);

/** Usage objects are running totals: the highest value stands, nothing is ever added up. */
class Totals implements UsageTotals {
  private sum: Usage | null = null;

  add(usage: Usage): void {
    const { sum } = this;
    this.sum =
      sum === null
        ? usage
        : {
            promptTokens: higher(sum.promptTokens, usage.promptTokens),
            completionTokens: higher(sum.completionTokens, usage.completionTokens),
            cachedPromptTokens: higher(sum.cachedPromptTokens, usage.cachedPromptTokens),
            reasoningTokens: higher(sum.reasoningTokens, usage.reasoningTokens),
          };
  }

  totals(): Usage {
    return this.sum ?? NO_USAGE;
  }
}

const NO_USAGE: Usage = {
  promptTokens: null,
  completionTokens: null,
  cachedPromptTokens: null,
  reasoningTokens: null,
};

export const createUsageTotals = (): UsageTotals => new Totals();

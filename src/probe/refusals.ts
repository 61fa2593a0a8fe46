import type { StreamErrorObject } from './reading.ts';

/** Request parameters that this endpoint has refused. Kept for the life of the prober, so each is refused once. */
export interface Refusals {
  refused(): ReadonlySet<string>;
  /**
   * Looks for the refusal of an optional parameter in an answer. Returns its name when it is a new one: the next probe
   * leaves it out. A value that is out of range is no refusal: without `max_tokens` a probe would run on for ever.
   */
  learn(status: number, error: StreamErrorObject | null): string | null;
}

const REFUSAL_STATUS: ReadonlySet<number> = new Set([400, 422]);

// How the engines and gateways say it: vLLM, OpenAI and Azure (unsupported_parameter, unknown_parameter), pydantic
// with extra="forbid" (TensorRT-LLM, Mistral: extra_forbidden), serde (Dynamo: unsupported parameter, unknown field),
// Anthropic (deprecated for this model), Moonshot (only 1 is allowed for this model).
const REFUSAL_WORDS =
  /unsupported|unknown|unrecogni[sz]ed|unexpected|extra[ _](?:forbidden|inputs?|fields?|parameters?)|extraneous|additional propert|does(?: not|n't) support|not (?:supported|permitted|allowed|recogni[sz]ed|implemented|available|compatible|a valid (?:field|parameter))|incompatible|deprecated|no longer|removed|omitted|only (?:\S+ )?(?:is|are) (?:allowed|supported)|instead/i;

/** A limit that is out of range is no unknown one. */
const TOKEN_LIMIT = /^max_(?:completion_)?tokens$/;
const RANGE_WORDS =
  /greater than|less than|at least|at most|minimum|maximum|above|below|exceed|too (?:large|small|many)/i;

/** A parameter that holds another, which goes first: older vLLM knows `stream_options` without its newer half. */
const PARTS_OF: ReadonlyMap<string, string> = new Map([['stream_options', 'continuous_usage_stats']]);

// pydantic writes "body.max_tokens", "('body', 'max_tokens')" or ["body","max_tokens"].
const lastName = (param: string): string => param.split(/[^A-Za-z0-9_]+/).findLast((part) => part !== '') ?? '';

function position(text: string, parameter: string): number {
  const word = parameter.replace(/[^A-Za-z0-9_]/g, '\\$&');
  return text.search(new RegExp(`(?<![A-Za-z0-9_])${word}(?![A-Za-z0-9_])`));
}

/**
 * The one of `parameters` that the error is about: by its param field, else the first that its text names ("max_tokens
 * is not supported, use max_completion_tokens"); null when it names none.
 */
export function namedParameter(error: StreamErrorObject, parameters: readonly string[]): string | null {
  const { param, text } = error;
  if (param !== null) {
    const exact = parameters.find((parameter) => parameter === param || parameter === lastName(param));
    if (exact !== undefined) return exact;
  }
  const named = parameters
    .map((parameter) => ({ parameter, at: position(text, parameter) }))
    .filter(({ at }) => at >= 0);
  const first = named.sort((a, b) => a.at - b.at)[0]?.parameter ?? null;
  const part = first === null ? undefined : PARTS_OF.get(first);
  return named.find(({ parameter }) => parameter === part)?.parameter ?? first;
}

/**
 * @param optional parameters that a request can do without, or that exist in an older or newer form
 * @param known those of them that are known to be refused
 */
export function createRefusals(optional: readonly string[], known: readonly string[] = []): Refusals {
  const refused = new Set<string>(known);
  return {
    refused: () => new Set(refused),
    learn(status, error) {
      if (error === null || !REFUSAL_STATUS.has(status)) return null;
      if (!REFUSAL_WORDS.test(`${error.type} ${error.code} ${error.text}`)) return null;
      // One that is left out already cannot be what is refused now: the text may name it as the old form of another.
      const parameter = namedParameter(
        error,
        optional.filter((name) => !refused.has(name)),
      );
      if (parameter !== null && TOKEN_LIMIT.test(parameter) && RANGE_WORDS.test(error.text)) return null;
      if (parameter !== null) refused.add(parameter);
      return parameter;
    },
  };
}

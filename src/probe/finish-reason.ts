import { isObject } from './json-value.ts';

/**
 * Why generation ended, in the words of the OpenAI API; every other API's word is mapped to one of them, so that the
 * classification and the label values do not depend on the API. `other`: a word that is not in the table.
 */
export const FINISH_REASONS = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'repetition',
  'abort',
  'error',
  'other',
] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

const SYNONYMS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end', 'stop'],
  ['complete', 'stop'],
  ['done', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['word', 'stop'],
  ['completed', 'stop'],
  ['length', 'length'],
  ['limit', 'length'],
  ['max_length', 'length'],
  ['model_length', 'length'],
  ['token_limit', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  // Cohere: the limit of the context, not a fault.
  ['error_limit', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['recitation', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['spii', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['repetition', 'repetition'],
  ['abort', 'abort'],
  ['aborted', 'abort'],
  ['cancelled', 'abort'],
  ['canceled', 'abort'],
  // DeepSeek: the request was interrupted for want of resources.
  ['insufficient_system_resource', 'abort'],
  ['error', 'error'],
  ['failed', 'error'],
  ['network_error', 'error'],
  ['internal_error', 'error'],
  ['server_error', 'error'],
  ['timeout', 'error'],
]);

/**
 * Words that are not in the table but made of known parts ("inference_error", "IMAGE_SAFETY"): an end that is a failure
 * must not pass for a good one because a server has its own word for it. The first match counts.
 */
const PARTS: readonly (readonly [RegExp, FinishReason])[] = [
  [/toxic|safety|filter|block|moderat|guardrail|policy|sensitive/, 'content_filter'],
  [/abort|cancel|interrupt|disconnect|preempt|evict|kill|shutdown|terminated|reject/, 'abort'],
  [/error|fail|exception|crash|overload|time_?out|deadline|rate_?limit|out_?of_?memory|(?:^|_)oom/, 'error'],
  [/length|limit|max|context/, 'length'],
  [/tool|function/, 'tool_calls'],
  [/stop|eos|eot|end_?of/, 'stop'],
];
const LONGEST_WORD = 100;

const byParts = (word: string): FinishReason =>
  word.length > LONGEST_WORD || /^no_?error$/.test(word)
    ? 'other'
    : (PARTS.find(([part]) => part.test(word))?.[1] ?? 'other');

/** How servers write that generation goes on, besides leaving the reason out: the nulls of other languages as text. */
const NOT_YET: ReadonlySet<string> = new Set([
  '',
  'null',
  'none',
  'nil',
  'undefined',
  'not_finished',
  'unfinished',
  'in_progress',
  'running',
  'generating',
  'continue',
  'finish_reason_unspecified',
]);

/** Reads a finish reason: a word, or SGLang's object with a `type`. Null when there is none yet (null, absent, "", "null"). */
export function readFinishReason(value: unknown): FinishReason | null {
  if (value === null || value === undefined || value === false) return null;
  const word = isObject(value) ? value.type : value;
  if (typeof word !== 'string') return isObject(value) && value.error !== undefined ? 'error' : 'other';
  const lower = word.toLowerCase();
  return NOT_YET.has(lower) ? null : (SYNONYMS.get(lower) ?? byParts(lower));
}

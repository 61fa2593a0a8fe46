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
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['word', 'stop'],
  ['completed', 'stop'],
  ['length', 'length'],
  ['limit', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['recitation', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
  ['repetition', 'repetition'],
  ['abort', 'abort'],
  ['aborted', 'abort'],
  ['cancelled', 'abort'],
  ['error', 'error'],
  ['failed', 'error'],
]);

/** Reads a finish reason: a word, or SGLang's object with a `type`. Null when there is none yet (null, absent, ""). */
export function readFinishReason(value: unknown): FinishReason | null {
  if (value === null || value === undefined || value === '' || value === false) return null;
  const word = isObject(value) ? value.type : value;
  if (typeof word !== 'string') return 'other';
  return SYNONYMS.get(word) ?? SYNONYMS.get(word.toLowerCase()) ?? 'other';
}

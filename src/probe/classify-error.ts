import type { StreamErrorObject } from './reading.ts';

const CONTEXT =
  /context.{0,12}(?:length|size|window)|exceed_context_size|max_model_len|(?:prompt|input).{0,20}too long|longer than the model|max_new_tokens.{0,3} must be/i;
const OUTPUT_USED_UP = /max_(?:completion_|output_)?tokens.{0,60}reached|could not finish the message/i;

/** What a refused request was refused for, as far as its words tell; for the message and the detail. */
export function refusedFor(error: StreamErrorObject | null): 'prompt_too_long' | 'max_tokens_too_small' | null {
  const words = `${error?.type ?? ''} ${error?.code ?? ''} ${error?.text ?? ''}`;
  if (OUTPUT_USED_UP.test(words)) return 'max_tokens_too_small';
  return CONTEXT.test(words) ? 'prompt_too_long' : null;
}

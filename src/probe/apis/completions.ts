import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { isObject, type JsonObject, nonEmptyString } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { bearer, OPENAI_OPTIONAL_PARAMETERS, openAiBody, openAiReading, SSE_TYPES } from './openai.ts';
import { versionedUrl } from './urls.ts';

/** There is no role frame here: a chunk with an empty text may be a token whose bytes make no character yet. */
function readText(meaning: EventMeaning, choice: JsonObject): void {
  if (typeof choice.text === 'string') meaning.content(choice.text);
  else if (isObject(choice.delta) && nonEmptyString(choice.delta.content) !== null) meaning.foreignForm('other_api');
  else if (isObject(choice.message)) meaning.foreignForm('complete_answer');
}

/** OpenAI's older `/v1/completions`: the prompt as it is, without a chat template. */
export const completions: ApiDialect = {
  name: 'completions',
  url: (base) => versionedUrl(base, '/completions'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: (ask) => openAiBody(ask, { prompt: ask.prompt }),
  optionalParameters: OPENAI_OPTIONAL_PARAMETERS,
  createReading: openAiReading(readText),
  readErrorBody,
};

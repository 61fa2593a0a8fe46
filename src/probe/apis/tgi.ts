import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { count, isObject, type JsonObject } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { sseReading } from './event-reading.ts';
import { bearer, SSE_TYPES } from './openai.ts';
import { nativeUrl } from './urls.ts';

/** One token an event; a special one (end of sequence) is counted, but its text is not part of the answer. */
function readToken(meaning: EventMeaning, event: JsonObject, token: JsonObject): void {
  meaning.content(token.special !== true && typeof token.text === 'string' ? token.text : '');
  const index = count(event.index);
  if (index !== null) meaning.counted(index);
}

/** The last event repeats the whole text and has the details. */
function readEnd(meaning: EventMeaning, details: JsonObject): void {
  meaning.usage({
    promptTokens: count(details.input_length),
    completionTokens: count(details.generated_tokens),
    cachedPromptTokens: null,
    reasoningTokens: null,
  });
  meaning.finish(readFinishReason(details.finish_reason) ?? 'other');
}

function readEvent(meaning: EventMeaning, event: JsonObject): void {
  if (!isObject(event.token)) {
    meaning.nonconforming(false);
    return;
  }
  readToken(meaning, event, event.token);
  if (isObject(event.details)) readEnd(meaning, event.details);
  if (typeof event.generated_text === 'string') meaning.done();
}

/** TGI refuses a temperature of 0; it means greedy decoding, which is what it does without one. */
const sampling = (temperature: number, refused: ReadonlySet<string>): Readonly<Record<string, unknown>> =>
  temperature > 0 ? unlessRefused(refused, 'temperature', temperature) : { do_sample: false };

/** TGI's own `/generate_stream`. Knows no `ignore_eos`. */
export const tgi: ApiDialect = {
  name: 'tgi',
  url: (base) => nativeUrl(base, '/generate_stream'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: ({ prompt, maxTokens, temperature, refused, extraBody }) =>
    mergeBody(
      { inputs: prompt, parameters: { max_new_tokens: maxTokens, ...sampling(temperature, refused) } },
      extraBody,
    ),
  optionalParameters: ['temperature'],
  createReading: sseReading(() => readEvent),
  readErrorBody,
};

import { findError, readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { isObject, type JsonObject } from '../json-value.ts';
import { readUsage } from '../usage.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { type ReadObject, sseReading } from './event-reading.ts';
import { bearer, SSE_TYPES } from './openai.ts';
import { nativeUrl } from './urls.ts';

/** A request that the engine gave up on ends in a finish reason which carries an HTTP status. */
function readEnd(meaning: EventMeaning, reason: unknown): void {
  if (isObject(reason) && reason.type === 'abort' && typeof reason.status_code === 'number') {
    meaning.error(findError({ error: reason }) ?? { status: null, type: 'abort', code: null, param: null, text: '' });
    return;
  }
  const finish = readFinishReason(reason);
  if (finish !== null) meaning.finish(finish);
}

/**
 * What the text has gained. Each event repeats all of it, unless the server was started to send increments, which
 * shows in the first text that does not begin with the one before.
 */
function createTextIncrement(): (text: string, last: boolean) => string {
  let before = '';
  let increments = false;
  return (text, last) => {
    // A character that is still incomplete at the end will be another one in the next event.
    const stable = text.endsWith('\ufffd') && !last ? text.slice(0, -1) : text;
    increments ||= !stable.startsWith(before);
    if (increments) return text;
    const gained = stable.slice(before.length);
    before = stable;
    return gained;
  };
}

function createReader(): ReadObject {
  const increment = createTextIncrement();

  function readOutput(meaning: EventMeaning, output: JsonObject, meta: JsonObject): void {
    const usage = readUsage(meta);
    if (usage !== null) meaning.usage(usage);
    const last = readFinishReason(meta.finish_reason) !== null;
    if (typeof output.text === 'string') meaning.content(increment(output.text, last));
    readEnd(meaning, meta.finish_reason);
  }

  return (meaning, output) => {
    if (typeof output.index === 'number' && output.index !== 0) meaning.foreignChoice();
    else if (isObject(output.meta_info)) readOutput(meaning, output, output.meta_info);
    else meaning.nonconforming(false);
  };
}

/** SGLang's own `/generate`: no chat template, and a running total of tokens in every event. */
export const sglang: ApiDialect = {
  name: 'sglang',
  url: (base) => nativeUrl(base, '/generate'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: ({ prompt, maxTokens, temperature, ignoreEos, refused, extraBody }) =>
    mergeBody(
      {
        text: prompt,
        sampling_params: {
          max_new_tokens: maxTokens,
          ...unlessRefused(refused, 'temperature', temperature),
          ...(ignoreEos ? unlessRefused(refused, 'ignore_eos', true) : {}),
        },
        stream: true,
      },
      extraBody,
    ),
  optionalParameters: ['ignore_eos', 'temperature'],
  createReading: sseReading(createReader),
  readErrorBody,
};

import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { type FinishReason, readFinishReason } from '../finish-reason.ts';
import { count, isObject, type JsonObject } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { sseReading } from './event-reading.ts';
import { bearer, SSE_TYPES } from './openai.ts';
import { nativeUrl } from './urls.ts';

/**
 * Prompt tokens that came from the cache. `timings.cache_n` says it since late 2025; before, it is what the prompt
 * has more than was processed. `tokens_cached` comes last: in many builds it is the fill of the slot, prompt and
 * answer together, which is then more than the prompt.
 */
function cachedTokens(event: JsonObject, promptTokens: number | null): number | null {
  const timings = isObject(event.timings) ? event.timings : {};
  const stated = count(timings.cache_n);
  if (stated !== null || promptTokens === null) return stated;
  const processed = count(timings.prompt_n);
  if (processed !== null && processed <= promptTokens) return promptTokens - processed;
  const slot = count(event.tokens_cached);
  return slot !== null && slot <= promptTokens ? slot : null;
}

/** Newer builds name the reason, older ones have a flag for each. */
function finishOf(event: JsonObject): FinishReason {
  const named = readFinishReason(event.stop_type);
  if (named !== null) return named;
  return event.stopped_limit === true ? 'length' : 'stop';
}

function readEnd(meaning: EventMeaning, event: JsonObject, outputTokens: number | null): void {
  const promptTokens = count(event.tokens_evaluated);
  meaning.usage({
    promptTokens,
    completionTokens: outputTokens,
    cachedPromptTokens: cachedTokens(event, promptTokens),
    reasoningTokens: null,
  });
  meaning.finish(finishOf(event));
  meaning.done();
}

function readEvent(meaning: EventMeaning, event: JsonObject): void {
  if (typeof event.index === 'number' && event.index !== 0) {
    meaning.foreignChoice();
    return;
  }
  if (typeof event.content !== 'string') {
    meaning.nonconforming(false);
    return;
  }
  const outputTokens = count(event.tokens_predicted);
  meaning.content(event.content);
  if (outputTokens !== null) meaning.counted(outputTokens);
  if (event.stop === true) readEnd(meaning, event, outputTokens);
}

/** llama.cpp's own `/completion`: running totals in every event, `stop: true` at the end, no `[DONE]`. */
export const llamacpp: ApiDialect = {
  name: 'llamacpp',
  url: (base) => nativeUrl(base, '/completion'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: ({ model, prompt, maxTokens, temperature, ignoreEos, refused, extraBody }) =>
    mergeBody(
      {
        model,
        prompt,
        n_predict: maxTokens,
        stream: true,
        ...unlessRefused(refused, 'temperature', temperature),
        ...(ignoreEos ? unlessRefused(refused, 'ignore_eos', true) : {}),
      },
      extraBody,
    ),
  optionalParameters: ['ignore_eos', 'temperature'],
  createReading: sseReading(() => readEvent),
  readErrorBody,
};

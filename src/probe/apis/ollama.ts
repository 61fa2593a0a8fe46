import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { count, isObject, type JsonObject } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { ndjsonReading } from './event-reading.ts';
import { bearer } from './openai.ts';
import { nativeUrl } from './urls.ts';

/** Thinking, answer and tool calls lie in one message; while it thinks, `content` is an empty string. */
function readMessage(meaning: EventMeaning, message: JsonObject, last: boolean): void {
  if (typeof message.thinking === 'string' && message.thinking !== '') meaning.reasoning(message.thinking);
  if (Array.isArray(message.tool_calls) && message.tool_calls.length > 0) meaning.toolCall();
  if (typeof message.content !== 'string') return;
  // The last line repeats the frame with nothing in it.
  if (message.content !== '' || !last) meaning.content(message.content);
}

function readEnd(meaning: EventMeaning, line: JsonObject): void {
  const promptTokens = count(line.prompt_eval_count) || null;
  const completionTokens = count(line.eval_count) || null;
  meaning.usage({ promptTokens, completionTokens, cachedPromptTokens: null, reasoningTokens: null });
  meaning.finish(readFinishReason(line.done_reason) ?? 'stop');
  meaning.done();
}

function readLine(meaning: EventMeaning, line: JsonObject): void {
  const last = line.done === true;
  if (isObject(line.message)) readMessage(meaning, line.message, last);
  else if (!last) meaning.nonconforming(false);
  if (last) readEnd(meaning, line);
}

/** Ollama's own `/api/chat`: one JSON object a line. */
export const ollama: ApiDialect = {
  name: 'ollama',
  url: (base) => nativeUrl(base, '/api/chat'),
  authHeaders: bearer,
  streamTypes: ['application/x-ndjson', 'application/ndjson', 'application/jsonl'],
  body: ({ model, prompt, maxTokens, temperature, refused, extraBody }) =>
    mergeBody(
      {
        model,
        messages: [{ role: 'user', content: prompt }],
        stream: true,
        options: { num_predict: maxTokens, ...unlessRefused(refused, 'temperature', temperature) },
      },
      extraBody,
    ),
  optionalParameters: ['temperature'],
  createReading: ndjsonReading(() => readLine),
  readErrorBody,
};

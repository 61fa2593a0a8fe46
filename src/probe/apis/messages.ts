import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { isObject, type JsonObject } from '../json-value.ts';
import { readUsage } from '../usage.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { eventType, sseReading } from './event-reading.ts';
import { SSE_TYPES } from './openai.ts';
import { versionedUrl } from './urls.ts';

/** Text, thinking or the arguments of a tool call. A signature is made by the server and is no token. */
function readDelta(meaning: EventMeaning, delta: unknown): void {
  if (!isObject(delta)) meaning.nonconforming(false);
  else if (typeof delta.text === 'string') meaning.content(delta.text);
  else if (typeof delta.thinking === 'string') meaning.reasoning(delta.thinking);
  else if (typeof delta.partial_json === 'string' && delta.partial_json !== '') meaning.toolCall();
}

function readBlockStart(meaning: EventMeaning, block: unknown): void {
  if (!isObject(block)) return;
  // Also server_tool_use and mcp_tool_use.
  if (typeof block.type === 'string' && block.type.endsWith('tool_use')) meaning.toolCall();
  else if (typeof block.text === 'string' && block.text !== '') meaning.content(block.text);
  else if (typeof block.thinking === 'string' && block.thinking !== '') meaning.reasoning(block.thinking);
}

function readMessageDelta(meaning: EventMeaning, event: JsonObject): void {
  const usage = readUsage(event.usage);
  if (usage !== null) meaning.usage(usage);
  const reason = isObject(event.delta) ? readFinishReason(event.delta.stop_reason) : null;
  if (reason !== null) meaning.finish(reason);
}

/** SGLang's first version of this API has no `message_delta`, and tells the usage here. */
function readMessageStop(meaning: EventMeaning, event: JsonObject): void {
  const usage = isObject(event.message) ? readUsage(event.message.usage) : null;
  if (usage !== null) meaning.usage(usage);
  meaning.done();
}

type ReadEvent = (meaning: EventMeaning, event: JsonObject) => void;

/** Its output count is a placeholder, written before anything was generated. */
function readMessageStart(meaning: EventMeaning, event: JsonObject): void {
  const usage = isObject(event.message) ? readUsage(event.message.usage) : null;
  if (usage !== null) meaning.usage({ ...usage, completionTokens: null });
}

const EVENTS: ReadonlyMap<string, ReadEvent> = new Map<string, ReadEvent>([
  ['message_start', readMessageStart],
  ['content_block_start', (meaning, event) => readBlockStart(meaning, event.content_block)],
  ['content_block_delta', (meaning, event) => readDelta(meaning, event.delta)],
  ['message_delta', readMessageDelta],
  ['message_stop', readMessageStop],
  ['ping', (meaning) => meaning.ping()],
  ['message', (meaning) => meaning.foreignForm('complete_answer')],
]);

/** An event of a new type is no fault: the API reserves the right to add them. Text of another API is one. */
function readEvent(meaning: EventMeaning, event: JsonObject, name: string | undefined): void {
  const type = eventType(event, name);
  if (type === undefined) meaning.nonconforming(false);
  else if (type === 'response.output_text.delta') meaning.foreignForm('other_api');
  else EVENTS.get(type)?.(meaning, event);
}

/**
 * The key goes out in both forms: the API's own header, and the one that vLLM checks on this path too. Either way it
 * reaches only the configured origin.
 */
function authHeaders(key: string | null): Readonly<Record<string, string>> {
  if (key === null) return {};
  return { 'x-api-key': key, authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' };
}

/** Anthropic's `/v1/messages`, which vLLM, SGLang, llama.cpp and Ollama serve too. */
export const messages: ApiDialect = {
  name: 'messages',
  url: (base) => versionedUrl(base, '/messages'),
  authHeaders,
  streamTypes: SSE_TYPES,
  body: ({ model, prompt, maxTokens, temperature, refused, extraBody }) =>
    mergeBody(
      {
        model,
        max_tokens: maxTokens,
        messages: [{ role: 'user', content: prompt }],
        stream: true,
        ...unlessRefused(refused, 'temperature', temperature),
      },
      extraBody,
    ),
  optionalParameters: ['temperature'],
  createReading: sseReading(() => readEvent),
  readErrorBody,
};

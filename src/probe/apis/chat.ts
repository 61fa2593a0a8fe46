import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { isObject, type JsonObject, nonEmptyString } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { bearer, OPENAI_OPTIONAL_PARAMETERS, openAiBody, openAiReading, SSE_TYPES } from './openai.ts';
import { versionedUrl } from './urls.ts';

/** A tool call counts once it has a name or arguments; an entry with an index only announces it. */
function hasToolCall(calls: unknown): boolean {
  if (!Array.isArray(calls)) return false;
  return calls.some((call) => isObject(call) && isObject(call.function) && isCallPart(call.function));
}

const isCallPart = (part: JsonObject): boolean =>
  (typeof part.name === 'string' && part.name !== '') || (typeof part.arguments === 'string' && part.arguments !== '');

/**
 * Newer vLLM calls it `reasoning`, SGLang, llama.cpp and older vLLM `reasoning_content`; vLLM 0.11 to 0.15 sends the
 * same text under both names. Some gateways keep Anthropic's name, `thinking`.
 */
function reasoningOf(delta: JsonObject): string {
  if (typeof delta.reasoning_content === 'string' && delta.reasoning_content !== '') return delta.reasoning_content;
  return nonEmptyString(delta.reasoning) ?? nonEmptyString(delta.thinking) ?? '';
}

/** Mistral sends the content of its reasoning models in parts. */
function readParts(meaning: EventMeaning, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part.text === 'string') meaning.content(part.text);
    else if (Array.isArray(part.thinking)) readThinking(meaning, part.thinking);
  }
}

function readThinking(meaning: EventMeaning, parts: readonly unknown[]): void {
  for (const part of parts) if (isObject(part) && typeof part.text === 'string') meaning.reasoning(part.text);
}

/** A choice without a delta: the whole message of a gateway that only pretends to stream, or another API's text. */
function readForeign(meaning: EventMeaning, { message, text }: JsonObject): void {
  if (isObject(message) && nonEmptyString(message.content) !== null) meaning.foreignForm('complete_answer');
  else if (nonEmptyString(text) !== null) meaning.foreignForm('other_api');
}

/** Reads the delta of a chat chunk. A frame that announces the role with an empty text is no token. */
export function readChatDelta(meaning: EventMeaning, choice: JsonObject): void {
  const delta = choice.delta;
  if (!isObject(delta)) {
    readForeign(meaning, choice);
    return;
  }
  const content = delta.content ?? delta.refusal;
  const reasoning = reasoningOf(delta);
  if (reasoning !== '') meaning.reasoning(reasoning);
  if (hasToolCall(delta.tool_calls) || (isObject(delta.function_call) && isCallPart(delta.function_call))) {
    meaning.toolCall();
  }
  if (Array.isArray(content)) readParts(meaning, content);
  if (typeof content !== 'string') return;
  const announcesRole = typeof delta.role === 'string' && choice.finish_reason == null;
  if (content !== '' || !announcesRole) meaning.content(content);
}

/** OpenAI's `/v1/chat/completions`. */
export const chat: ApiDialect = {
  name: 'chat',
  url: (base) => versionedUrl(base, '/chat/completions'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: (ask) => openAiBody(ask, { messages: [{ role: 'user', content: ask.prompt }] }),
  optionalParameters: OPENAI_OPTIONAL_PARAMETERS,
  createReading: openAiReading(readChatDelta),
  readErrorBody,
};

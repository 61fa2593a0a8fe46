import { readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { isObject, type JsonObject, nonEmptyString } from '../json-value.ts';
import type { ApiDialect } from './api.ts';
import { bearer, OPENAI_OPTIONAL_PARAMETERS, openAiBody, openAiReading, SSE_TYPES } from './openai.ts';
import { versionedUrl } from './urls.ts';

/** A tool call counts once it has a name or arguments; an entry with an index only announces it. */
function hasToolCall(calls: unknown): boolean {
  if (!Array.isArray(calls)) return false;
  return calls.some((call) => isObject(call) && (isCallPart(call.function) || isCallPart(call.custom)));
}

const isCallPart = (part: unknown): boolean =>
  isObject(part) && [part.name, part.arguments, part.input].some((text) => nonEmptyString(text) !== null);

/**
 * Newer vLLM calls it `reasoning`, SGLang, llama.cpp and older vLLM `reasoning_content`; vLLM 0.11 to 0.15 sends the
 * same text under both names. Some gateways keep Anthropic's name, `thinking`; OpenRouter and MiniMax may send their
 * `reasoning_details` alone.
 */
function reasoningOf(delta: JsonObject): string {
  if (typeof delta.reasoning_content === 'string' && delta.reasoning_content !== '') return delta.reasoning_content;
  return nonEmptyString(delta.reasoning) ?? nonEmptyString(delta.thinking) ?? reasoningDetails(delta.reasoning_details);
}

function reasoningDetails(details: unknown): string {
  if (!Array.isArray(details)) return '';
  return details.map((part) => (isObject(part) ? (nonEmptyString(part.text ?? part.summary) ?? '') : '')).join('');
}

/** Mistral sends the content of its reasoning models in parts. */
function readParts(meaning: EventMeaning, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (typeof part.text === 'string') meaning.content(part.text);
    else if (Array.isArray(part.thinking)) readThinking(meaning, part.thinking);
    else if (typeof part.thinking === 'string') meaning.reasoning(part.thinking);
  }
}

function readThinking(meaning: EventMeaning, parts: readonly unknown[]): void {
  for (const part of parts) if (isObject(part) && typeof part.text === 'string') meaning.reasoning(part.text);
}

/** A choice without a delta object: the whole message of a gateway that only pretends to stream, or another API's text. */
function readForeign(meaning: EventMeaning, { message, text, delta }: JsonObject): void {
  if (isObject(message) && nonEmptyString(message.content) !== null) meaning.foreignForm('complete_answer');
  else if (nonEmptyString(text) !== null || nonEmptyString(delta) !== null) meaning.foreignForm('other_api');
}

/** Reads the delta of a chat chunk. A frame that announces the role with an empty text is no token. */
export function readChatDelta(meaning: EventMeaning, choice: JsonObject): void {
  const delta = choice.delta;
  if (!isObject(delta)) {
    readForeign(meaning, choice);
    return;
  }
  // A refusal is what the reader sees, and stands beside a content that is null or empty.
  const content = nonEmptyString(delta.refusal) ?? delta.content;
  const reasoning = reasoningOf(delta);
  if (reasoning !== '') meaning.reasoning(reasoning);
  if (hasToolCall(delta.tool_calls) || isCallPart(delta.function_call)) {
    meaning.toolCall();
  }
  if (Array.isArray(content) || isObject(content)) readParts(meaning, [content].flat());
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

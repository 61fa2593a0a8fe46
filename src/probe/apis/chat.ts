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
  return nonEmptyString(delta.reasoning) ?? nonEmptyString(delta.thinking) ?? '';
}

/**
 * Gateways have names of their own for it: `reasoning_text` (Copilot), `thinking_blocks` (LiteLLM), `thought`... What
 * only proves, measures or announces it is none.
 */
const REASONING = /^(?:reasoning|thinking|thought)/;
const NO_REASONING =
  /signature|opaque|encrypted|redacted|token|effort|level|budget|format|status|state|mode|time|duration|_(?:id|type|index)$/;

function reasoningByName(delta: JsonObject): string {
  for (const name in delta) {
    const text = REASONING.test(name) && !NO_REASONING.test(name) ? reasoningText(delta[name]) : '';
    if (text !== '') return text;
  }
  return '';
}

/** No server nests its parts deeper: parts of a thinking part, and the text in them. */
const DEEPEST = 5;

/** A text, or parts of one. */
function reasoningText(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > DEEPEST) return '';
  if (Array.isArray(value)) return value.map((part) => reasoningText(part, depth + 1)).join('');
  if (!isObject(value)) return '';
  const text = value.text ?? value.thinking ?? value.reasoning ?? value.content ?? value.summary;
  return reasoningText(text, depth + 1);
}

/** Mistral and Databricks send the content of their reasoning models in parts. */
function readParts(meaning: EventMeaning, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isObject(part)) continue;
    const reasons = typeof part.type === 'string' && REASONING.test(part.type);
    if (typeof part.text === 'string' && !reasons) meaning.content(part.text);
    else meaning.reasoning(reasoningText(part));
  }
}

/** A choice without a delta to read: the whole message of a gateway that only pretends to stream, or another API's text. */
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
  // Most chunks have text, and need no search.
  const reasoning = reasoningOf(delta) || (nonEmptyString(content) === null ? reasoningByName(delta) : '');
  if (reasoning !== '') meaning.reasoning(reasoning);
  if (hasToolCall(delta.tool_calls) || isCallPart(delta.function_call)) {
    meaning.toolCall();
  }
  if (Array.isArray(content) || isObject(content)) readParts(meaning, [content].flat());
  else if (content === undefined && reasoning === '') readForeign(meaning, { text: choice.text ?? delta.text });
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

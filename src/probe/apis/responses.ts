import { findError, readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { isObject, type JsonObject, nonEmptyString } from '../json-value.ts';
import { readUsage } from '../usage.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { sseReading } from './event-reading.ts';
import { bearer, SSE_TYPES } from './openai.ts';
import { versionedUrl } from './urls.ts';

type ReadDelta = (meaning: EventMeaning, delta: string) => void;

const content: ReadDelta = (meaning, delta) => meaning.content(delta);
const reasoning: ReadDelta = (meaning, delta) => meaning.reasoning(delta);
const toolCall: ReadDelta = (meaning, delta) => {
  if (delta !== '') meaning.toolCall();
};

const DELTAS: ReadonlyMap<string, ReadDelta> = new Map([
  ['response.output_text.delta', content],
  ['response.refusal.delta', content],
  ['response.reasoning_text.delta', reasoning],
  ['response.reasoning_summary_text.delta', reasoning],
  ['response.reasoning.delta', reasoning],
  ['response.function_call_arguments.delta', toolCall],
  ['response.custom_tool_call_input.delta', toolCall],
  ['response.mcp_call_arguments.delta', toolCall],
]);

function readEnd(meaning: EventMeaning, type: string, response: JsonObject): void {
  const usage = readUsage(response.usage);
  if (usage !== null) meaning.usage(usage);
  const details = response.incomplete_details;
  // vLLM ends with `response.completed` in any case, and says the truth in the status.
  const incomplete = type === 'response.incomplete' || response.status === 'incomplete';
  const reason = incomplete && isObject(details) ? readFinishReason(details.reason) : null;
  if (incomplete) meaning.finish(reason ?? 'other');
  else if (type === 'response.completed') meaning.finish(readFinishReason(response.status) ?? 'stop');
  else meaning.finish(type === 'response.cancelled' ? 'abort' : 'error');
  meaning.done();
}

const ENDS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

/** The type is in the data and in the name of the event; some gateways keep only one of the two. */
function readEvent(meaning: EventMeaning, event: JsonObject, name: string | undefined): void {
  const type = nonEmptyString(event.type) ?? name;
  const readDelta = type === undefined ? undefined : DELTAS.get(type);
  if (type === undefined) meaning.nonconforming(false);
  else if (readDelta !== undefined) readText(meaning, event.delta, readDelta);
  else if (ENDS.has(type)) readLast(meaning, type, isObject(event.response) ? event.response : {});
}

function readText(meaning: EventMeaning, delta: unknown, readDelta: ReadDelta): void {
  if (typeof delta === 'string') readDelta(meaning, delta);
  else meaning.nonconforming(false);
}

function readLast(meaning: EventMeaning, type: string, response: JsonObject): void {
  const error = findError({ error: response.error });
  if (error !== null) meaning.error(error);
  else readEnd(meaning, type, response);
}

/** OpenAI's `/v1/responses`. Ends with an event of its own; `[DONE]` is an extra of some servers. */
export const responses: ApiDialect = {
  name: 'responses',
  url: (base) => versionedUrl(base, '/responses'),
  authHeaders: bearer,
  streamTypes: SSE_TYPES,
  body: ({ model, prompt, maxTokens, temperature, ignoreEos, refused, extraBody }) =>
    mergeBody(
      {
        model,
        input: prompt,
        stream: true,
        max_output_tokens: maxTokens,
        ...unlessRefused(refused, 'temperature', temperature),
        ...(ignoreEos ? unlessRefused(refused, 'ignore_eos', true) : {}),
      },
      extraBody,
    ),
  optionalParameters: ['ignore_eos', 'temperature'],
  createReading: sseReading(() => readEvent),
  readErrorBody,
};

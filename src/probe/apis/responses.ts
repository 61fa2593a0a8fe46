import { findError, readErrorBody } from '../error-object.ts';
import type { EventMeaning } from '../event-facts.ts';
import { readFinishReason } from '../finish-reason.ts';
import { isObject, type JsonObject, nonEmptyString } from '../json-value.ts';
import { readUsage } from '../usage.ts';
import type { ApiDialect } from './api.ts';
import { mergeBody, unlessRefused } from './body.ts';
import { eventType, type ReadObject, sseReading } from './event-reading.ts';
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
]);

/** Arguments, code, patches, commands: whatever else the model writes piece by piece is the input of a tool. */
const deltaOf = (type: string): ReadDelta | undefined =>
  DELTAS.get(type) ?? (type.startsWith('response.') && type.endsWith('.delta') ? toolCall : undefined);

/** The second is the realtime API's, and what some gateways write here as well. */
const COMPLETE: ReadonlySet<string> = new Set(['response.completed', 'response.done']);

function readEnd(meaning: EventMeaning, type: string, response: JsonObject): void {
  const usage = readUsage(response.usage);
  if (usage !== null) meaning.usage(usage);
  const details = response.incomplete_details;
  // vLLM ends with `response.completed` in any case, and says the truth in the status.
  const incomplete = type === 'response.incomplete' || response.status === 'incomplete';
  const reason = incomplete && isObject(details) ? readFinishReason(details.reason) : null;
  if (incomplete) meaning.finish(reason ?? 'other');
  else if (COMPLETE.has(type)) meaning.finish(readFinishReason(response.status) ?? 'stop');
  else meaning.finish(type === 'response.cancelled' ? 'abort' : 'error');
  meaning.done();
}

const ENDS: ReadonlySet<string> = new Set([
  ...COMPLETE,
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

/** Whether a response that is over holds visible text. */
function hasText({ output }: JsonObject): boolean {
  if (!Array.isArray(output)) return false;
  return output.some(
    (item) =>
      isObject(item) &&
      Array.isArray(item.content) &&
      item.content.some((part) => isObject(part) && nonEmptyString(part.text) !== null),
  );
}

function createReader(): ReadObject {
  let deltas = false;
  return (meaning, event, name) => {
    const type = eventType(event, name);
    const readDelta = type === undefined ? undefined : deltaOf(type);
    if (type === undefined) meaning.nonconforming(false);
    else if (type === 'content_block_delta') meaning.foreignForm('other_api');
    else if (readDelta !== undefined) {
      deltas = true;
      readText(meaning, event.delta, readDelta);
    } else if (ENDS.has(type)) {
      const response = isObject(event.response) ? event.response : {};
      // A gateway that only pretends to stream: the events are there, the text comes with the last one.
      if (!deltas && hasText(response)) meaning.foreignForm('complete_answer');
      readLast(meaning, type, response);
    }
  };
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
  createReading: sseReading(createReader),
  readErrorBody,
};

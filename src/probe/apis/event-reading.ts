import { errorFromField, errorFromWords, findError } from '../error-object.ts';
import type { EventMeaning, Interpreter } from '../event-facts.ts';
import { type JsonObject, nonEmptyString, parseObject } from '../json-value.ts';
import { createNdjsonFraming } from '../ndjson.ts';
import { createSseFraming } from '../sse.ts';
import { createStreamReading } from '../stream-reading.ts';
import type { ApiDialect } from './api.ts';

const DONE = /^\s*\[DONE\]\s*$/;

const QUOTED_DONE = '"[DONE]"';

/** `[DONE]`, with whatever blanks around it. */
const isDone = (data: string): boolean => data === '[DONE]' || (data.length < 64 && DONE.test(data));

/** A sentence, as opposed to a broken object, a field in a field, a marker in one word, or a sign of life or of the end. */
const WORDS =
  /^(?!(?:data:|event:|keep[- ]?alive|heart ?beat|still|end of|(?:stream|generation|response|request) (?:end|complete|done|finish|clos)))[A-Za-z][^\s{}]*\s+\S/i;

/** Gateways say whose error it is: `upstream_error`. The responses API has `response.error`. */
const ERROR_NAME = /(?:^|[._-])error$/i;
/** The last letter alone rules out nearly every other name. */
const namesError = (name: string): boolean => (name.charCodeAt(name.length - 1) | 32) === 114 && ERROR_NAME.test(name);

/** What is left of a keep-alive comment when a gateway wraps it into a data field once more. */
const isWrappedComment = (data: string): boolean => data === '' || data.startsWith(':');

/**
 * The type of an event for the APIs that have types: in the data, and in the event's name, of which some gateways keep
 * only one. `message` is the name that every event without one has.
 */
export const eventType = (object: JsonObject, name: string | undefined): string | undefined =>
  nonEmptyString(object.type) ?? (name === 'message' ? undefined : name);

/** Reads the object of an event that is no error; `name` is the event's SSE name. */
export type ReadObject = (meaning: EventMeaning, object: JsonObject, name: string | undefined) => void;

/**
 * What all APIs share: `[DONE]` ends a stream, also where the API does not ask for it; an error object is an error
 * under any API; anything else must be a JSON object.
 */
function objectInterpreter(read: ReadObject): Interpreter {
  return (meaning, data, name) => {
    if (isDone(data)) {
      meaning.done();
      return;
    }
    if (data === QUOTED_DONE) {
      meaning.nonconforming(false);
      meaning.done();
      return;
    }
    // An event of this name is an error whatever its data, plain text included.
    if (name !== undefined && namesError(name)) {
      meaning.error(errorFromField(data));
      return;
    }
    if (isWrappedComment(data)) {
      meaning.ping();
      meaning.nonconforming(false);
      return;
    }
    const object = parseObject(data);
    const error = object === null ? errorFromWords(data) : findError(object, name);
    if (error !== null) meaning.error(error);
    else if (object === null && WORDS.test(data)) meaning.words(data);
    else if (object === null) meaning.nonconforming(true);
    else read(meaning, object, name);
  };
}

type CreateReading = ApiDialect['createReading'];

/** Readings of server-sent events. `createReader` is called once a stream. */
export const sseReading =
  (createReader: () => ReadObject): CreateReading =>
  (limits, requestAt) =>
    createStreamReading({
      limits,
      framing: createSseFraming,
      interpret: objectInterpreter(createReader()),
      requestAt: requestAt ?? null,
    });

/** Readings of one JSON object a line. */
export const ndjsonReading =
  (createReader: () => ReadObject): CreateReading =>
  (limits, requestAt) =>
    createStreamReading({
      limits,
      framing: createNdjsonFraming,
      interpret: objectInterpreter(createReader()),
      requestAt: requestAt ?? null,
    });

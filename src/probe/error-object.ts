import { fromObject, fromText, MESSAGE_FIELDS, STATUS_FIELDS, TYPE_FIELDS } from './error-fields.ts';
import { isObject, type JsonObject, nonEmptyString, parseJson, parseObject } from './json-value.ts';
import type { StreamErrorObject } from './reading.ts';

/** Some gateways write an error into every chunk that says that there is none. */
function saysTrouble(value: unknown): boolean {
  if (typeof value === 'object') return value !== null;
  return value !== undefined && !/^(?:|0|200|false|ok|success)$/i.test(String(value));
}

/**
 * The error in a JSON object of a stream: nested under `error` (as object or string), Anthropic's `type: error`, the
 * flat `object: error` of older vLLM and of SGLang, or a bare `{message, type, code}` or `{detail}` as Dynamo, FastAPI
 * and problem+json have it. Null when the object carries none.
 *
 * @param name of the event; that of a notice says that a lone message is no error
 */
export function findError(value: JsonObject, name?: string): StreamErrorObject | null {
  const notice = name !== undefined && value.type === undefined && NO_ERROR.test(name);
  const found = findOuter(notice ? { type: name, ...value } : value);
  return found === null ? null : unwrap(found);
}

/** Gateways pass on the error of the engine as a text in their own; its words are the better ones. */
function unwrap(outer: StreamErrorObject): StreamErrorObject {
  const bare = outer.status === null && outer.type === null && outer.code === null;
  const inner = bare && outer.text.startsWith('{') ? parseObject(outer.text) : null;
  return (inner === null ? null : findOuter(inner)) ?? outer;
}

function findOuter(value: JsonObject): StreamErrorObject | null {
  return findOwn(value) ?? enveloped(value);
}

/** Members in which vendors wrap the whole of an answer, its error included. */
const ENVELOPES = ['response', 'Response', 'data', 'result', 'output', 'body'] as const;

/** An error one level down: Tencent's `Response.Error`, and MiniMax's account of each answer beside it, 0 for success. */
function enveloped(value: JsonObject): StreamErrorObject | null {
  const { base_resp: account } = value;
  if (isObject(account) && saysTrouble(account.status_code)) {
    return fromObject({ error_code: account.status_code, message: account.status_msg }, {});
  }
  // Content has no envelope, nor have events that say their type; these are most of what comes here.
  if (value.choices !== undefined || value.type !== undefined) return null;
  for (const name of ENVELOPES) {
    const inside = value[name];
    const error = isObject(inside) ? (inside.error ?? inside.Error) : undefined;
    const found = saysTrouble(error) ? findOwn({ error }) : null;
    if (found !== null) return found;
  }
  return null;
}

function findOwn(value: JsonObject): StreamErrorObject | null {
  const nested = value.error;
  if (isObject(nested)) return Object.values(nested).some(saysTrouble) ? fromObject(nested, value) : flatError(value);
  if (Array.isArray(nested)) return nested.length > 0 ? fromObject({ errors: nested }, value) : flatError(value);
  if (typeof nested === 'string') return saysTrouble(nested) ? fromText(nested, value) : flatError(value);
  // A flag, or a number that is the code.
  if (saysTrouble(nested)) return fromObject({ error_code: nested, ...value }, {});
  return flatError(value);
}

/** FastChat says it in a code beside the text, which then is no answer. */
function flatError(value: JsonObject): StreamErrorObject | null {
  if (value.object === 'error' || isErrorType(value.type) || saysTrouble(value.error_code))
    return fromObject(value, {});
  if (saysFailure(value) && value.choices === undefined) return fromObject(value, {});
  const names = Object.keys(value);
  if (isBareError(value, names)) return fromObject(value, {});
  return names[0] === undefined ? null : wrappedError(names[0], value[names[0]]);
}

const isErrorType = (type: unknown): boolean => type === 'error' || type === 'response.error';

const FAILED = /^(?:error|failed|failure)$/i;

const saysFailure = ({ success, ok, status, level, event }: JsonObject): boolean =>
  success === false ||
  ok === false ||
  level === 'error' ||
  event === 'error' ||
  (typeof status === 'string' && FAILED.test(status));

const WRAPPERS: ReadonlySet<string> = new Set(['Error', 'err', 'exception', 'fault']);

/** An error under another name than `error`, such as Bedrock's exceptions, whose name is their type. */
function wrappedError(name: string, error: unknown): StreamErrorObject | null {
  const exception = name.endsWith('Exception');
  if (!exception && !WRAPPERS.has(name)) return null;
  if (isObject(error)) return fromObject(exception ? { type: name, ...error } : error, {});
  return typeof error === 'string' && saysTrouble(error) ? fromText(error, {}) : null;
}

/** What an error may consist of that stands in a stream as an event of its own. Content has other fields, always. */
const BARE_ERROR_FIELDS: ReadonlySet<string> = new Set([
  ...MESSAGE_FIELDS,
  ...STATUS_FIELDS,
  ...TYPE_FIELDS,
  'errors',
  'instance',
  'ok',
  'param',
  'path',
  'reason',
  'requestId',
  'request_id',
  'success',
  'timestamp',
]);
const says = (value: unknown): boolean => nonEmptyString(value) !== null || (Array.isArray(value) && value.length > 0);

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** Other fields are none of an error's, unless nothing is in them. */
const isErrorField = (name: string, value: JsonObject): boolean =>
  BARE_ERROR_FIELDS.has(name) || (name !== 'choices' && isEmpty(value[name]));

/** States and kinds of messages that are none of an error: what some gateways send while a request waits. */
const NO_ERROR =
  /^(?:ping|heartbeat|keep-?alive|status|progress|info|debug|log|notice|warning|ok|success|queued|pending|processing|in_progress|running|started|loading)$/i;

/** Some gateways wrap everything into `{code, msg, data}`, and say so when all is well. */
const saysSuccess = ({ code, success, ok, status, type }: JsonObject): boolean =>
  success === true ||
  ok === true ||
  (code !== undefined && code !== null && !saysTrouble(code)) ||
  NO_ERROR.test(String(status)) ||
  NO_ERROR.test(String(type));

/** A title alone is that of a conversation. */
const isMessage = (value: JsonObject): boolean =>
  !saysSuccess(value) && (MESSAGE_FIELDS.some((name) => name !== 'title' && says(value[name])) || says(value.errors));

function isBareError(value: JsonObject, names: readonly string[]): boolean {
  for (const name of names) if (!isErrorField(name, value)) return false;
  return isMessage(value) || fromObject(value, {}).status !== null;
}

/** The error that the value of a non-standard SSE field `error:` carries; text that is no JSON is its message. */
export function errorFromField(text: string): StreamErrorObject {
  const value = parseObject(text);
  if (value === null) return errorBehind(text) ?? fromText(text, {});
  return findError(value) ?? fromObject(value, {});
}

const SAYS_ERROR =
  /^"?(?:\[?error\b|internal server error|bad gateway|service unavailable|gateway time-?out|traceback \()/i;

/**
 * The error of an event whose data is no object: plain words that begin like one, the array that Google's gateways put
 * around it, an object that was made into JSON once more, or an error that a gateway wrote behind half an event. Null
 * otherwise.
 */
export function errorFromWords(text: string): StreamErrorObject | null {
  if (SAYS_ERROR.test(text)) return fromText(text, {});
  const wrapped = /^\s*["[]/.test(text) ? parseJson(text) : null;
  const inner = typeof wrapped === 'string' ? parseObject(wrapped) : Array.isArray(wrapped) ? wrapped[0] : null;
  return isObject(inner) ? findError(inner) : errorBehind(text);
}

/** Behind an event that was cut off: in the last line of its data, or in a data field within the same line. */
function errorBehind(text: string): StreamErrorObject | null {
  const line = text.lastIndexOf('\n') + 1;
  const field = text.lastIndexOf('data: {') + 'data: '.length;
  const at = Math.max(line, field);
  const object = at < 'data: '.length ? null : parseObject(text.slice(at));
  return object === null ? null : findError(object);
}

/**
 * The error in a line of a stream that is no field of it, or in several put together. A server that fails in the
 * middle may write its error object as it would have written it without a stream (Ollama's and LiteLLM's did). Null for any other line.
 */
export function errorFromLine(line: string): StreamErrorObject | null {
  return /^\[?\s*\{/.test(line) ? readErrorBody(line) : null;
}

const unwrapped = (text: string): string => /^\s*\[(.*)\]\s*$/s.exec(text)?.[1] ?? '';

/** JSON that was made into JSON once more. */
function quoted(text: string): string {
  const value = /^\s*"/.test(text) ? parseJson(text) : null;
  return typeof value === 'string' ? value : '';
}

/** The first event of a body in the form of a stream: some servers answer with one and an error status. */
const unframed = (text: string): string => /^data:(.*)$/m.exec(text)?.[1] ?? '';

const isLoneMessage = (value: JsonObject): boolean =>
  !saysSuccess(value) && MESSAGE_FIELDS.some((name) => typeof value[name] === 'string');

/**
 * The error of a body that is no stream. Also takes `detail` and `message` with other fields beside them, which inside a
 * stream would not be proof of an error, and the array around the object that Google's gateways send. Null when the
 * body is not JSON or carries no error.
 */
export function readErrorBody(text: string): StreamErrorObject | null {
  const value =
    parseObject(text) ?? parseObject(unwrapped(text)) ?? parseObject(quoted(text)) ?? parseObject(unframed(text));
  if (value === null) return null;
  const found = findError(value);
  if (found !== null) return found;
  const lone =
    value.choices === undefined && (value.detail !== undefined || says(value.errors) || isLoneMessage(value));
  return lone ? unwrap(fromObject(value, {})) : null;
}

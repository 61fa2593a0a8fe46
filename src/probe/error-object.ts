import { isObject, type JsonObject, nonEmptyString, parseObject } from './json-value.ts';
import type { StreamErrorObject } from './reading.ts';

/** Error texts are read for classification only; more than this says nothing more. */
const LONGEST_TEXT = 4096;

/** A three-digit number as an HTTP status, also when written as a string. */
function httpStatus(...candidates: readonly unknown[]): number | null {
  for (const candidate of candidates) {
    const value = typeof candidate === 'string' && /^\d{3}$/.test(candidate) ? Number(candidate) : candidate;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return null;
}

const word = (value: unknown): string | null => (typeof value === 'number' ? String(value) : nonEmptyString(value));

function messageOf(error: JsonObject): string {
  const message = error.message ?? error.detail ?? error.msg ?? error.error_msg ?? error.error_message ?? error.title;
  if (message === undefined || message === null) return '';
  return (typeof message === 'string' ? message : asJson(message)).slice(0, LONGEST_TEXT);
}

/** Nesting that JSON.parse can read may be too deep for JSON.stringify. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '';
  }
}

/** `error` may lie inside `outer`, which may carry the status or the type beside it (TGI, Ollama, FastAPI). */
function fromObject(error: JsonObject, outer: JsonObject): StreamErrorObject {
  return {
    status: httpStatus(
      error.code,
      error.status,
      error.status_code,
      error.error_code,
      error.http_status_code,
      outer.code,
      outer.status,
      outer.http_status_code,
    ),
    type: nonEmptyString(error.type) ?? nonEmptyString(error.error_type) ?? nonEmptyString(outer.error_type),
    code: word(error.code) ?? word(error.error_code),
    param: nonEmptyString(error.param),
    text: messageOf(error),
  };
}

/** Some gateways write an error into every chunk that says that there is none. */
function saysTrouble(value: unknown): boolean {
  if (typeof value === 'object') return value !== null;
  return value !== undefined && !/^(?:|0|200|false|ok|success)$/i.test(String(value));
}

const fromText = (text: string, outer: JsonObject): StreamErrorObject => ({
  ...fromObject({}, outer),
  code: word(outer.code),
  text: text.slice(0, LONGEST_TEXT),
});

/**
 * The error in a JSON object of a stream: nested under `error` (as object or string), Anthropic's `type: error`, the
 * flat `object: error` of older vLLM and of SGLang, or a bare `{message, type, code}` or `{detail}` as Dynamo, FastAPI
 * and problem+json have it. Null when the object carries none.
 */
export function findError(value: JsonObject): StreamErrorObject | null {
  const nested = value.error;
  if (isObject(nested) && Object.values(nested).some(saysTrouble)) return fromObject(nested, value);
  if (typeof nested === 'string' && nested !== '') return fromText(nested, value);
  const flat = value.object === 'error' || value.type === 'error' || isBareError(value);
  return flat ? fromObject(value, {}) : null;
}

/** What an error may consist of that stands in a stream as an event of its own. Content has other fields, always. */
const BARE_ERROR_FIELDS: ReadonlySet<string> = new Set([
  'code',
  'detail',
  'error_code',
  'error_message',
  'error_msg',
  'errors',
  'instance',
  'message',
  'param',
  'request_id',
  'status',
  'status_code',
  'title',
  'type',
]);

const says = (value: unknown): boolean => nonEmptyString(value) !== null || (Array.isArray(value) && value.length > 0);

function isBareError(value: JsonObject): boolean {
  if (value.type === 'ping' || !Object.keys(value).every((name) => BARE_ERROR_FIELDS.has(name))) return false;
  const { detail, error_message: message, error_msg: shortMessage, errors } = value;
  return [value.message, value.title, detail, message, shortMessage, errors].some(says);
}

/** The error that the value of a non-standard SSE field `error:` carries; text that is no JSON is its message. */
export function errorFromField(text: string): StreamErrorObject {
  const value = parseObject(text);
  if (value === null) return fromText(text, {});
  return findError(value) ?? fromObject(value, {});
}

const unwrapped = (text: string): string => /^\s*\[(.*)\]\s*$/s.exec(text)?.[1] ?? '';

/**
 * The error of a body that is no stream. Also takes `detail` and `message` with other fields beside them, which inside a
 * stream would not be proof of an error, and the array around the object that Google's gateways send. Null when the
 * body is not JSON or carries no error.
 */
export function readErrorBody(text: string): StreamErrorObject | null {
  const value = parseObject(text) ?? parseObject(unwrapped(text));
  if (value === null) return null;
  const found = findError(value);
  if (found !== null) return found;
  const lone = value.choices === undefined && (value.detail !== undefined || typeof value.message === 'string');
  return lone ? fromObject(value, {}) : null;
}

import { isObject, type JsonObject, nonEmptyString, parseObject } from './json-value.ts';
import type { StreamErrorObject } from './reading.ts';

/** Error texts are read for classification only; more than this says nothing more. */
const LONGEST_TEXT = 4096;

/** A three-digit number as an HTTP status, also when written as a string. */
function httpStatus(candidate: unknown): number | null {
  const value = typeof candidate === 'string' && /^\d{3}$/.test(candidate) ? Number(candidate) : candidate;
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : null;
}

const word = (value: unknown): string | null => (typeof value === 'number' ? String(value) : nonEmptyString(value));

/** Names under which the parts of an error are sent, the surest first. */
const MESSAGE_FIELDS = ['message', 'detail', 'msg', 'error_msg', 'error_message', 'errorMessage', 'errorMsg', 'title'];
const STATUS_FIELDS = [
  'code',
  'status',
  'status_code',
  'statusCode',
  'error_code',
  'errorCode',
  'http_status_code',
  'http_code',
];
const TYPE_FIELDS = ['type', 'error_type', 'errorType', 'err_type', '__type'];
const CODE_FIELDS = ['code', 'error_code', 'errorCode'];

/** The first of the fields of which `read` makes something. */
function first<T>(error: JsonObject, names: readonly string[], read: (value: unknown) => T | null): T | null {
  for (const name of names) {
    const value = read(error[name]);
    if (value !== null) return value;
  }
  return null;
}

function messageOf(error: JsonObject): string {
  const message = first(error, [...MESSAGE_FIELDS, 'Message'], (value) => value ?? null);
  if (message === null) return '';
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

/** Google's `status` is a word of gRPC beside a numeric code; anyone else's is a number. */
const statusWord = (value: unknown): string | null =>
  typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value) ? value : null;

/** `error` may lie inside `outer`, which may carry the status or the type beside it (TGI, Ollama, FastAPI). */
function fromObject(error: JsonObject, outer: JsonObject): StreamErrorObject {
  const status = first(error, STATUS_FIELDS, httpStatus) ?? first(outer, STATUS_FIELDS, httpStatus);
  const type = first(error, TYPE_FIELDS, nonEmptyString) ?? nonEmptyString(outer.error_type);
  return {
    status,
    type: type ?? statusWord(error.status),
    code: first(error, CODE_FIELDS, word),
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
  if (isObject(nested)) return Object.values(nested).some(saysTrouble) ? fromObject(nested, value) : flatError(value);
  if (typeof nested === 'string' && nested !== '') return fromText(nested, value);
  if (Array.isArray(nested) && nested.length > 0) return fromObject(isObject(nested[0]) ? nested[0] : {}, value);
  // A flag, or a number that is the code.
  if (saysTrouble(nested)) return fromObject({ error_code: nested, ...value }, {});
  return flatError(value);
}

/** FastChat says it in a code beside the text, which then is no answer. */
function flatError(value: JsonObject): StreamErrorObject | null {
  const flat =
    value.object === 'error' || value.type === 'error' || saysTrouble(value.error_code) || isBareError(value);
  return flat ? fromObject(value, {}) : null;
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
  'requestId',
  'request_id',
  'success',
  'timestamp',
]);
/** Fields that an error may have beside those, as long as nothing is in them. */
const EMPTY_FIELDS: ReadonlySet<string> = new Set(['data', 'result']);

const says = (value: unknown): boolean => nonEmptyString(value) !== null || (Array.isArray(value) && value.length > 0);

const isErrorField = (name: string, value: JsonObject): boolean =>
  BARE_ERROR_FIELDS.has(name) || (EMPTY_FIELDS.has(name) && value[name] === null);

/** Some gateways wrap everything into `{code, msg, data}`, and say so when all is well. */
const saysSuccess = ({ code, success, ok }: JsonObject): boolean =>
  success === true || ok === true || (code !== undefined && code !== null && !saysTrouble(code));

const isMessage = (value: JsonObject): boolean =>
  !saysSuccess(value) && (MESSAGE_FIELDS.some((name) => says(value[name])) || says(value.errors));

function isBareError(value: JsonObject): boolean {
  if (value.type === 'ping') return false;
  for (const name of Object.keys(value)) if (!isErrorField(name, value)) return false;
  return isMessage(value);
}

/** The error that the value of a non-standard SSE field `error:` carries; text that is no JSON is its message. */
export function errorFromField(text: string): StreamErrorObject {
  const value = parseObject(text);
  if (value === null) return fromText(text, {});
  return findError(value) ?? fromObject(value, {});
}

const SAYS_ERROR =
  /^"?(?:\[?error\b|internal server error|bad gateway|service unavailable|gateway time-?out|traceback \()/i;

/** The error of an event whose data is plain words. Null when they do not begin like an error. */
export const errorFromWords = (text: string): StreamErrorObject | null =>
  SAYS_ERROR.test(text) ? fromText(text, {}) : null;

/**
 * The error in a line of a stream that is no field of it. A server that fails in the middle may write its error object
 * as it would have written it without a stream (Ollama's and LiteLLM's did). Null for any other line.
 */
export function errorFromLine(line: string): StreamErrorObject | null {
  return line.startsWith('{') ? readErrorBody(line) : null;
}

const unwrapped = (text: string): string => /^\s*\[(.*)\]\s*$/s.exec(text)?.[1] ?? '';

const isLoneMessage = (value: JsonObject): boolean =>
  !saysSuccess(value) && MESSAGE_FIELDS.some((name) => typeof value[name] === 'string');

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
  const lone = value.choices === undefined && (value.detail !== undefined || isLoneMessage(value));
  return lone ? fromObject(value, {}) : null;
}

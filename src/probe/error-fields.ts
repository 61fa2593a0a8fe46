import { isObject, type JsonObject, nonEmptyString } from './json-value.ts';
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
export const MESSAGE_FIELDS = [
  'message',
  'detail',
  'msg',
  'error_msg',
  'error_message',
  'errorMessage',
  'errorMsg',
  'title',
];
export const STATUS_FIELDS = [
  'code',
  'status',
  'status_code',
  'statusCode',
  'error_code',
  'errorCode',
  'http_status_code',
  'http_code',
];
export const TYPE_FIELDS = ['type', 'error_type', 'errorType', 'err_type', '__type'];
const CODE_FIELDS = ['code', 'Code', 'error_code', 'errorCode'];

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

/** What a list of errors says first (Cloudflare, watsonx, GraphQL). */
const firstOf = ({ errors }: JsonObject): JsonObject => (Array.isArray(errors) && isObject(errors[0]) ? errors[0] : {});

/**
 * The parts of an error, under whatever names. `error` may lie inside `outer`, which may carry the status or the type
 * beside it (TGI, Ollama, FastAPI).
 */
export function fromObject(object: JsonObject, outer: JsonObject): StreamErrorObject {
  const error = { ...firstOf(object), ...object };
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

/** An error that is no more than a text; what else there is lies beside it. */
export const fromText = (text: string, outer: JsonObject): StreamErrorObject => ({
  ...fromObject({}, outer),
  code: word(outer.code),
  text: text.slice(0, LONGEST_TEXT),
});

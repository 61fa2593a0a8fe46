import type { ApiDialect } from './apis/api.ts';
import { mediaType } from './body.ts';
import { classifyErrorObject, classifyResponse, type ErrorResponse } from './classify-response.ts';
import { classifyEnd, classifyFault } from './classify-stream.ts';
import { classifyTransport } from './classify-transport.ts';
import type { DeadlineReason } from './deadlines.ts';
import type { ExchangeFacts } from './exchange.ts';
import { type FailureDetail, failure } from './failure.ts';
import { isObject, parseJson } from './json-value.ts';
import type { Failure } from './outcome.ts';
import type { Deadlines } from './profile.ts';
import type { ReadingResult, StreamErrorObject } from './reading.ts';

/** What the verdict needs to know of the request. */
export interface Case {
  readonly place: string;
  readonly deadlines: Deadlines;
  readonly dialect: Pick<ApiDialect, 'readErrorBody'>;
  readonly parameters: readonly string[];
}

/** The verdict without the expectation: null when the answer is complete. `error`: the error object that was found. */
export interface Judgement {
  readonly failure: Failure | null;
  readonly error: StreamErrorObject | null;
}

const limitOf = (reason: DeadlineReason, deadlines: Deadlines): number =>
  ({
    connect_timeout: deadlines.connectSeconds,
    headers_timeout: deadlines.headersSeconds,
    ttft_timeout: deadlines.firstTokenSeconds,
    stalled: deadlines.betweenTokensSeconds,
    total_timeout: deadlines.totalSeconds,
  })[reason];

const DEADLINE_WORDS: Readonly<Record<DeadlineReason, string>> = {
  connect_timeout: 'no connection',
  headers_timeout: 'no response headers',
  ttft_timeout: 'no token',
  stalled: 'no further token',
  total_timeout: 'the answer was not complete',
};

function judgeDeadline(reason: DeadlineReason, { result, setUp }: ExchangeFacts, { place, deadlines }: Case): Failure {
  const limitSeconds = limitOf(reason, deadlines);
  const keepAliveOnly = reason === 'ttft_timeout' && (result?.keepAlives ?? 0) > 0;
  const detail: FailureDetail = {
    limit_seconds: limitSeconds,
    ...(reason === 'connect_timeout' && { step: setUp.step ?? 'none', addresses: setUp.addresses }),
    ...(result !== null && { tokens: result.outputTokens ?? 0 }),
    ...(keepAliveOnly && { keepalive_only: true }),
  };
  const only = keepAliveOnly ? ', only keep-alives' : reason === 'connect_timeout' ? `, at step ${setUp.step}` : '';
  return failure(reason, place, `${DEADLINE_WORDS[reason]} within ${limitSeconds} s${only}`, detail);
}

// application/json and application/problem+json, but not the line by line kinds of another API.
const COMPLETE_JSON = /[/+]json$/;

const ANSWER_FIELDS = [
  'candidates',
  'choices',
  'completion',
  'content',
  'generated_text',
  'message',
  'output',
  'response',
  'text',
];

/** A whole answer of one of the APIs, or the beginning of one; TGI's older form has an array around it. */
function isAnswer(text: string, type: string): boolean {
  const value = parseJson(text);
  if (value === undefined) return COMPLETE_JSON.test(type);
  const object: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(object) && ANSWER_FIELDS.some((name) => name in object);
}

/** HTTP 200 with a body that is no stream: an error, one complete answer, a page, or nothing. */
function judgeAnswer(text: string, response: ErrorResponse): Failure {
  const { place, status, error, headers } = response;
  const type = mediaType(headers['content-type']);
  if (error !== null) return classifyErrorObject({ ...response, error });
  if (text.trim() === '') return failure('empty_stream', place, 'an empty body', { status });
  const json = /^\s*[[{]/.test(text);
  if (json && isAnswer(text, type)) {
    return failure('not_streaming', place, 'one complete answer instead of a stream', { status });
  }
  const page = type === 'text/html' || /^\s*</.test(text);
  const kind = page ? 'a web page' : json ? 'JSON that is no answer' : 'a body of another kind';
  return failure('protocol_error', place, `${kind} instead of a stream`, { status });
}

function judgeStream(facts: ExchangeFacts, result: ReadingResult, of: Case): Failure | null {
  const { ending } = facts;
  const { place } = of;
  const fault = classifyFault(place, result);
  if (fault !== null) return fault;
  // Where each chunk claims to be the last, only silence can tell; it did not come before the deadline.
  const endless = result.endDoubtful && ending.kind === 'deadline';
  if (!result.terminal || endless) {
    if (ending.kind === 'deadline') return judgeDeadline(ending.reason, facts, of);
    if (ending.kind === 'broken') return classifyTransport(place, ending.failure);
    if (ending.kind === 'encoding') return unreadable(place, ending.encoding);
  }
  return classifyEnd(place, result);
}

const unreadable = (place: string, encoding: string): Failure =>
  failure('protocol_error', place, 'the content encoding cannot be read', {
    encoding: /^[a-z0-9-]{1,16}$/i.test(encoding) ? encoding : 'other',
  });

/**
 * The verdict on what happened on the wire. Of several things that are true the first in this order is the reason:
 *
 * 1. no response headers: the deadline that passed, else what broke (dns ... connection_lost);
 * 2. a status other than 2xx: the words of its error object where they are stronger, else the status, with or without
 *    a readable body, however the body ended;
 * 3. a 2xx body that is no stream by its first bytes, or else by its header: its error object, empty, complete answer,
 *    page; when it never ended, as in 1;
 * 4. an error object in the stream, whatever came before or after it, a terminal marker included;
 * 5. a limit that was passed;
 * 6. without a terminal marker: the deadline that passed, else what broke. After a terminal marker neither matters, but
 *    for a deadline after markers that text has followed;
 * 7. a finish reason that is none (abort, error, content filter);
 * 8. no token (no_visible_output, protocol_error, empty_stream);
 * 9. no terminal marker (truncated);
 * 10. the expectation of the profile, which is not judged here.
 */
export function judge(facts: ExchangeFacts, of: Case): Judgement {
  const { ending, status, headers, kind, result, text } = facts;
  const { place, parameters } = of;
  if (status === null || kind === null) return { failure: judgeUnanswered(facts, of), error: null };
  if (result !== null) {
    const { error } = result;
    if (error === null) return { failure: judgeStream(facts, result, of), error };
    return { failure: classifyErrorObject({ place, status, headers, body: '', error, parameters }), error };
  }
  const error = of.dialect.readErrorBody(text);
  const response = { place, status, headers, body: text, error, parameters };
  if (kind === 'error') return { failure: classifyResponse(response), error };
  // An error object that can be read is whole, however the rest ended.
  if (error !== null || ending.kind === 'ended' || ending.kind === 'stopped') {
    return { failure: judgeAnswer(text, response), error };
  }
  return { failure: judgeUnanswered(facts, of), error: null };
}

function judgeUnanswered(facts: ExchangeFacts, of: Case): Failure {
  const { ending } = facts;
  switch (ending.kind) {
    case 'deadline':
      return judgeDeadline(ending.reason, facts, of);
    case 'broken':
      return classifyTransport(of.place, ending.failure);
    case 'encoding':
      return unreadable(of.place, ending.encoding);
    case 'ended':
    case 'graced':
    case 'stopped':
    case 'aborted':
    case 'unsent':
      return failure('internal', of.place, `an exchange without an answer (${ending.kind})`);
  }
}

import { ADVICE } from './advice.ts';
import type { Failure } from './outcome.ts';
import { type FailureReason, sideOf, stageOf } from './reasons.ts';

const LONGEST_MESSAGE = 300;

export type FailureDetail = Failure['detail'];

function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach a log line.
  const line = text.replace(/[\u0000-\u0020\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  return line.length <= LONGEST_MESSAGE ? line : `${line.slice(0, LONGEST_MESSAGE - 1)}…`;
}

/**
 * A failure with its message: where, what, what to do. `place` and `what` are made of our own words, configured names,
 * error codes and numbers; never of text that a server sent.
 */
export function failure(reason: FailureReason, place: string, what: string, detail: FailureDetail = {}): Failure {
  return {
    reason,
    stage: stageOf(reason),
    side: sideOf(reason),
    message: oneLine(`${place}: ${what}; ${ADVICE[reason]}`),
    detail,
  };
}

/** How a URL is written for people: without user info, query and fragment, which may hold keys. */
export const displayUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`;

/** The code of any throwable, when it is one: upper case words such as ECONNRESET. Null for anything else. */
export function errorCode(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(error.code) ? error.code : null;
}

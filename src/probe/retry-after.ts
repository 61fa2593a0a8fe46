import { type Seconds, seconds, type UnixTime } from '../units.ts';

/** No endpoint can keep the probe away for longer than this: a wrong header must not blind the operator for a day. */
const LONGEST_WAIT_SECONDS = 3600;

const clamp = (value: number): Seconds => seconds(Math.min(Math.max(value, 0), LONGEST_WAIT_SECONDS));

function unixSeconds(date: string | undefined): number | null {
  // Date.parse takes "1" and "90" for years and months; the dates of HTTP all have a name of a day or a month.
  if (date === undefined || !/[A-Za-z]{3}/.test(date)) return null;
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? null : ms / 1000;
}

/**
 * How long the endpoint asks to be left alone. Both forms of RFC 9110 §10.2.3 and the `retry-after-ms` of OpenAI and
 * Azure; clamped to 0..1 h. A date counts from the response's own Date header where it has one, so that a wrong clock on
 * either side does no harm. Null without a header that can be read: never NaN.
 *
 * @param headers names in lower case
 * @param now our wall clock, used only when the response has no Date
 */
export function retryAfter(headers: Readonly<Record<string, string>>, now: UnixTime): Seconds | null {
  const milliseconds = headers['retry-after-ms']?.trim();
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return clamp(Number(milliseconds) / 1000);
  const value = headers['retry-after']?.trim();
  if (value === undefined) return null;
  // Two middle boxes may each have added one: the longer wait satisfies both.
  if (/^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/.test(value)) return clamp(Math.max(...value.split(',').map(Number)));
  const until = unixSeconds(value);
  return until === null ? null : clamp(until - (unixSeconds(headers.date) ?? now));
}

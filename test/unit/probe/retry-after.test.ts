import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryAfter } from '../../../src/probe/retry-after.ts';
import { unixTime } from '../../../src/units.ts';

const NOW = unixTime(Date.UTC(2026, 10, 29, 20, 0, 0) / 1000);
const imf = (afterSeconds: number): string => new Date((NOW + afterSeconds) * 1000).toUTCString();

describe('Retry-After', () => {
  test.each([
    ['seconds', { 'retry-after': '30' }, 30],
    ['a fraction', { 'retry-after': ' 1.5 ' }, 1.5],
    ['zero', { 'retry-after': '0' }, 0],
    ['more than an hour', { 'retry-after': '86400' }, 3600],
    ['an absurd number', { 'retry-after': '9'.repeat(400) }, 3600],
    ['a date', { 'retry-after': imf(90) }, 90],
    ['a date against the date of the response', { 'retry-after': imf(5090), date: imf(5000) }, 90],
    ['a date in the past', { 'retry-after': imf(-5) }, 0],
    ['a date beyond an hour', { 'retry-after': imf(90_000) }, 3600],
    ['the old date of RFC 850', { 'retry-after': 'Sunday, 29-Nov-26 20:01:00 GMT' }, 60],
    ['milliseconds of OpenAI', { 'retry-after-ms': '250', 'retry-after': '1' }, 0.25],
    ['milliseconds that are none', { 'retry-after-ms': 'soon', 'retry-after': '2' }, 2],
    ['a bad date of the response', { 'retry-after': imf(60), date: 'yesterday' }, 60],
  ])('as %s is read', (_, headers, expected) => {
    expect(retryAfter(headers, NOW)).toBe(expected);
  });

  test.each([
    ['no header', {}],
    ['nothing', { 'retry-after': '' }],
    ['a word', { 'retry-after': 'soon' }],
    ['a negative number', { 'retry-after': '-5' }],
    ['NaN', { 'retry-after': 'NaN' }],
    ['hexadecimal', { 'retry-after': '0x10' }],
    ['a lone year', { 'retry-after': '2026-11' }],
  ])('as %s is none', (_, headers) => {
    expect(retryAfter(headers, NOW)).toBeNull();
  });

  test('is never NaN, negative or longer than an hour', () => {
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map((at) => at.toUTCString()),
    );
    fc.assert(
      fc.property(value, fc.option(value), (header, date) => {
        const wait = retryAfter({ 'retry-after': header, ...(date !== null && { date }) }, NOW);
        return wait === null || (wait >= 0 && wait <= 3600);
      }),
    );
  });
});

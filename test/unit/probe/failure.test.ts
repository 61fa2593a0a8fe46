import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADVICE } from '../../../src/probe/advice.ts';
import { displayUrl, errorCode, failure } from '../../../src/probe/failure.ts';
import { FAILURE_REASONS, sideOf, stageOf } from '../../../src/probe/reasons.ts';

describe('a failure', () => {
  test.each(FAILURE_REASONS)('%s says where, what and what to do, with its stage and side', (reason) => {
    const { message, ...rest } = failure(reason, 'http://h/p', 'something happened', { code: 'X' });
    expect(message).toBe(`http://h/p: something happened; ${ADVICE[reason]}`);
    expect(rest).toEqual({ reason, stage: stageOf(reason), side: sideOf(reason), detail: { code: 'X' } });
  });

  test.each(FAILURE_REASONS)('%s gives advice in the keys of the configuration, not in names of the code', (reason) => {
    expect(ADVICE[reason]).not.toMatch(/[a-z][A-Z]/);
  });

  test('is one line of at most 300 characters, whatever it is made of', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 500 }),
        fc.string({ unit: 'binary', maxLength: 500 }),
        (place, what) => {
          const { message } = failure('internal', place, what);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point.
          return message.length <= 300 && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(message);
        },
      ),
    );
  });
});

describe('a URL for people', () => {
  test('has neither user info nor query nor fragment', () => {
    expect(displayUrl(new URL('https://user:pw-9@gw.example:8443/v1?api-key=qk-7#x'))).toBe(
      'https://gw.example:8443/v1',
    );
  });

  test('keeps the brackets of IPv6', () => {
    expect(displayUrl(new URL('http://[::1]:8000/v1'))).toBe('http://[::1]:8000/v1');
  });
});

describe('the code of a throwable', () => {
  test.each([
    [Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [{ code: 'UND_ERR_SOCKET' }, 'UND_ERR_SOCKET'],
    [Object.assign(new Error('x'), { code: 'sk-secret' }), null],
    [Object.assign(new Error('x'), { code: 7 }), null],
    [new Error('ECONNRESET'), null],
    ['ECONNRESET', null],
    [null, null],
    [undefined, null],
  ])('of %j is %j', (error, code) => {
    expect(errorCode(error)).toBe(code);
  });
});

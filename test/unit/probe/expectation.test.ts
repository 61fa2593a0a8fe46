import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findDegeneration } from '../../../src/probe/degenerate.ts';
import { checkExpectation } from '../../../src/probe/expectation.ts';
import type { Expectation } from '../../../src/probe/profile.ts';
import { content, DONE, finish, readAll, usage } from '../../support/streams.ts';

const nothing: Expectation = { minTokens: null, pattern: null, answer: null, detectDegenerate: false };
const answer = (text: string, tokens = 3): ReturnType<typeof readAll> =>
  readAll(content(text) + finish('stop') + usage(9, tokens) + DONE);
const check = (expect_: Partial<Expectation>, text: string, tokens = 3): ReturnType<typeof checkExpectation> =>
  checkExpectation({ ...nothing, ...expect_ }, answer(text, tokens));

describe('checkExpectation', () => {
  it('wants nothing by default', () => {
    expect(check({}, '!'.repeat(100))).toBeNull();
  });

  it('R-010: fewer tokens than the profile demands are a failure, with the true count', () => {
    expect(check({ minTokens: 2000 }, 'a', 1021)).toMatchObject({
      reason: 'expectation_failed',
      detail: { check: 'min_tokens', min_tokens: 2000, output_tokens: 1021, token_source: 'usage' },
    });
    expect(check({ minTokens: 1021 }, 'a', 1021)).toBeNull();
  });

  it('a count of chunks is named as one', () => {
    const unmet = checkExpectation({ ...nothing, minTokens: 2 }, readAll(content('a') + finish('stop')));
    expect(unmet).toMatchObject({ detail: { output_tokens: 1, token_source: 'chunks' } });
    expect(unmet?.message).toContain('chunks');
  });

  it('a pattern must be found, again and again', () => {
    const pattern = /\b4\b/g;
    for (let probe = 0; probe < 3; probe += 1) {
      expect(check({ pattern }, 'It is 4.')).toBeNull();
      expect(check({ pattern }, 'It is 5.')).toMatchObject({
        reason: 'expectation_failed',
        detail: { check: 'pattern' },
      });
    }
  });

  it('an answer must be the expected one, but for blanks around it', () => {
    expect(check({ answer: '4' }, ' 4\n')).toBeNull();
    expect(check({ answer: '4' }, '4.')).toMatchObject({ reason: 'expectation_failed', detail: { check: 'answer' } });
  });

  it('says nothing of what was answered', () => {
    const secret = 'the-secret-answer';
    for (const wanted of [{ minTokens: 99 }, { pattern: /x/ }, { answer: 'x' }]) {
      expect(JSON.stringify(check(wanted, secret))).not.toContain(secret);
    }
    expect(JSON.stringify(check({ detectDegenerate: true }, 'secret '.repeat(30)))).not.toContain('secret');
  });

  it('garbage is the reason, also where the answer is wrong too', () => {
    expect(check({ detectDegenerate: true, answer: '4', minTokens: 99 }, '!'.repeat(32))).toMatchObject({
      reason: 'degenerate_output',
      detail: { kind: 'repeated_unit', characters: 32 },
    });
  });
});

describe('findDegeneration', () => {
  it.each([
    ['exclamation marks, as logits that are not a number give', '!'.repeat(16), 'repeated_unit'],
    ['one word over and over', ' the'.repeat(16), 'repeated_unit'],
    ['a loop of a few tokens', 'of the same '.repeat(9), 'repeated_unit'],
    ['a good beginning that collapses', `Once upon a time${'!'.repeat(40)}`, 'repeated_unit'],
    ['one emoji over and over', '🙂'.repeat(12), 'repeated_unit'],
    ['replacement characters', '\ufffd'.repeat(12), 'replacement_characters'],
    [
      'replacement characters among blanks and others',
      '\ufffd\ufffd a\ufffd \ufffd\ufffd b \ufffd\ufffd',
      'replacement_characters',
    ],
    ['zero bytes', '\0'.repeat(16), 'repeated_unit'],
    ['an ordinary answer', 'The capital of France is Paris, a city on the Seine.', null],
    ['counting', Array.from({ length: 60 }, (_, index) => index).join(', '), null],
    ['numbered lines', Array.from({ length: 30 }, (_, index) => `Line number ${index}`).join('\n'), null],
    [
      'a rule of dashes in a text',
      `Title\n${'-'.repeat(20)}\n${'Some text that goes on. '.repeat(1)}and ends here.`,
      null,
    ],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |', null],
    ['a laugh', 'hahaha', null],
    ['very short', '!!!!', null],
    ['nothing', '', null],
    ['blanks only', '\n'.repeat(64), null],
    ['single replacement characters of a byte-level tokenizer', 'ab\ufffd cd ef\ufffd gh ij', null],
  ])('%s', (_, text, expected) => {
    expect(findDegeneration(text)).toBe(expected);
  });

  it('finds no garbage in what random weights wrote to any recording', () => {
    const folder = new URL('../../fixtures/streams/', import.meta.url).pathname;
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /s-(chat|completion|abort|stop)[^/]*\.body$|_stream[^/]*\.body$/.test(file),
    );
    expect(files.length).toBeGreaterThan(60);
    const found = files.filter((file) => {
      const api = file.includes('chat') ? 'chat' : file.includes('generate') ? 'sglang' : 'completions';
      return findDegeneration(readAll(readFileSync(join(folder, file)), api).text) !== null;
    });
    expect(found).toEqual([]);
  });

  it('is quick on a long answer', () => {
    const before = process.cpuUsage();
    findDegeneration(`${'ab'.repeat(200_000)}c`);
    // Processor time: the machine may be busy with other tests.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerSeed, answerText, encode, encodeChat, pieces } from '../../../src/sim/tokenizer.ts';

describe('the simulated tokenizer', () => {
  it.each([
    ['', []],
    ['hello world', ['hello', ' world']],
    ['internationalization', ['internat', 'ionaliza', 'tion']],
    ['in 2026, 12345 items!', ['in', ' 202', '6', ',', ' 123', '45', ' items', '!']],
    ['two  spaces\n\nnew', ['two', ' ', ' spaces', '\n', '\n', 'new']],
    ['naïve 日本語 🙂', ['naïve', ' 日本語', ' ', '🙂']],
  ])('cuts %j into its pieces', (text, expected) => {
    expect(pieces(text)).toEqual(expected);
  });

  it('loses nothing: the pieces of any text put together are the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(pieces(text).join('')).toBe(text);
      }),
    );
  });

  it('gives the same ids for the same text, and other ids for another text of the same length', () => {
    expect(encode('a plain text')).toEqual(encode('a plain text'));
    expect(encode('a plain text')).not.toEqual(encode('a plait next'));
  });

  it('counts an answer that comes back in a later prompt as the tokens it was', () => {
    const seed = answerSeed(encode('tell me'), 1);
    const answer = Array.from({ length: 300 }, (_, position) => answerText(seed, position)).join('');
    expect(encode(`tell me${answer}`)).toHaveLength(encode('tell me').length + 300);
  });

  it('adds four tokens a message and four to open the answer', () => {
    const one = encodeChat([{ role: 'user', content: 'hello world' }]);
    const two = encodeChat([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hello world' },
    ]);
    expect(one).toHaveLength(2 + 4 + 4);
    expect(two).toHaveLength(2 + 2 + 8 + 4);
  });

  it('says different things to different prompts and the same to the same', () => {
    const said = (text: string): string =>
      Array.from({ length: 20 }, (_, position) => answerText(answerSeed(encode(text), 1), position)).join('');
    expect(said('one question')).toBe(said('one question'));
    expect(said('one question')).not.toBe(said('another question'));
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createTextDigest } from '../../../src/probe/text-digest.ts';

describe('createTextDigest', () => {
  const sha = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 16);

  it('has no hash of nothing', () => {
    const digest = createTextDigest();
    expect(digest.hash()).toBeNull();
    expect(digest.empty).toBe(true);
    expect(digest.text()).toBe('');
  });

  it.each([
    ['short', 10],
    ['just kept whole', 65_536],
    ['one more', 65_537],
    ['long', 300_000],
  ])('hashes a %s text whole, and keeps no more than its beginning', (_, length) => {
    const text = 'abcdefghij'.repeat(length / 10 + 1).slice(0, length);
    const digest = createTextDigest();
    for (let index = 0; index < length; index += 7) digest.add(text.slice(index, Math.min(index + 7, length)));
    expect(digest.hash()).toBe(sha(text));
    expect(digest.hash()).toBe(digest.hash());
    expect(digest.text().length).toBeLessThanOrEqual(65_536);
    expect(text.startsWith(digest.text())).toBe(true);
  });

  it('a surrogate pair in two pieces hashes like the whole, wherever it falls', () => {
    for (const offset of [65_535, 65_536 + 4095, 65_536 + 4096]) {
      const text = `${'x'.repeat(offset)}🌍y`;
      const digest = createTextDigest();
      for (const unit of text.split('')) digest.add(unit);
      expect(digest.hash()).toBe(sha(text));
    }
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/security.md', 'utf8');
const rows = [...page.matchAll(/^\| ([^|]+) \| `(test\/[^`]+)`: ([^|]+) \|$/gm)].map(
  ([, claim = '', path = '', title = '']) => ({
    claim,
    path,
    title: title.trim(),
  }),
);

describe('the threat model', () => {
  it('has a test in every row', () => {
    const claims = page.split('\n').filter((line) => /^\| (?!claim |-)/.test(line));
    expect(rows.length).toBeGreaterThan(30);
    expect(claims.filter((line) => !rows.some(({ claim }) => line.startsWith(`| ${claim} |`)))).toEqual([]);
  });

  it.each(rows)('$claim', ({ path, title }) => {
    expect(existsSync(path)).toBe(true);
    // Titles in the sources may be cut by a line end or hold a placeholder; what is quoted is not.
    expect(readFileSync(path, 'utf8').replace(/\s+/g, ' ')).toContain(title);
  });
});

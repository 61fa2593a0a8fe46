import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SKIP_REASONS } from '../../src/probe/outcome.ts';
import { BACKOFF_DEFAULTS } from '../../src/schedule/backoff.ts';
import { START_ALLOWANCE_SECONDS } from '../../src/schedule/warmup.ts';

const text = readFileSync(new URL('../../docs/scheduling.md', import.meta.url), 'utf8');

describe('docs/scheduling.md', () => {
  it('explains every reason for which a tick sends nothing', () => {
    const listed = [...text.matchAll(/^\|[^|]+\| `(\w+)`/gm)].map((match) => match[1]);
    expect([...listed].sort()).toEqual([...SKIP_REASONS].sort());
  });

  it('states the bounds that the program uses', () => {
    expect(BACKOFF_DEFAULTS).toEqual({ longestSeconds: 300, orphanSeconds: 60, maxOrphans: 2 });
    expect(START_ALLOWANCE_SECONDS).toBe(600);
    for (const bound of ['five minutes at the most', 'within a minute', 'ten minutes']) expect(text).toContain(bound);
  });
});

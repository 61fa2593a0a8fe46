import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BURST_FACTOR, CLIENT_SHARE, FROZEN_SECONDS, KV_PRESSURE_RATIO } from '../../src/diagnose/diagnose.ts';
import { CAUSES } from '../../src/diagnose/types.ts';

const text = readFileSync(new URL('../../docs/causes.md', import.meta.url), 'utf8');

describe('docs/causes.md', () => {
  it('lists every cause, in the order of elimination', () => {
    const listed = [...text.matchAll(/^\| +\d+ +\| +`(\w+)` +\|/gm)].map((match) => match[1]);
    expect(listed).toEqual(CAUSES);
  });

  it('states the bounds that the rules use', () => {
    expect(text).toContain(`KV usage reached ${KV_PRESSURE_RATIO * 100} %`);
    expect(text).toContain(`for at least ${FROZEN_SECONDS} s`);
    expect(text).toContain(`late for at least ${CLIENT_SHARE * 100} %`);
    expect(BURST_FACTOR).toBe(3);
    expect(text).toContain('at least three times the usual one');
  });
});

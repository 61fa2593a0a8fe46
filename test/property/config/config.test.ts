import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeBounds } from '../../../src/config/buckets.ts';
import { readDocument } from '../../../src/config/document.ts';
import { loadConfigFile } from '../../../src/config/load.ts';
import { formatBytes, formatDuration, parseBytes, parseDuration } from '../../../src/config/quantities.ts';
import { ConfigurationError } from '../../../src/config/report.ts';
import { cleanSecret } from '../../../src/config/secret.ts';
import { nearest } from '../../../src/config/suggest.ts';

describe('quantities', () => {
  it('are read as they were written, for any whole number of milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds / 1000))).toBeCloseTo(milliseconds / 1000, 6);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (bytes) => {
        expect(parseBytes(formatBytes(bytes))).toBe(bytes);
      }),
    );
  });

  it('are never read from any other text, and never throw', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = parseDuration(text);
        expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
      }),
    );
  });
});

describe('merged bounds', () => {
  const bounds = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { maxLength: 30 });
  it('ascend strictly and hold every edge, however they are given', () => {
    fc.assert(
      fc.property(bounds, bounds, (base, edges) => {
        const merged = mergeBounds(base, edges);
        expect(merged.every((bound, index) => index === 0 || bound > (merged[index - 1] ?? 0))).toBe(true);
        for (const edge of edges) expect(merged.some((bound) => Math.abs(bound - edge) <= edge * 2e-6)).toBe(true);
      }),
    );
  });
});

describe('a configuration file', () => {
  const skeleton =
    'log: {level: info}\nprofiles:\n  - name: c\n    every: 30s\ntargets:\n  - name: a\n    url: http://127.0.0.1:8000\n    profiles: [c]\n';
  const load = (bytes: Uint8Array): unknown => {
    try {
      return loadConfigFile('f.yml', { environment: {}, files: { read: () => bytes, version: () => null } }).config;
    } catch (error) {
      if (error instanceof ConfigurationError) return error;
      throw error;
    }
  };

  it('of any bytes at all is read or refused with a place, and never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { issues } = readDocument('f.yml', bytes);
        for (const issue of issues) expect(issue.place).toMatch(/^f\.yml(?::\d+:\d+)?$/);
        load(bytes);
      }),
    );
  });

  it('with a piece taken out, doubled or replaced is read or refused, and a refusal says why', () => {
    fc.assert(
      fc.property(fc.nat(skeleton.length), fc.nat(20), fc.string({ maxLength: 8 }), (at, length, put) => {
        const text = skeleton.slice(0, at) + put + skeleton.slice(at + length);
        const result = load(new TextEncoder().encode(text));
        if (result instanceof ConfigurationError)
          expect(result.issues.some((issue) => issue.severity === 'error')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a secret', () => {
  it('is taken or refused, and what is said of it never holds a part of it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 6, maxLength: 60 }), (bytes) => {
        const reading = cleanSecret(bytes);
        if (!('problem' in reading)) {
          expect(reading.value).toMatch(/^[\x20-\x7e]+$/);
          return;
        }
        const text = new TextDecoder().decode(bytes).trim();
        for (let at = 0; at + 6 <= text.length; at += 1)
          expect(reading.problem.message).not.toContain(text.slice(at, at + 6));
      }),
    );
  });
});

describe('a suggestion', () => {
  it('is always one of the candidates, and the word itself when it is among them', () => {
    const words = fc.array(fc.stringMatching(/^[a-z_]{3,12}$/), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(words, fc.string({ maxLength: 20 }), (candidates, word) => {
        const near = nearest(word, candidates);
        expect(near === null || candidates.includes(near)).toBe(true);
        const [first = ''] = candidates;
        expect(nearest(first, candidates)?.replaceAll('_', '')).toBe(first.replaceAll('_', ''));
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBound, formatValue, renderHeading, renderLabels } from '../../../src/metrics/exposition.ts';
import { PROBE_FAMILIES } from '../../../src/metrics/probe-families.ts';
import { readPage } from '../../support/metrics-page.ts';

describe('bucket bounds', () => {
  // The right column is what Prometheus 3 makes of any of these at ingest.
  it.each([
    [1, '1.0'],
    [2.5, '2.5'],
    [0.005, '0.005'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.000025, '2.5e-05'],
    [30, '30.0'],
    [100_000, '100000.0'],
    [1_000_000, '1e+06'],
    [2_500_000, '2.5e+06'],
    [1e21, '1e+21'],
    [Number.POSITIVE_INFINITY, '+Inf'],
  ])('%d is printed as %s', (bound, text) => {
    expect(formatBound(bound)).toBe(text);
  });

  it('mean what they say: reading one gives the number back', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e12, noNaN: true }), (bound) => {
        expect(Number(formatBound(bound))).toBe(bound);
        expect(formatBound(bound)).toMatch(/[.e]/);
      }),
    );
  });
});

describe('values', () => {
  it.each([
    [0, '0'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
  ])('%d is printed as %s', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });
});

describe('labels', () => {
  it('G-086: any text survives the way to the page and back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ minLength: 1 }), (model, target) => {
        const [sample] = readPage(`x{${renderLabels({ target, model })}} 1\n`);
        expect(sample?.labels).toEqual({ target, model });
      }),
    );
  });

  it('with an empty value are left out, because to Prometheus they are the same as none', () => {
    expect(renderLabels({ target: 'a', dp_rank: '' })).toBe('target="a"');
  });
});

describe('the heading of a family', () => {
  it('names a counter with its suffix in the text format and without it in OpenMetrics', () => {
    expect(renderHeading(PROBE_FAMILIES.attempts, 'text')).toContain('# TYPE inference_probe_attempts_total counter\n');
    expect(renderHeading(PROBE_FAMILIES.attempts, 'openmetrics')).toContain(
      '# TYPE inference_probe_attempts counter\n',
    );
  });

  it('calls an info a gauge in the text format', () => {
    expect(renderHeading(PROBE_FAMILIES.targetInfo, 'text')).toContain('# TYPE inference_probe_target_info gauge\n');
    expect(renderHeading(PROBE_FAMILIES.targetInfo, 'openmetrics')).toContain('# TYPE inference_probe_target info\n');
  });

  it('keeps line breaks and backslashes of the help in one line', () => {
    const family = { ...PROBE_FAMILIES.attempts, help: 'one\ntwo \\ "three"' };
    expect(renderHeading(family, 'text').split('\n')[0]).toBe(`# HELP ${family.name} one\\ntwo \\\\ "three"`);
    expect(renderHeading(family, 'openmetrics').split('\n')[0]).toContain('\\"three\\"');
  });
});

import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnose/types.ts';
import { toEvidenceRecord } from '../../../../src/record.ts';
import { loadPageModule } from '../../../support/page-modules.ts';
import { sampleDiagnosis } from '../../../support/sample-probe.ts';

interface Format {
  readonly formatSeconds: (value: number | null) => string;
  readonly formatTick: (value: number) => string;
  readonly formatPercent: (ratio: number | null) => string;
  readonly formatCount: (value: number | null) => string;
  readonly formatAge: (seconds: number) => string;
  readonly plural: (count: number, one: string) => string;
  readonly causeName: (cause: string) => string;
  readonly causeSentence: (cause: string, evidence: object | null) => string;
  readonly evidenceRows: (evidence: object | null) => readonly (readonly [string, string])[];
  readonly describeProbe: (probe: object, profile: string) => string;
}

const page = await loadPageModule<Format>('format.js');

describe('numbers on the page', () => {
  it.each([
    [null, '–'],
    [0, '0.00 ms'],
    [0.000_42, '0.42 ms'],
    [0.0042, '4.2 ms'],
    [0.25, '250 ms'],
    [0.9994, '999 ms'],
    [0.9996, '1.00 s'],
    [2.345, '2.35 s'],
    [9.996, '10.0 s'],
    [30, '30.0 s'],
    [99.96, '100 s'],
  ])('%s s reads %s', (value, text) => {
    expect(page.formatSeconds(value)).toBe(text);
  });

  it.each([
    [0.05, '50 ms'],
    [0.1, '100 ms'],
    [2, '2 s'],
    [1.5, '1.5 s'],
  ])('the tick %s reads %s', (value, text) => {
    expect(page.formatTick(value)).toBe(text);
  });

  it('what is not known is a dash, never 0', () => {
    expect(page.formatPercent(null)).toBe('–');
    expect(page.formatCount(null)).toBe('–');
    expect(page.formatPercent(0)).toBe('0 %');
    expect(page.formatCount(131_072)).toBe('131,072');
  });

  it.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [120, '2 min'],
    [7200, '2 h'],
    [400_000, '5 d'],
  ])('%s s ago is %s', (seconds, text) => {
    expect(page.formatAge(seconds)).toBe(text);
  });

  it('one is not many', () => {
    expect(page.plural(1, 'probe')).toBe('1 probe');
    expect(page.plural(2, 'probe')).toBe('2 probes');
  });
});

describe('causes on the page', () => {
  it.each(CAUSES)('%s has a name and a sentence, with or without its evidence', (cause) => {
    expect(page.causeName(cause)).not.toBe(cause);
    expect(page.causeSentence(cause, toEvidenceRecord(sampleDiagnosis(cause).evidence))).toMatch(/^[A-Z0-9].*\.$/);
    expect(page.causeSentence(cause, null)).not.toMatch(/undefined|NaN/);
  });

  it('a cause that the page does not know yet is shown by its own name', () => {
    expect(page.causeName('solar_flare')).toBe('solar flare');
    expect(page.causeSentence('solar_flare', null)).toBe('');
  });

  it('evidence leaves out what is not known', () => {
    const rows = page.evidenceRows(
      toEvidenceRecord(sampleDiagnosis('preemption', { connectSeconds: null, zone: null }).evidence),
    );
    expect(rows.map(([name]) => name)).not.toContain('Connect');
    expect(rows.map(([name]) => name)).not.toContain('Zone');
    expect(Object.fromEntries(rows).Preemptions).toBe('+3');
    expect(page.evidenceRows(null)).toEqual([]);
  });

  it('a probe is told in one line', () => {
    const probe = {
      at: 0,
      state: 'slow',
      warmup: false,
      reason: null,
      ttft: 4.1,
      tpot: null,
      cause: 'kv_pressure',
      buffered: true,
      disturbed: false,
    };
    expect(page.describeProbe(probe, 'cold')).toMatch(
      /^\d\d:\d\d:\d\d, cold, slow, TTFT 4\.10 s, cause kv pressure, buffered$/,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { readDocument } from '../../../src/config/document.ts';
import { firstTarget, issuesOf, loadText, TARGET } from './support.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('reading a YAML file', () => {
  it('G-182: accepts a byte order mark and Windows line ends, and counts lines and columns as an editor does', () => {
    const windows = `\ufeff${TARGET}    modle: x\n`.replaceAll('\n', '\r\n');
    expect(loadText(`\ufeff${TARGET}`.replaceAll('\n', '\r\n')).config.targets).toHaveLength(1);
    expect(issuesOf(windows)).toEqual(['4:5: targets[0].modle: is not a key here; did you mean model?']);
  });

  it('refuses text that is not UTF-8 and says what to do', () => {
    const utf16 = new Uint8Array([0xff, 0xfe, 0x74, 0x00]);
    expect(issuesOf(utf16)).toEqual(
      ['/etc/probe/config.yml: is not UTF-8 text; save it as UTF-8'].map((line) =>
        line.replace('/etc/probe/config.yml:', ''),
      ),
    );
  });

  it('refuses a file of absurd size without parsing it', () => {
    const { issues } = readDocument('big.yml', new Uint8Array(5 * 1024 * 1024));
    expect(issues.map((issue) => issue.message)).toEqual(['is larger than 4194304 bytes']);
  });

  it('survives absurd nesting', () => {
    const { issues, value } = readDocument('deep.yml', bytes(`a: ${'['.repeat(20_000)}`));
    expect(value).toBeNull();
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThanOrEqual(10);
  });

  it('refuses a few bytes that stand for millions of values', () => {
    const levels = Array.from(
      { length: 9 },
      (_, index) => `l${index + 1}: &l${index + 1} [${`*l${index}, `.repeat(9)}*l${index}]`,
    );
    const { issues } = readDocument('bomb.yml', bytes(`l0: &l0 [x]\n${levels.join('\n')}\n`));
    expect(issues.map((issue) => issue.message)).toEqual(['YAML: aliases multiply too far']);
  });

  it('lets one anchor serve many targets', () => {
    const targets = Array.from(
      { length: 300 },
      (_, index) => `  - {name: t${index}, url: "http://127.0.0.1:8000", slo: *slo}`,
    );
    const { config } = loadText(`slo: &slo {ttft: {threshold: 3s}}\ntargets:\n${targets.join('\n')}\n`);
    expect(config.targets.every((target) => target.slo.ttft.thresholdSeconds === 3)).toBe(true);
    expect(config.targets).toHaveLength(300);
  });

  it('understands merge keys, and finds a value that came through one where it stands', () => {
    const text = `targets:\n  - &first\n    name: a\n    url: http://127.0.0.1:8000\n    warmup_probes: 3\n  - <<: *first\n    name: b\n`;
    expect(loadText(text).config.targets.map((target) => target.warmupProbes)).toEqual([3, 3]);
    expect(issuesOf(text.replace('3\n', 'many\n'))).toEqual([
      '5:20: targets[0].warmup_probes: must be a whole number, not a string',
      '5:20: targets[1].warmup_probes: must be a whole number, not a string',
    ]);
  });

  it('does not take words such as yes and on for switches', () => {
    expect(issuesOf(`paused: yes\n${TARGET}`)).toEqual(['1:9: paused: must be true or false, not a string']);
  });

  it('treats a key that would reach into the language as unknown', () => {
    expect(issuesOf(`__proto__: {polluted: true}\n${TARGET}`)[0]).toMatch(/^1:1: __proto__: is not a key here/);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('relative paths', () => {
  it('start from the folder of the file', () => {
    const target = firstTarget(`${TARGET}    api_key_file: secrets/key\n`, {
      others: { '/etc/probe/secrets/key': 'sk-test-1' },
    });
    expect(target.apiKey?.reveal()).toBe('sk-test-1');
  });
});

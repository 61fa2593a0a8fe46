import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cleanSecret, createFileSecret, createVariableSecret, sourceOf } from '../../../src/config/secret.ts';
import { ProbeExporterError } from '../../../src/errors.ts';
import { memoryFiles, memoryLog } from './support.ts';

const CANARY = 'sk-canary-7f3a';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('cleaning a secret', () => {
  it.each([
    ['a line end', 'sk-test-1\n', true],
    ['a Windows line end', 'sk-test-1\r\n', true],
    ['blanks on both sides', ' sk-test-1 ', true],
    ['nothing around it', 'sk-test-1', false],
  ])('G-176: takes the key out of %s', (_, text, trimmed) => {
    expect(cleanSecret(bytes(text))).toEqual({ value: 'sk-test-1', trimmed });
  });

  it('G-182: strips a byte order mark', () => {
    expect(cleanSecret(new Uint8Array([0xef, 0xbb, 0xbf, ...bytes('sk-test-1')]))).toEqual({
      value: 'sk-test-1',
      trimmed: false,
    });
  });

  it.each([
    ['smart quotes', '“sk-test-1”', 'a character that is not ASCII at character 1'],
    ['an accent further in', ' sk-té', 'a character that is not ASCII at character 6'],
    ['a line end inside', 'sk-a\nsk-b\n', 'a line end inside the key at character 5'],
    ['a tab inside', 'sk-a\tsk-b', 'a control character at character 5'],
    ['nothing', ' \n', 'is empty'],
  ])('G-182: refuses %s with its position and without its text', (_, text, message) => {
    const reading = cleanSecret(bytes(text));
    if (!('problem' in reading)) throw new Error('was accepted');
    expect(reading.problem.kind).toBe('unusable');
    expect(reading.problem.message).toContain(message);
    expect(reading.problem.message).not.toMatch(/sk-|é|“/);
  });

  it('refuses a file that is far too large to be a key', () => {
    expect(cleanSecret(new Uint8Array(100_000))).toHaveProperty('problem.kind', 'unusable');
  });
});

describe('a secret in a file', () => {
  const open = (contents?: string) => {
    const files = memoryFiles(contents === undefined ? {} : { '/s/key': contents });
    const log = memoryLog();
    return { files, log, secret: createFileSecret('/s/key', { files, log }) };
  };

  it('cannot be printed in any usual way', () => {
    const { secret } = open(CANARY);
    expect(secret.reveal()).toBe(CANARY);
    const printed = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ secret }, { depth: 9, showHidden: true, getters: true }),
      JSON.stringify(Object.entries(secret)),
      inspect(new Error('with a cause', { cause: secret })),
    ].join('\n');
    expect(printed).not.toContain(CANARY);
    expect(printed).toContain('<redacted>');
  });

  it('reads the file once, and again only after it changed', () => {
    const { secret, files } = open('one');
    expect([secret.reveal(), secret.reveal(), secret.reveal()]).toEqual(['one', 'one', 'one']);
    expect(files.reads).toHaveLength(1);
    files.write('/s/key', 'two');
    expect([secret.reveal(), secret.reveal()]).toEqual(['two', 'two']);
    expect(files.reads).toHaveLength(2);
  });

  it('G-166: refresh reads at once and says whether the key is another one', () => {
    const { secret, files } = open('one');
    secret.reveal();
    expect(secret.refresh()).toBe(false);
    files.write('/s/key', 'two');
    expect(secret.refresh()).toBe(true);
    expect(secret.refresh()).toBe(false);
  });

  it('keeps the last good value through a rotation that is half done, and says so once', () => {
    const { secret, files, log } = open('one');
    secret.reveal();
    files.remove('/s/key');
    expect([secret.reveal(), secret.reveal()]).toEqual(['one', 'one']);
    files.write('/s/key', '“two”');
    expect(secret.reveal()).toBe('one');
    expect(secret.problem()).toMatchObject({ kind: 'unusable' });
    files.write('/s/key', 'two');
    expect(secret.reveal()).toBe('two');
    expect(secret.problem()).toBeNull();
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn secret cannot be read again, the last value stays',
      'warn secret cannot be read again, the last value stays',
      'info secret changed',
    ]);
  });

  it('throws while there has never been a value, and recovers when the file comes', () => {
    const { secret, files } = open();
    expect(() => secret.reveal()).toThrow(ProbeExporterError);
    expect(() => secret.reveal()).toThrow('secret /s/key does not exist');
    files.write('/s/key', 'one');
    expect(secret.reveal()).toBe('one');
  });

  it('G-176: says that it trimmed the key, once and without the key', () => {
    const { secret, log } = open(`${CANARY}\n`);
    secret.reveal();
    secret.refresh();
    expect(log.lines).toEqual([
      { level: 'info', message: 'white space around the secret was removed', fields: { source: '/s/key' } },
    ]);
  });

  it('never puts its value into a log line', () => {
    const { secret, files, log } = open(`${CANARY}\n`);
    secret.reveal();
    files.write('/s/key', `${CANARY}\n${CANARY}`);
    secret.refresh();
    files.write('/s/key', `${CANARY}-2 `);
    secret.refresh();
    expect(log.lines).toHaveLength(4);
    expect(JSON.stringify(log.lines)).not.toContain(CANARY);
  });

  it('shows where it comes from', () => {
    expect(sourceOf(open('x').secret)).toBe('/s/key');
  });
});

describe('a secret in the environment', () => {
  it('is cleaned like one in a file', () => {
    expect(createVariableSecret('KEY', ' sk-1\n', { log: memoryLog() }).reveal()).toBe('sk-1');
  });

  it('throws with the name of the variable when it is not set', () => {
    expect(() => createVariableSecret('KEY', undefined, { log: memoryLog() }).reveal()).toThrow(
      'secret KEY is not set in the environment',
    );
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createPromptSet, type PromptPlan, promptSetHash, readPromptsFile } from '../../../src/experiment/prompts.ts';

const made = (changes: Partial<Extract<PromptPlan, { kind: 'made' }>> = {}): PromptPlan => ({
  kind: 'made',
  promptTokens: 64,
  words: 40,
  prefix: 'unique',
  seed: 'a',
  ...changes,
});

describe('made prompts', () => {
  it('are the same for the same seed, phase and index, and else differ from their first letters on', () => {
    const set = createPromptSet(made());
    expect(set('window', 3)).toBe(createPromptSet(made())('window', 3));
    const others = [set('window', 4), set('warmup', 3), createPromptSet(made({ seed: 'b' }))('window', 3)];
    for (const other of others) expect(other.slice(0, 15)).not.toBe(set('window', 3).slice(0, 15));
  });

  it('have the same number of words each', () => {
    const set = createPromptSet(made());
    const sizes = new Set([0, 1, 2, 3].map((index) => set('window', index).split(' ').length));
    expect(sizes.size).toBe(1);
  });

  it('are one prompt when the prefix is shared', () => {
    const set = createPromptSet(made({ prefix: 'shared' }));
    expect(set('window', 7)).toBe(set('warmup', 0));
  });

  it('are told apart by their hash', () => {
    const hash = promptSetHash(made());
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(promptSetHash(made())).toBe(hash);
    for (const other of [made({ seed: 'b' }), made({ words: 41 }), made({ prefix: 'shared' })]) {
      expect(promptSetHash(other)).not.toBe(hash);
    }
  });
});

describe('prompts of a file', () => {
  const prompts = ['one', 'two', 'three', 'four', 'five'];

  it('are taken each once before any is taken again, in an order that the seed decides', () => {
    const set = createPromptSet({ kind: 'file', prompts, seed: 'a' });
    const round = [0, 1, 2, 3, 4].map((index) => set('window', index));
    expect([...round].sort()).toEqual([...prompts].sort());
    expect(set('window', 5)).toBe(round[0]);
    expect(set('warmup', 0)).toBe(round[4]);
  });

  it('have a hash that knows their order', () => {
    const hash = (seed: string) => promptSetHash({ kind: 'file', prompts, seed });
    expect(hash('a')).toBe(hash('a'));
    expect(hash('a')).not.toBe(hash('b'));
  });
});

describe('reading a file of prompts', () => {
  let folder = '';
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const read = (text: string): string[] => {
    folder = mkdtempSync(join(tmpdir(), 'prompts-'));
    const path = join(folder, 'prompts.jsonl');
    writeFileSync(path, text);
    return readPromptsFile(path);
  };

  it('takes lines of text, JSON strings and objects with a prompt', () => {
    expect(
      read('plain text\n\n"a \\"string\\""\n{"prompt":"of an object"}\r\n{"text":"of another"}\n{not json\n'),
    ).toEqual(['plain text', 'a "string"', 'of an object', 'of another', '{not json']);
  });

  it('takes no byte order mark for a part of the first prompt', () => {
    expect(read('\uFEFF{"prompt":"first"}\nsecond\n')).toEqual(['first', 'second']);
  });

  it('refuses an object without one, with its line', () => {
    expect(() => read('ok\n{"question":"?"}\n')).toThrow(/prompts\.jsonl:2: an object needs a "prompt"/);
  });

  it('refuses a file without a prompt, and one that is not there', () => {
    expect(() => read('\n\n')).toThrow(/holds no prompt/);
    expect(() => readPromptsFile(join(folder, 'nowhere'))).toThrow(/cannot be read \(ENOENT\)/);
  });
});

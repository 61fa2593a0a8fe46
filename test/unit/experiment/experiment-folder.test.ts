import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskError } from '../../../src/experiment/disk-error.ts';
import {
  isComplete,
  openExperiment,
  readManifest,
  readNotes,
  setAside,
} from '../../../src/experiment/experiment-folder.ts';
import { sampleRun, writeSampleRun } from '../../support/sample-run.ts';

const PLAN = { format: 1, kind: 'sweep', repeats: 3 };

describe('the folder of an experiment', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'inference-probe-experiment-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is made with its plan, and gone on with under the same plan', () => {
    const path = join(root, 'new');
    expect(openExperiment(path, PLAN).resumed).toBe(false);
    expect(readManifest(path)).toEqual(PLAN);
    expect(openExperiment(path, PLAN).resumed).toBe(true);
  });

  it('is not taken over by another experiment', () => {
    openExperiment(root, PLAN);
    expect(() => openExperiment(root, { ...PLAN, repeats: 4 })).toThrow(/holds another experiment \(repeats differs\)/);
  });

  it('is not shared with a process that is at work in it, and not lost to one that died', () => {
    const lock = (pid: number): void =>
      writeFileSync(join(root, '.running'), JSON.stringify({ pid, host: hostname() }));
    const first = openExperiment(root, PLAN);
    lock(process.ppid);
    expect(() => openExperiment(root, PLAN)).toThrow(
      new RegExp(`is in use by process ${process.ppid}: wait for its end`),
    );
    // No system gives a process this number.
    lock(2 ** 30);
    expect(openExperiment(root, PLAN).resumed).toBe(true);
    writeFileSync(join(root, '.running'), '{"pi');
    expect(openExperiment(root, PLAN).resumed).toBe(true);
    first.close();
    expect(existsSync(join(root, '.running'))).toBe(false);
  });

  it('does not mix with other files', () => {
    writeFileSync(join(root, 'thesis.txt'), 'important');
    expect(() => openExperiment(root, PLAN)).toThrow(/holds other files/);
    expect(readFileSync(join(root, 'thesis.txt'), 'utf8')).toBe('important');
  });

  it('says when a part of its path is a file', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => openExperiment(join(root, 'file', 'below'), PLAN)).toThrow(/a part of the path is a file/);
  });

  it('keeps notes, also behind a broken last line', () => {
    const folder = openExperiment(join(root, 'new'), PLAN);
    folder.note({ cell: 'a', message: 'the start command ended' });
    writeFileSync(join(folder.path, 'notes.jsonl'), `${readFileSync(join(folder.path, 'notes.jsonl'), 'utf8')}{"cel`);
    expect(readNotes(folder.path)).toEqual([{ cell: 'a', message: 'the start command ended' }]);
  });

  it('knows complete cells from those that were cut short', () => {
    const run = { concurrency: 1, windowSeconds: 3, trimSeconds: 0.5 };
    writeSampleRun(join(root, 'done'), sampleRun(run));
    writeSampleRun(join(root, 'cut'), sampleRun({ ...run, ended: 'partial' }));
    expect(isComplete(join(root, 'done'))).toBe(true);
    expect(isComplete(join(root, 'cut'))).toBe(false);
    expect(isComplete(join(root, 'never'))).toBe(false);
  });

  it('moves what is unfinished aside and throws nothing away', () => {
    const cell = join(root, 'cell');
    for (const content of ['first', 'second']) {
      mkdirSync(cell);
      writeFileSync(join(cell, 'requests.jsonl'), content);
      setAside(cell);
    }
    expect(existsSync(cell)).toBe(false);
    expect(readFileSync(`${cell}.unfinished-1/requests.jsonl`, 'utf8')).toBe('first');
    expect(readFileSync(`${cell}.unfinished-2/requests.jsonl`, 'utf8')).toBe('second');
  });

  it('tells a path that cannot be used from a disk that takes no more', () => {
    const error = (code: string) => diskError(Object.assign(new Error('from the system'), { code }), 'x');
    expect(error('ENOSPC')).toMatchObject({ code: 'DISK_FAILED', message: 'x cannot be written: the disk is full' });
    expect(error('EFBIG')).toMatchObject({ code: 'DISK_FAILED', message: expect.stringContaining('ulimit -f') });
    expect(error('EACCES')).toMatchObject({ code: 'USAGE', message: expect.stringContaining('no permission') });
  });

  it('gives back the space that a killed run kept for its end', () => {
    const cell = join(root, 'cell');
    mkdirSync(cell);
    writeFileSync(join(cell, '.reserve'), 'space');
    setAside(cell);
    expect(existsSync(`${cell}.unfinished-1`)).toBe(true);
    expect(existsSync(`${cell}.unfinished-1/.reserve`)).toBe(false);
  });
});

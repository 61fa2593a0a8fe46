import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRunFolder } from '../../../src/experiment/run-folder.ts';
import { aRun } from '../../support/records.ts';

let base = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'run-folder-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('the folder of a run', () => {
  it('appends lines in order, and replaces the metadata', async () => {
    const path = join(base, 'a', 'run');
    const folder = await createRunFolder(path);
    folder.append('requests', '{"a":1}\n');
    void folder.flush();
    folder.append('requests', '{"a":2}\n');
    await folder.metadata(aRun());
    await folder.metadata(aRun({}, { ended: 'partial' }));
    await folder.flush();
    await folder.close();
    expect(readFileSync(join(path, 'requests.jsonl'), 'utf8')).toBe('{"a":1}\n{"a":2}\n');
    expect(JSON.parse(readFileSync(join(path, 'metadata.json'), 'utf8'))).toMatchObject({ ended: 'partial' });
    expect(folder.unsaved('requests')).toBe('');
    expect(folder.fault).toBeNull();
  });

  it('refuses a folder that has something in it', async () => {
    writeFileSync(join(base, 'something'), '');
    await expect(createRunFolder(base)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('is not empty'),
    });
  });

  it('refuses one that cannot be made, before anything is sent', async () => {
    writeFileSync(join(base, 'file'), '');
    await expect(createRunFolder(join(base, 'file', 'run'))).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('cannot be written: a part of the path is a file'),
    });
  });

  it.runIf(process.platform === 'linux')(
    'refuses one where no folder can be made, and does not try for ever',
    async () => {
      await expect(createRunFolder('/proc/nowhere/run')).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('/proc/nowhere/run cannot be written'),
      });
    },
  );

  // Every write to /dev/full fails as on a full disk.
  it.runIf(process.platform === 'linux')('keeps what a full disk does not take, and goes on answering', async () => {
    const path = join(base, 'run');
    const first = await createRunFolder(path);
    await first.close();
    for (const name of ['engine', 'client']) unlinkSync(join(path, `${name}.jsonl`));
    unlinkSync(join(path, 'requests.jsonl'));
    symlinkSync('/dev/full', join(base, 'requests.jsonl'));
    const folder = await createRunFolder(path, { requests: join(base, 'requests.jsonl') });
    folder.append('requests', '{"a":1}\n');
    await folder.flush();
    expect(folder.fault).toBe('ENOSPC');
    folder.append('requests', '{"a":2}\n');
    await folder.flush();
    await folder.close();
    expect(folder.unsaved('requests')).toBe('{"a":1}\n{"a":2}\n');
  });

  it.runIf(process.platform === 'linux')('writes after all what the disk has room for at the end', async () => {
    const path = join(base, 'run');
    const link = join(base, 'requests.jsonl');
    symlinkSync('/dev/full', link);
    const folder = await createRunFolder(path, { requests: link });
    expect(statSync(join(path, '.reserve')).size).toBeGreaterThan(2 ** 20);
    folder.append('requests', '{"a":1}\n');
    folder.append('client', '{"b":1}\n');
    await folder.flush();
    // The first file that fails blocks the others, which are in order of what depends on what.
    expect(folder.unsaved('client')).toBe('{"b":1}\n');
    await folder.rescue();
    expect(existsSync(join(path, '.reserve'))).toBe(false);
    expect(folder.unsaved('requests')).toBe('{"a":1}\n');
    expect(folder.unsaved('client')).toBe('');
    expect(readFileSync(join(path, 'client.jsonl'), 'utf8')).toBe('{"b":1}\n');
    expect(folder.fault).toBe('ENOSPC');
    await folder.close();
  });
});

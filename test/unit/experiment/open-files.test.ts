import { describe, expect, it } from 'vitest';
import { checkOpenFiles, openFilesIn } from '../../../src/experiment/open-files.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             128                  128                  processes
Max open files            1024                 4096                 files
`;

describe('the limit of open files', () => {
  it('is the one in force, where the system tells it', () => {
    expect(openFilesIn(LIMITS)).toBe(1024);
    expect(openFilesIn('Max open files            unlimited            unlimited            files')).toBeNull();
    expect(openFilesIn('')).toBeNull();
  });

  it('refuses more requests in flight than there can be connections', () => {
    expect(() => checkOpenFiles(2000, 1024)).toThrow(/2000 requests in flight .* may open 1024 files: raise the limit/);
    expect(() => checkOpenFiles(512, 1024)).not.toThrow();
    expect(() => checkOpenFiles(2000, null)).not.toThrow();
  });
});

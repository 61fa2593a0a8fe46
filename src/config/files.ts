import { readFileSync, statSync } from 'node:fs';
import { isNodeError } from './node-error.ts';

/** The files that the configuration reads. Synchronous: they are small, and read at the start or on a change. */
export interface ConfigFiles {
  /** Throws when the file cannot be read. */
  read(path: string): Uint8Array;
  /** Changes whenever the file is replaced or written, also through a symlink; null when it is not there. */
  version(path: string): string | null;
}

/** The machine's files. */
export function systemFiles(): ConfigFiles {
  return {
    read: (path) => readFileSync(path),
    version: (path) => {
      try {
        // Follows the ..data symlink of a mounted ConfigMap or Secret, whose swap changes the inode.
        const facts = statSync(path, { bigint: true });
        return `${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeNs}:${facts.ctimeNs}`;
      } catch {
        return null;
      }
    },
  };
}

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EPERM: 'may not be read by this user',
  EISDIR: 'is a directory',
  ENOTDIR: 'has a file where a directory should be in its path',
  ELOOP: 'is a symlink that leads in a circle',
};

/** Why a file could not be read, without repeating anything of its contents. */
export function describeReadFailure(error: unknown): string {
  const code = isNodeError(error) ? (error.code ?? '') : '';
  return READ_FAILURES[code] ?? `cannot be read${code === '' ? '' : ` (${code})`}`;
}

import { ProbeExporterError } from '../errors.ts';

const MEANING: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'a file has reached the size limit of this process (ulimit -f)',
  EACCES: 'no permission to write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'no folder can be made there',
  ENOTDIR: 'a part of the path is a file',
  EMFILE: 'this process may open no more files (raise ulimit -n, or have fewer requests in flight)',
  ENFILE: 'the system has no more files to open',
  EIO: 'the disk reports an error of its own (EIO)',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';

/** A code of the operating system in words. */
export const diskFault = (code: string): string => MEANING[code] ?? code;

/**
 * Errors of the disk in words. The code tells what a caller does about it: a path that cannot be used is USAGE, a disk
 * that was good and takes no more is DISK_FAILED.
 */
export function diskError(error: unknown, path: string): ProbeExporterError {
  const code = codeOf(error);
  const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(code);
  return new ProbeExporterError(
    isFull ? 'DISK_FAILED' : 'USAGE',
    `${path} cannot be written: ${diskFault(code)}${isFull ? '' : '; make it writable, or use another folder'}`,
    { cause: error },
  );
}

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isNodeError } from '../config/node-error.ts';
import { ProbeExporterError } from '../errors.ts';
import { diskError } from './disk-error.ts';

/** Says which process is at work in the folder of an experiment. */
const LOCK_FILE = '.running';

interface Holder {
  readonly pid: number;
  readonly host: string;
}

function readHolder(file: string): Holder | null {
  try {
    const { pid, host } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : null;
  } catch {
    return null;
  }
}

/** A process of another machine is not known to live; nor is one of an earlier container, whose number we now have. */
function isAtWork({ pid, host }: Holder): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isNodeError(error) && error.code === 'EPERM';
  }
}

/** Makes the file unless it is there. */
function claim(file: string): boolean {
  try {
    writeFileSync(file, `${JSON.stringify({ pid: process.pid, host: hostname() } satisfies Holder)}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isNodeError(error) && error.code === 'EEXIST') return false;
    throw diskError(error, file);
  }
}

/**
 * Keeps a second process out of the folder: it would take a cell that is being measured for one that was cut short. What
 * a crash left is passed over.
 *
 * @returns gives the folder free
 * @throws ProbeExporterError USAGE when a process is at work there
 */
export function lockFolder(path: string): () => void {
  const file = join(path, LOCK_FILE);
  const free = (): void => rmSync(file, { force: true });
  if (claim(file)) return free;
  const holder = readHolder(file);
  if (holder !== null && isAtWork(holder))
    throw new ProbeExporterError(
      'USAGE',
      `${path} is in use by process ${holder.pid}: wait for its end, or give another folder with --out (if that process is another program, remove ${file})`,
    );
  free();
  claim(file);
  return free;
}

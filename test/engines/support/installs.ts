import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the install scripts keep engines: outside the checkout, so that a second run costs nothing. */
const cacheRoot = process.env.PROBE_TEST_CACHE ?? join(homedir(), '.cache', 'inference-probe-exporter');

/**
 * Folder of a finished install whose name begins with `prefix` (the newest name when there are several), or null.
 * A half-written install is never used.
 */
export function installed(prefix: string): string | null {
  if (!existsSync(cacheRoot)) return null;
  const names = readdirSync(cacheRoot).filter(
    (name) => name.startsWith(`${prefix}-`) && existsSync(join(cacheRoot, name, '.complete')),
  );
  const newest = names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0];
  return newest === undefined ? null : join(cacheRoot, newest);
}

/** Path of Debian's program when the machine has it, else null. */
export function programPath(name: string): string | null {
  const folders = (process.env.PATH ?? '').split(':').concat('/usr/sbin');
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

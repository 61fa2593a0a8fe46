import { readFileSync } from 'node:fs';
import { ProbeExporterError } from '../errors.ts';

/** Records, log, metrics, timers and what Node itself keeps open. */
const OWN_FILES = 48;

/** The limit that is in force in the text of `/proc/self/limits`; null where there is none. */
export function openFilesIn(limits: string): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}

/** How many files and connections this process may have open; null where the system does not tell. */
export function openFilesLimit(): number | null {
  try {
    return openFilesIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return null;
  }
}

/** @throws ProbeExporterError USAGE when so many requests in flight are more connections than the process may open */
export function checkOpenFiles(inFlight: number, limit: number | null): void {
  if (limit === null || inFlight + OWN_FILES <= limit) return;
  throw new ProbeExporterError(
    'USAGE',
    `${inFlight} requests in flight need as many connections, and this process may open ${limit} files: raise the limit (ulimit -n ${inFlight + OWN_FILES}) or lower -c`,
  );
}

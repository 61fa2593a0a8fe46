import { randomBytes } from 'node:crypto';
import { constants, existsSync, mkdirSync, rmSync } from 'node:fs';
import { access, type FileHandle, open, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProbeExporterError } from '../errors.ts';
import { diskError } from './disk-error.ts';
import type { Summary } from './summary-types.ts';
import type { RunMetadata } from './types.ts';

/** The files of records of a run; one JSON object a line. */
export const RECORD_FILES = { requests: 'requests.jsonl', engine: 'engine.jsonl', client: 'client.jsonl' } as const;
export type RecordFile = keyof typeof RECORD_FILES;
export const METADATA_FILE = 'metadata.json';
const SUMMARY_FILE = 'summary.json';

// The client's last: it says how many requests were in flight, and they may be counted only once they are there.
const FLUSH_ORDER = ['requests', 'engine', 'client'] as const;

/** Writes what a run records, as it goes. No call rejects: a disk that fails is told by `fault`. */
export interface RunFolder {
  readonly path: string;
  /** Lines that are complete, each with its line end. They are on their way to the disk after the next `flush`. */
  append(file: RecordFile, lines: string): void;
  flush(): Promise<void>;
  metadata(metadata: RunMetadata): Promise<void>;
  summary(summary: Summary): Promise<void>;
  /**
   * After a fault, when the run is over: gives up the space that was kept for this, and tries once more. The fault stays
   * told; what is still not written is told by `unsaved`.
   */
  rescue(): Promise<void>;
  /** Lines that could not be written. */
  unsaved(file: RecordFile): string;
  /** Code of the first error of the disk; null while all is well. */
  readonly fault: string | null;
  close(): Promise<void>;
}

interface Appender {
  readonly handle: FileHandle;
  pending: string;
  writtenBytes: number;
}

/** Occupied from the start, so that the records of the last seconds and the report still fit onto a full disk. */
const RESERVE_FILE = '.reserve';
const RESERVE_BYTES = 4 * 1024 * 1024;

/** What a run that was killed left occupied. */
export const freeReserve = (path: string): void => rmSync(join(path, RESERVE_FILE), { force: true });

// Less than this is gone within a run of any size.
const LEAST_FREE_BYTES = 32 * 1024 * 1024;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException)?.code ?? 'unknown';

/**
 * Makes a folder and those above it. Not by `recursive`: with that Node never returns where a file system refuses a
 * folder as if its parent were missing (`/proc/x`).
 *
 * @throws the error of the system
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Somebody else was faster.
    if (!existsSync(path)) throw error;
  }
}

/**
 * Makes sure that a run can be recorded there, before anything is sent for it. Creates the folder.
 *
 * @throws ProbeExporterError USAGE when it cannot be written or has something in it; DISK_FAILED when its disk is nearly
 *   full
 */
export async function checkRunFolder(path: string): Promise<void> {
  let found: readonly string[];
  try {
    makeFolder(path);
    await access(path, constants.W_OK);
    found = await readdir(path);
  } catch (error) {
    throw diskError(error, path);
  }
  if (found.length > 0) {
    throw new ProbeExporterError('USAGE', `${path} is not empty: name another folder with --out, or remove it`);
  }
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < LEAST_FREE_BYTES) {
    const free = Math.floor((bavail * bsize) / 1024 / 1024);
    throw new ProbeExporterError('DISK_FAILED', `${path}: only ${free} MiB are free there, too little for the records`);
  }
}

/** Half a line at the end would hide the lines that are told as unsaved. */
async function cutBack({ handle, writtenBytes }: Appender): Promise<void> {
  try {
    await handle.truncate(writtenBytes);
  } catch {
    // The reader copes with a line that was cut.
  }
}

/**
 * Creates the folder of a run.
 *
 * @throws ProbeExporterError see `checkRunFolder`
 */
export async function createRunFolder(
  path: string,
  /** Records that lie elsewhere. */
  elsewhere: Partial<Readonly<Record<RecordFile, string>>> = {},
): Promise<RunFolder> {
  const appenders = {} as Record<RecordFile, Appender>;
  try {
    await checkRunFolder(path);
    for (const [file, name] of Object.entries(RECORD_FILES) as [RecordFile, string][]) {
      appenders[file] = { handle: await open(elsewhere[file] ?? join(path, name), 'a'), pending: '', writtenBytes: 0 };
    }
  } catch (error) {
    throw error instanceof ProbeExporterError ? error : diskError(error, path);
  }
  // Random, because a file system that compresses would keep nothing free for zeros. Who has no room for it or may not
  // write as much in one file goes without.
  await writeFile(join(path, RESERVE_FILE), randomBytes(RESERVE_BYTES)).catch(() => freeReserve(path));
  let fault: string | null = null;
  /** Set by a fault until `rescue`: what failed once would only be tried again and again. */
  let blocked = false;
  let queue: Promise<void> = Promise.resolve();

  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      fault ??= codeOf(error);
      blocked = true;
    }
  };
  /** One after the other: appends of one file must not overtake each other. */
  const enqueue = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(() => guarded(work));
    return queue;
  };
  const write = async (appender: Appender): Promise<void> => {
    const text = appender.pending;
    if (text === '' || blocked) return;
    try {
      await appender.handle.appendFile(text);
    } catch (error) {
      await cutBack(appender);
      throw error;
    }
    appender.writtenBytes += Buffer.byteLength(text);
    // Lines may have come while these were being written.
    appender.pending = appender.pending.slice(text.length);
  };
  /** A reader never sees half of it. */
  const replace = (name: string, value: unknown): Promise<void> =>
    enqueue(async () => {
      const target = join(path, name);
      try {
        await writeFile(`${target}.new`, `${JSON.stringify(value, null, 2)}\n`);
        await rename(`${target}.new`, target);
      } catch (error) {
        await rm(`${target}.new`, { force: true });
        throw error;
      }
    });
  const flush = (): Promise<void> =>
    enqueue(async () => {
      for (const file of FLUSH_ORDER) await write(appenders[file]);
    });

  return {
    path,
    append(file, lines) {
      appenders[file].pending += lines;
    },
    flush,
    metadata: (metadata) => replace(METADATA_FILE, metadata),
    summary: (summary) => replace(SUMMARY_FILE, summary),
    async rescue() {
      await queue;
      freeReserve(path);
      for (const file of FLUSH_ORDER) {
        blocked = false;
        await enqueue(() => write(appenders[file]));
      }
    },
    unsaved: (file) => appenders[file].pending,
    get fault() {
      return fault;
    },
    async close() {
      await queue;
      for (const { handle } of Object.values(appenders)) await guarded(() => handle.close());
      freeReserve(path);
    },
  };
}

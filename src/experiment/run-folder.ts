import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, rename, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProbeExporterError } from '../errors.ts';
import type { Summary } from './summary-types.ts';
import type { RunMetadata } from './types.ts';

/** The files of records of a run; one JSON object a line. */
export const RECORD_FILES = { requests: 'requests.jsonl', engine: 'engine.jsonl', client: 'client.jsonl' } as const;
export type RecordFile = keyof typeof RECORD_FILES;
export const METADATA_FILE = 'metadata.json';
const SUMMARY_FILE = 'summary.json';

/** Writes what a run records, as it goes. No call rejects: a disk that fails is told by `fault`. */
export interface RunFolder {
  readonly path: string;
  /** Lines that are complete, each with its line end. They are on their way to the disk after the next `flush`. */
  append(file: RecordFile, lines: string): void;
  flush(): Promise<void>;
  metadata(metadata: RunMetadata): Promise<void>;
  summary(summary: Summary): Promise<void>;
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

// Less than this is gone within a run of any size.
const LEAST_FREE_BYTES = 32 * 1024 * 1024;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException)?.code ?? 'unknown';

/**
 * Makes sure that a run can be recorded there, before anything is sent for it. Creates the folder.
 *
 * @throws ProbeExporterError USAGE when it cannot be written, has something in it, or its disk is nearly full
 */
export async function checkRunFolder(path: string): Promise<void> {
  let found: readonly string[];
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK);
    found = await readdir(path);
  } catch (error) {
    throw new ProbeExporterError('USAGE', `${path} cannot be written (${codeOf(error)})`, { cause: error });
  }
  if (found.length > 0) {
    throw new ProbeExporterError('USAGE', `${path} is not empty: name another folder with --out, or remove it`);
  }
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < LEAST_FREE_BYTES) {
    const free = Math.floor((bavail * bsize) / 1024 / 1024);
    throw new ProbeExporterError('USAGE', `${path}: only ${free} MiB are free there, too little for the records`);
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
 * @throws ProbeExporterError USAGE when it cannot be written, has something in it, or its disk is nearly full
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
    if (error instanceof ProbeExporterError) throw error;
    throw new ProbeExporterError('USAGE', `${path} cannot be written (${codeOf(error)})`, { cause: error });
  }
  let fault: string | null = null;
  let queue: Promise<void> = Promise.resolve();

  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      fault ??= codeOf(error);
    }
  };
  /** One after the other: appends of one file must not overtake each other. */
  const enqueue = (work: () => Promise<void>): Promise<void> => {
    queue = queue.then(() => guarded(work));
    return queue;
  };
  const write = async (appender: Appender): Promise<void> => {
    const text = appender.pending;
    if (text === '' || fault !== null) return;
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
      await writeFile(`${target}.new`, `${JSON.stringify(value, null, 2)}\n`);
      await rename(`${target}.new`, target);
    });

  return {
    path,
    append(file, lines) {
      appenders[file].pending += lines;
    },
    flush: () =>
      enqueue(async () => {
        // The client's last: it says how many requests were in flight, and they may be counted only once they are there.
        for (const file of ['requests', 'engine', 'client'] as const) await write(appenders[file]);
      }),
    metadata: (metadata) => replace(METADATA_FILE, metadata),
    summary: (summary) => replace(SUMMARY_FILE, summary),
    unsaved: (file) => appenders[file].pending,
    get fault() {
      return fault;
    },
    async close() {
      await queue;
      for (const { handle } of Object.values(appenders)) await guarded(() => handle.close());
    },
  };
}

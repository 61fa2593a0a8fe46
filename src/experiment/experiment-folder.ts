import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ProbeExporterError } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { lockFolder } from './folder-lock.ts';
import { freeReserve, makeFolder } from './run-folder.ts';

const MANIFEST = 'experiment.json';
const NOTES = 'notes.jsonl';

/** Something that happened to a cell: why it is missing, or what to know of it. */
export interface ExperimentNote {
  readonly cell: string;
  readonly message: string;
}

export interface ExperimentFolder {
  readonly path: string;
  /** Cells that were measured completely before: a run that goes on. */
  readonly resumed: boolean;
  /** Folder of a cell. */
  cell(name: string): string;
  note(note: ExperimentNote): void;
  /** Nothing more is written: another process may go on here. */
  close(): void;
}

const usage = (message: string, cause?: unknown): ProbeExporterError =>
  new ProbeExporterError('USAGE', message, cause === undefined ? {} : { cause });

/** Through a file beside it, so that a crash leaves the old one or the new one, never half of one. @throws DISK_FAILED or USAGE */
export function writeWhole(file: string, text: string): void {
  try {
    writeFileSync(`${file}.part`, text);
    renameSync(`${file}.part`, file);
  } catch (error) {
    // Half of it is of no use, and its space may be needed for what comes next.
    rmSync(`${file}.part`, { force: true });
    throw diskError(error, file);
  }
}

/** The plan in a folder; null when there is none. @throws USAGE when it cannot be read */
export function readManifest(path: string): unknown {
  const file = join(path, MANIFEST);
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw usage(`${file} cannot be read as JSON`, error);
  }
}

export function readNotes(path: string): readonly ExperimentNote[] {
  const file = join(path, NOTES);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as ExperimentNote];
      } catch {
        // The last line of a crash.
        return [];
      }
    });
}

/** An object or an array: what has parts that can be compared one by one. */
const hasParts = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Where two experiments differ, as paths into them; the first few. */
function differences(before: unknown, wanted: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(before, wanted)) return [];
  if (!hasParts(before) || !hasParts(wanted)) return [`${path === '' ? 'all of it' : path} differs`];
  const keys = new Set([...Object.keys(before), ...Object.keys(wanted)]);
  return [...keys]
    .flatMap((key) => differences(before[key], wanted[key], path === '' ? key : `${path}.${key}`))
    .slice(0, 3);
}

/**
 * Opens a folder for an experiment: a new one, or one in which the same experiment was begun before.
 *
 * @throws ProbeExporterError USAGE: another experiment, other files or another process are there, or it cannot be
 *   written
 */
export function openExperiment(path: string, plan: unknown): ExperimentFolder {
  const before = readManifest(path);
  const wanted = JSON.parse(JSON.stringify(plan)) as unknown;
  if (before !== null && !isDeepStrictEqual(before, wanted))
    throw usage(
      `${path} holds another experiment (${differences(before, wanted).join(', ')}): give a new folder with --out, or the same settings to go on with it`,
    );
  try {
    if (before === null && existsSync(path) && readdirSync(path).length > 0)
      throw usage(`${path} holds other files: give a new folder with --out`);
    makeFolder(join(path, 'runs'));
  } catch (error) {
    throw error instanceof ProbeExporterError ? error : diskError(error, path);
  }
  const unlock = lockFolder(path);
  if (before === null) writeWhole(join(path, MANIFEST), `${JSON.stringify(wanted, null, 2)}\n`);
  return {
    path,
    resumed: before !== null,
    cell: (name) => join(path, 'runs', name),
    close: unlock,
    note: (note) => {
      try {
        appendFileSync(join(path, NOTES), `${JSON.stringify(note)}\n`);
      } catch (error) {
        throw diskError(error, join(path, NOTES));
      }
    },
  };
}

/** Whether a cell was measured to its end. */
export function isComplete(folder: string): boolean {
  try {
    const { ended } = JSON.parse(readFileSync(join(folder, 'metadata.json'), 'utf8')) as { readonly ended?: unknown };
    return ended === 'complete';
  } catch {
    return false;
  }
}

/** Moves what an earlier, unfinished run of a cell left out of the way: it is no result, but nothing is thrown away. */
export function setAside(folder: string): void {
  if (!existsSync(folder)) return;
  let number = 1;
  while (existsSync(`${folder}.unfinished-${number}`)) number += 1;
  try {
    freeReserve(folder);
    renameSync(folder, `${folder}.unfinished-${number}`);
  } catch (error) {
    throw diskError(error, folder);
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProbeExporterError } from '../errors.ts';
import { readLinesOf } from './read-lines.ts';
import { METADATA_FILE, RECORD_FILES, type RecordFile } from './run-folder.ts';
import type { RunRecords } from './summary.ts';
import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata } from './types.ts';

/** The records of a run folder, as far as they can be read. */
export interface ReadRun extends RunRecords {
  /** Lines that are no record, such as the last one of a run that was killed while it wrote. */
  readonly damagedLines: number;
}

export interface ParsedLines<T> {
  readonly records: readonly T[];
  /** Lines that are no record. */
  readonly damaged: number;
}

/** Numbers without which a line is no record. */
const NEEDED: Readonly<Record<RecordFile, readonly string[]>> = {
  requests: ['index', 'beganAtSeconds', 'endedAtSeconds'],
  engine: ['atSeconds'],
  client: ['atSeconds', 'worker'],
};

const isRecord = (value: Record<string, unknown>, file: RecordFile): boolean =>
  NEEDED[file].every((key) => typeof value[key] === 'number') &&
  (file !== 'requests' || Array.isArray(value.gapsMicroseconds));

/** Records in the order of the lines; empty lines are nothing. */
export function parseLines<T>(lines: Iterable<string>, file: RecordFile): ParsedLines<T> {
  const records: T[] = [];
  let damaged = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    try {
      const value = JSON.parse(line) as Record<string, unknown>;
      if (isRecord(value, file)) records.push(value as T);
      else damaged += 1;
    } catch {
      damaged += 1;
    }
  }
  return { records, damaged };
}

function readLines<T>(folder: string, file: RecordFile): ParsedLines<T> {
  const path = join(folder, RECORD_FILES[file]);
  return parseLines<T>(existsSync(path) ? readLinesOf(path) : [], file);
}

export function readMetadata(folder: string): RunMetadata {
  const file = join(folder, METADATA_FILE);
  if (!existsSync(file) && existsSync(join(folder, RECORD_FILES.requests)))
    throw new ProbeExporterError('USAGE', `${folder} holds no ${METADATA_FILE}: that run was killed before it began`);
  let metadata: Partial<RunMetadata>;
  try {
    metadata = JSON.parse(readFileSync(file, 'utf8')) as Partial<RunMetadata>;
  } catch (error) {
    throw new ProbeExporterError('USAGE', `${file} cannot be read: is this the folder of a run?`, { cause: error });
  }
  if (metadata.format !== 1 || metadata.plan === undefined || metadata.phases === undefined)
    throw new ProbeExporterError('USAGE', `${file} is no metadata of a run in a format that this version knows`);
  return metadata as RunMetadata;
}

/** What is in the files of records: files that are missing are empty, lines that are broken are counted and passed over. */
export function readRecords(folder: string): Omit<ReadRun, 'metadata'> {
  const requests = readLines<RequestRecord>(folder, 'requests');
  const engine = readLines<EngineRecord>(folder, 'engine');
  const client = readLines<ClientRecord>(folder, 'client');
  return {
    requests: requests.records,
    engine: engine.records,
    client: client.records,
    damagedLines: requests.damaged + engine.damaged + client.damaged,
  };
}

/**
 * Reads the records of a run, also of one that crashed.
 *
 * @throws ProbeExporterError USAGE when there is no readable metadata.json
 */
export const readRun = (folder: string): ReadRun => ({ metadata: readMetadata(folder), ...readRecords(folder) });

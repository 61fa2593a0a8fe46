import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProbeExporterError } from '../errors.ts';
import type { RunRecords } from './summary.ts';
import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata } from './types.ts';

/** The records of a run folder, as far as they can be read. */
export interface ReadRun extends RunRecords {
  /** Lines that are no record, such as the last one of a run that was killed while it wrote. */
  readonly damagedLines: number;
}

interface Lines<T> {
  readonly records: readonly T[];
  readonly damaged: number;
}

/** Records in the order of the file. A line is a record when it is a JSON object with all of the `needed` numbers. */
function readLines<T>(file: string, needed: readonly string[]): Lines<T> {
  if (!existsSync(file)) return { records: [], damaged: 0 };
  const records: T[] = [];
  let damaged = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '') continue;
    try {
      const value = JSON.parse(line) as Record<string, unknown>;
      if (needed.some((key) => typeof value[key] !== 'number')) damaged += 1;
      else records.push(value as T);
    } catch {
      damaged += 1;
    }
  }
  return { records, damaged };
}

function readMetadata(folder: string): RunMetadata {
  const file = join(folder, 'metadata.json');
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

/**
 * Reads the records of a run, also of one that crashed: files that are missing are empty, lines that are broken are
 * counted and passed over.
 *
 * @throws ProbeExporterError USAGE when there is no readable metadata.json
 */
export function readRun(folder: string): ReadRun {
  const metadata = readMetadata(folder);
  const requests = readLines<RequestRecord>(join(folder, 'requests.jsonl'), [
    'index',
    'beganAtSeconds',
    'endedAtSeconds',
  ]);
  const engine = readLines<EngineRecord>(join(folder, 'engine.jsonl'), ['atSeconds']);
  const client = readLines<ClientRecord>(join(folder, 'client.jsonl'), ['atSeconds', 'worker']);
  return {
    metadata,
    requests: requests.records,
    engine: engine.records,
    client: client.records,
    damagedLines: requests.damaged + engine.damaged + client.damaged,
  };
}

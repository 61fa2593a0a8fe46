import { constants } from 'node:buffer';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRun } from '../../../src/experiment/read-run.ts';
import { sampleRun, writeSampleRun } from '../../support/sample-run.ts';

describe('records of a run on the disk', () => {
  let folder = '';
  const records = sampleRun({ concurrency: 2, windowSeconds: 6, trimSeconds: 1 });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inference-probe-run-'));
    writeSampleRun(folder, records);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('come back as they were written', () => {
    expect(readRun(folder)).toEqual({ ...records, damagedLines: 0 });
  });

  it('survive a last line that was cut off', () => {
    appendFileSync(join(folder, 'requests.jsonl'), '{"index":99,"beganAtSec');
    const read = readRun(folder);
    expect(read.damagedLines).toBe(1);
    expect(read.requests).toEqual(records.requests);
  });

  it('survive lines that are JSON but no record', () => {
    appendFileSync(join(folder, 'engine.jsonl'), 'null\n[]\n{"atSeconds":"soon"}\n');
    expect(readRun(folder)).toMatchObject({ damagedLines: 3, engine: records.engine });
    appendFileSync(join(folder, 'requests.jsonl'), '{"index":1,"beganAtSeconds":5,"endedAtSeconds":6}\n');
    expect(readRun(folder)).toMatchObject({ damagedLines: 4, requests: records.requests });
  });

  it('survive a file that is longer than any string, with an end of zeros', () => {
    const file = join(folder, 'requests.jsonl');
    truncateSync(file, constants.MAX_STRING_LENGTH + 1e6);
    const read = readRun(folder);
    expect(read.requests).toEqual(records.requests);
    expect(read.damagedLines).toBe(1);
  });

  it('come back whole where they lie across two reads', () => {
    const file = join(folder, 'requests.jsonl');
    const text = readFileSync(file, 'utf8').trimEnd();
    const [first = ''] = text.split('\n');
    // Letters of two bytes, so that some are cut by the end of a read.
    const long = JSON.stringify({ ...JSON.parse(first), id: 'ü'.repeat(1_500_001) });
    writeFileSync(file, `${text}\n${long}\n${first}`);
    const read = readRun(folder);
    expect(read.damagedLines).toBe(0);
    expect(read.requests).toEqual([...records.requests, JSON.parse(long), JSON.parse(first)]);
  });

  it('are empty where a file is missing', () => {
    rmSync(join(folder, 'engine.jsonl'));
    expect(readRun(folder).engine).toEqual([]);
  });

  it('are refused without readable metadata', () => {
    writeFileSync(join(folder, 'metadata.json'), '{"format":1');
    expect(() => readRun(folder)).toThrow(/metadata\.json cannot be read/);
    writeFileSync(join(folder, 'metadata.json'), '{"format":2}');
    expect(() => readRun(folder)).toThrow(/format that this version knows/);
    rmSync(join(folder, 'metadata.json'));
    expect(() => readRun(folder)).toThrow(/holds no metadata\.json: that run was killed before it began/);
  });
});

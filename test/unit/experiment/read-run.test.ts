import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

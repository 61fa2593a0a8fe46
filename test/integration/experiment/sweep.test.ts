import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SweepRig, simulatorUnderSweep } from '../../support/sweep-rig.ts';

describe('a sweep on the simulated engine', () => {
  let rig: SweepRig | null = null;
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'inference-probe-sweep-'));
  });
  afterEach(async () => {
    await rig?.close();
    rmSync(path, { recursive: true, force: true });
  });

  it('finds the knee within one level of where the batch is full', async () => {
    rig = await simulatorUnderSweep({ maxNumSeqs: 4 }, path);
    const found = await rig.sweep({ axis: { kind: 'concurrency', levels: [2, 4, 8], from: 1, to: 8 } });
    // The batch holds 4, so requests wait from the next level on. What that brings is the time between two answers, which
    // lies about where it begins to be worth a queue.
    const [{ knee, points } = { knee: null, points: null }] = found.prompts;
    expect(knee, knee?.why).toMatchObject({ kind: 'found', level: expect.toBeOneOf([4, 8]) });
    const level = knee?.kind === 'found' ? knee.level : Number.NaN;
    expect(points).toMatchObject({ latencyFirst: level / 2, throughputFirst: level });
  }, 60_000);
});

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
    // The batch holds 4: requests wait from the next level on.
    expect(found.prompts[0]?.knee).toMatchObject({ kind: 'found', level: 8 });
    expect(found.prompts[0]?.points).toMatchObject({ latencyFirst: 4, throughputFirst: 8 });
  }, 60_000);
});

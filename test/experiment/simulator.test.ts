import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SweepRig, simulatorUnderSweep } from '../support/sweep-rig.ts';

const LOAD = {
  concurrency: 4,
  windowSeconds: 8,
  trimSeconds: 1,
  warmupMaxSeconds: 4,
  maxOutputTokens: 24,
  prefix: 'unique',
  respectEos: false,
  slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
} as const;

describe('sweeps of the simulated engine with longer windows', () => {
  let rig: SweepRig | null = null;
  let path = '';
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'inference-probe-sweep-'));
  });
  afterEach(async () => {
    await rig?.close();
    rmSync(path, { recursive: true, force: true });
  });

  it('find the knee within one level of where the batch is full, for short and for long prompts', async () => {
    rig = await simulatorUnderSweep({ maxNumSeqs: 4 }, path);
    const found = await rig.sweep({
      prompts: [
        { name: 'short', promptTokens: 16 },
        { name: 'long', promptTokens: 160 },
      ],
      axis: { kind: 'concurrency', levels: [1, 2, 4, 8, 16], from: 1, to: 16 },
      load: LOAD,
    });
    const level = expect.toBeOneOf([4, 8]);
    for (const { knee } of found.prompts) expect(knee, knee.why).toMatchObject({ kind: 'found', level });
  });

  it('call underload by its name', async () => {
    rig = await simulatorUnderSweep({ maxNumSeqs: 32 }, path);
    const found = await rig.sweep({ axis: { kind: 'concurrency', levels: [1, 2, 4], from: 1, to: 4 }, load: LOAD });
    expect(found.prompts[0]?.knee).toMatchObject({ kind: 'none' });
    expect(found.prompts[0]?.knee.why).toContain('underload');
  });

  it('double until the engine preempts, and no further', async () => {
    // 11 usable blocks of 16 tokens, and each request comes to need 4 of them.
    rig = await simulatorUnderSweep({ maxModelLen: 160, numGpuBlocks: 12, maxNumSeqs: 32 }, path);
    const found = await rig.sweep({
      axis: { kind: 'concurrency', levels: null, from: 1, to: 64 },
      load: { ...LOAD, maxOutputTokens: 40 },
    });
    const last = found.prompts[0]?.levels.at(-1);
    expect(last?.figures?.preemptions).toBeGreaterThan(0);
    expect(last?.value).toBeLessThanOrEqual(8);
    expect(rig.said.join('\n')).toContain('no higher level, the engine preempts');
  });
});

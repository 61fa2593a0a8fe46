import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_SIMULATOR } from '../../../src/sim/options.ts';
import { type Simulator, startSimulator } from '../../../src/sim/server.ts';
import { fakeContext } from '../../support/cli-context.ts';

let directory = '';
let simulator: Simulator;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'inference-probe-online-'));
  simulator = await startSimulator({ ...DEFAULT_SIMULATOR, port: 0 }, { clock: systemClock(), log: silentLogger() });
});
afterAll(async () => {
  await simulator.close();
  rmSync(directory, { recursive: true, force: true });
});

async function check(text: string): Promise<string> {
  const path = join(directory, 'config.yml');
  writeFileSync(path, text);
  const context = fakeContext();
  expect(await runCli(['check', '--online', '--config.file', path], context)).toBe(0);
  return context.output();
}

describe('check --online', () => {
  it('says what the endpoint is and what fits into its KV cache, and makes it generate nothing', async () => {
    const out = await check(`targets: [{name: sim, url: "${simulator.url.origin}", profiles: [cold]}]\n`);
    expect(out).toContain('engine vllm 0.32.0+simulated, model simulated-8b, API completions or chat');
    // 1537 blocks of 16 tokens.
    expect(out).toContain('KV cache: 24,592 tokens (as the engine says)');
    expect(out).toContain('cold: 153 probes of 160 tokens fit at once');
    const page = await (await fetch(`${simulator.url.origin}/metrics`)).text();
    expect(page).toMatch(/^vllm:generation_tokens_total\{.*\} 0(?:\.0)?$/m);
  });

  it('R-009: warns of a model that is not listed, and of a prompt that does not fit', async () => {
    const out = await check(
      `targets: [{name: sim, url: "${simulator.url.origin}", model: nope, profiles: [{name: big, every: 1h, prompt_tokens: 9000}]}]\n`,
    );
    expect(out).toContain('warning: model nope is not in the list of models: simulated-8b');
    expect(out).toContain('warning: profile big wants 9032 tokens, the model takes 8192');
  });

  it('says that an endpoint does not answer, and succeeds: the configuration is not at fault', async () => {
    const out = await check('targets: [{name: gone, url: "http://127.0.0.1:1"}]\n');
    expect(out).toMatch(/engine unknown, model unknown/);
    expect(out).toContain('warning: lists no model, and none is configured: set model');
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readRun } from '../../src/experiment/read-run.ts';
import type { AnalysedPrompt } from '../../src/experiment/sweep-analyse.ts';
import { forgetClient } from '../support/sweep-rig.ts';
import { type RunningEngine, startDynamo } from './support/engines.ts';
import { installed } from './support/installs.ts';
import { fetchPage } from './support/metrics-page.ts';
import { program } from './support/program.ts';

const venv = installed('dynamo');
if (venv === null) console.warn('SKIPPED: Dynamo is not installed; test/engines/install/dynamo.sh installs it');

/** What the worker's page said at an instant (Unix seconds), read by the test itself. */
interface Seen {
  readonly at: number;
  readonly waiting: number;
  readonly preemptions: number;
}

/** Reads the page over and over until it is stopped. */
function watch(url: string): { stop(): Promise<readonly Seen[]> } {
  const seen: Seen[] = [];
  let over = false;
  const reading = (async () => {
    while (!over) {
      // A page that could not be had is one look less; without any, the figures below are none.
      const page = await fetchPage(url).catch(() => null);
      if (page !== null) {
        seen.push({
          at: Date.now() / 1000,
          waiting: page.sum('vllm:num_requests_waiting') ?? 0,
          preemptions: page.sum('vllm:num_preemptions_total') ?? 0,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  return {
    stop: async () => {
      over = true;
      await reading;
      return seen;
    },
  };
}

interface Level {
  readonly level: number;
  readonly waitingShare: number;
  readonly preemptions: number;
}

/** The same of one run's trimmed window, from what the test has seen. */
function levelOf(seen: readonly Seen[], folder: string, level: number): Level {
  const { metadata } = readRun(folder);
  const origin = Date.parse(metadata.origin) / 1000;
  const { from, to } = metadata.phases.window;
  const trim = metadata.plan.trimSeconds;
  const within = seen.filter(({ at }) => at >= origin + (from ?? 0) + trim && at <= origin + (to ?? 0) - trim);
  return {
    level,
    waitingShare: within.filter(({ waiting }) => waiting > 0).length / within.length,
    preemptions: (within.at(-1)?.preemptions ?? 0) - (within[0]?.preemptions ?? 0),
  };
}

const LIMIT = { limitSeconds: 170 };

describe.skipIf(venv === null)("a sweep of Dynamo's simulated vLLM", () => {
  let engine: RunningEngine | null = null;
  const folder = mkdtempSync(join(tmpdir(), 'inference-probe-dynamo-sweep-'));
  afterEach(async () => {
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function sweep(args: readonly string[], levels: readonly number[]) {
    engine = await startDynamo({ venv: venv ?? '', args });
    const path = join(folder, 'sweep');
    const flags = ['--in-tokens', '64', '--max-out', '192', '--levels', levels.join(','), '--repeats', '1'];
    const lengths = ['-d', '9', '--trim', '1.5', '--warmup', '3', '--cooldown', '0'];
    const target = ['--url', engine.url, '--metrics-url', engine.metricsUrl];
    const watching = watch(engine.metricsUrl);
    const seen: Seen[] = [];
    const { output, errors } = await program(
      ['sweep', ...target, ...flags, ...lengths, '--seed', '1', '--yes', '--out', path],
      LIMIT,
    ).finally(async () => {
      seen.push(...(await watching.stop()));
    });
    expect(output, errors).toMatch(/records and report/);
    const cells = levels.map((level) => join(path, 'runs', 'tokens-64', `level-${level}`, 'repeat-1'));
    for (const cell of cells) forgetClient(cell);
    await program(['report', path], LIMIT);
    const { prompts } = JSON.parse(readFileSync(join(path, 'summary.json'), 'utf8')) as {
      prompts: readonly AnalysedPrompt[];
    };
    const [found] = prompts;
    if (found === undefined) throw new Error('the sweep has no prompt size');
    const truth = levels.map((level, index) => levelOf(seen, cells[index] ?? '', level));
    return { found, truth, report: readFileSync(join(path, 'report.md'), 'utf8') };
  }

  it('ends with the last level at which its own counter shows no preemption', async () => {
    // 64 blocks of 16 tokens, and a request needs 4 at first and 16 in the end: four fit, eight do not.
    const { found, truth, report } = await sweep([], [2, 4, 8]);
    expect(truth.map(({ level, preemptions }) => [level, preemptions > 0])).toEqual([
      [2, false],
      [4, false],
      [8, true],
    ]);
    expect(found.knee, found.knee.why).toMatchObject({ kind: 'found', level: 4 });
    expect(found.knee.why).toContain('the last level without preemptions');
    expect(report).toContain('knee at 4');
    for (const { level, preemptions } of truth) {
      const told = found.levels.find(({ value }) => value === level)?.figures?.preemptions;
      expect((told ?? 0) > 0, `preemptions at ${level}`).toBe(preemptions > 0);
    }
  });

  it('ends where its own queue begins, when the cache is large and the batch small', async () => {
    const { found, truth } = await sweep(['--num-gpu-blocks-override', '2048', '--max-num-seqs', '5'], [2, 4, 8]);
    expect(truth.every(({ preemptions }) => preemptions === 0)).toBe(true);
    // Five fit into a batch, so the queue begins between the last two levels. An arrival waits for the end of a step, too:
    // on a busy machine that is long enough to be seen at the lower one.
    const [, , full] = truth;
    expect(full?.waitingShare).toBeGreaterThan(0.9);
    expect(found.knee, found.knee.why).toMatchObject({ kind: 'found', level: expect.toBeOneOf([4, 8]) });
    const atKnee = truth.find(({ level }) => found.knee.kind === 'found' && level === found.knee.level);
    expect(atKnee?.waitingShare).toBeGreaterThan(0);
    expect(found.knee.why).toContain('requests begin to wait');
  });
});

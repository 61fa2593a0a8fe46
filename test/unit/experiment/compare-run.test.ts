import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProbeExporterError } from '../../../src/errors.ts';
import { readComparison } from '../../../src/experiment/compare-read.ts';
import { runComparison } from '../../../src/experiment/compare-run.ts';
import type { ComparePlan } from '../../../src/experiment/compare-types.ts';
import { openExperiment, readNotes } from '../../../src/experiment/experiment-folder.ts';
import { comparisonVerdicts } from '../../../src/experiment/report-compare.ts';
import { writeReport } from '../../../src/experiment/report-write.ts';
import { type FakeLoad, type FakeOptions, fakeLoad } from '../../support/fake-load.ts';
import { loadRequest } from '../../support/load-request.ts';
import { samplePlan } from '../../support/sample-comparison.ts';

const repeatOf = (folder: string): number => Number(/repeat-(\d+)/.exec(folder)?.[1] ?? 0);

/** Both are alike without a cache; with it b gains more. Repeats scatter by 1 %. */
const cacheHelps = (folder: string, noise = 0.01) => ({
  concurrency: 4,
  windowSeconds: 12,
  trimSeconds: 1,
  ttftSeconds: folder.includes('cache-on') ? 0.05 : 0.3,
  tpotSeconds:
    0.02 *
    (folder.includes('/cache-on') ? (folder.includes('/b/') ? 0.6 : 0.75) : 1) *
    (1 + noise * (repeatOf(folder) - 2)),
});

describe('a comparison', () => {
  let path = '';
  let events: string[] = [];
  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'inference-probe-compare-')), 'comparison');
    events = [];
  });
  afterEach(() => rmSync(join(path, '..'), { recursive: true, force: true }));

  async function compare(plan: ComparePlan, load: FakeLoad, fails = (_command: string): boolean => false) {
    await runComparison(plan, openExperiment(path, plan), {
      ...load.deps,
      requestOf: ({ url }) => loadRequest(url, plan.load),
      startEngine: ({ command }) => {
        if (fails(command)) return Promise.reject(new ProbeExporterError('USAGE', 'the engine was not ready'));
        events.push(command);
        return Promise.resolve({ stop: () => Promise.resolve(void events.push('stop')), ended: () => null });
      },
    });
    return readComparison(path, plan);
  }
  const load = (changes: Partial<FakeOptions> = {}): FakeLoad =>
    fakeLoad({ engine: (_, folder) => cacheHelps(folder), ...changes });

  it('says what the difference is due to, and claims nothing for what is noise', async () => {
    const found = await compare(samplePlan(), load());
    const [throughput] = found.levels[0]?.quantities ?? [];
    const effect = (name: string) => throughput?.effects.find((one) => one.name === name);
    expect(effect('cache')).toMatchObject({ significant: true });
    expect(effect('cache')?.ratio).toBeGreaterThan(0.3);
    expect(effect('chunked')).toMatchObject({ significant: false });
    expect(effect('b instead of a x cache')).toMatchObject({ significant: true });
    const [sentence] = comparisonVerdicts(found);
    expect(sentence).toMatch(/with cache off the difference is within the noise \(.*\), with it on it is \+\d.* %/);
    expect(sentence).toMatch(/cache gives a \+\d.* and b \+\d/);
  });

  it('starts the engine with the switches of each cell and stops it after', async () => {
    const measuring = load();
    const found = await compare(samplePlan({ repeats: 1 }), measuring);
    expect(found).toMatchObject({ measured: 8, planned: 8 });
    expect(events.filter((event) => event === 'stop')).toHaveLength(8);
    expect(events.filter((event) => event !== 'stop').toSorted()[0]).toBe('serve a --cache --chunked');
    expect(new Set(events.filter((event) => event !== 'stop')).size).toBe(8);
  });

  it('goes on where it ended, measuring nothing twice and losing nothing', async () => {
    const stop = new AbortController();
    const cut = load({
      signal: stop.signal,
      before: () => {
        if (cut.measured.length === 5) stop.abort();
      },
    });
    const partial = await compare(samplePlan(), cut);
    expect(partial.measured).toBe(5);
    writeReport(path);
    expect(readFileSync(join(path, 'report.md'), 'utf8')).toContain('5 of 24 runs are complete');
    const rest = load();
    const whole = await compare(samplePlan(), rest);
    expect(whole.measured).toBe(24);
    expect(rest.measured).toHaveLength(19);
    const cells = [...cut.measured.slice(0, 5), ...rest.measured].map((folder) => relative(path, folder));
    expect(new Set(cells).size).toBe(24);
  });

  it('starts no engine for what is complete', async () => {
    await compare(samplePlan({ repeats: 1 }), load());
    events = [];
    await compare(samplePlan({ repeats: 1 }), load());
    expect(events).toEqual([]);
  });

  it('refuses sides that are not aligned, and stops the engine that it has started', async () => {
    const other = load({
      prepare: ({ target }) => ({ plan: { model: target.url.port === '8001' ? 'other' : 'tiny' } as never }),
    });
    await expect(compare(samplePlan(), other)).rejects.toThrow(
      /cannot be compared: the model is \w+ at \w and \w+ at \w.*write "allow: \[model\]"/,
    );
    expect(events.at(-1)).toBe('stop');
    const allowed = await compare(samplePlan({ repeats: 1, allow: ['model'] }), load()).catch(
      (error: Error) => error.message,
    );
    expect(allowed).toContain('holds another experiment');
  });

  it('warns loudly when the sides did not do the same work', async () => {
    const found = await compare(
      samplePlan({ repeats: 1 }),
      load({ engine: (_, folder) => ({ ...cacheHelps(folder), outputTokens: folder.includes('/b/') ? 60 : 64 }) }),
    );
    expect(comparisonVerdicts(found)[0]).toContain(
      'did not do the same work: the mean output is 60.0 tokens at b and 64.0 at a',
    );
    writeReport(path);
    expect(readFileSync(join(path, 'report.html'), 'utf8')).toContain('The sides did not do the same work');
  });

  it('says what to look at first when the repeats of a cell scatter', async () => {
    const scattered = (_: unknown, folder: string) => ({
      ...cacheHelps(folder, folder.includes('/a/cache-off_chunked-off') ? 0.1 : 0),
      preemptionsPerSecond: repeatOf(folder) === 3 ? 1 : 0,
    });
    await compare(samplePlan(), load({ engine: scattered }));
    writeReport(path);
    const report = readFileSync(join(path, 'report.md'), 'utf8');
    expect(report).toContain('1 cell of 8 not repeatable within 5 %');
    expect(report).toMatch(/^\d\. preemptions differ between the repeats \(0 to \d+\)/m);
  });

  it('blames the machine and not a set-up when all of them drift together', async () => {
    const report = async (noiseOf: (folder: string) => number): Promise<string> => {
      await compare(samplePlan(), load({ engine: (_, folder) => cacheHelps(folder, noiseOf(folder)) }));
      writeReport(path);
      return readFileSync(join(path, 'report.md'), 'utf8');
    };
    const together = await report(() => 0.1);
    expect(together).toContain('8 cells of 8 not repeatable within 5 %');
    expect(together).toMatch(/The set-ups together were slower in repeat 3 than in repeat 1, by 18 % on average/);
    expect(together.match(/clock and temperature/g)).toHaveLength(1);
    rmSync(path, { recursive: true });

    const apart = await report((folder) => (folder.includes('/a/') ? 0.1 : -0.1));
    expect(apart).toContain('8 cells of 8 not repeatable within 5 %');
    expect(apart).not.toContain('together');
    expect(apart).toContain('the first repeat is the slow one: a longer warm-up');
  });

  it('knows no noise from one repeat', async () => {
    const found = await compare(samplePlan({ repeats: 1 }), load());
    expect(comparisonVerdicts(found)[0]).toContain('one repeat: noise unknown');
  });

  it('notes an engine that does not start, and measures the others', async () => {
    const found = await compare(samplePlan({ repeats: 1 }), load(), (command) => command.includes('serve a'));
    expect(found.measured).toBe(4);
    expect(found.levels[0]?.missing).toBe(4);
    expect(readNotes(path)).toHaveLength(4);
    expect(readNotes(path)[0]?.message).toBe('the engine was not ready');
  });

  it('compares two engines as they run, without any switch', async () => {
    const engines = samplePlan().engines.map((engine) => ({ ...engine, start: null, switches: {} }));
    const found = await compare(
      samplePlan({ engines, switches: [] }),
      load({ engine: (_, folder) => ({ ...cacheHelps(folder), tpotSeconds: folder.includes('/b/') ? 0.01 : 0.02 }) }),
    );
    expect(events).toEqual([]);
    expect(comparisonVerdicts(found)[0]).toMatch(/output tokens\/s, b instead of a: \+\d+/);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { calibrateLoad } from '../../src/experiment/calibrate-load.ts';
import type { LoadRequest } from '../../src/experiment/load-types.ts';
import { prepareLoad } from '../../src/experiment/prepare-load.ts';
import { readRun } from '../../src/experiment/read-run.ts';
import { runLoad } from '../../src/experiment/run-load.ts';
import type { EliminationCause, Summary } from '../../src/experiment/summary-types.ts';
import type { SimulatorOptions } from '../../src/sim/options.ts';
import type { Simulator } from '../../src/sim/server.ts';
import { seconds } from '../../src/units.ts';
import { startLoad } from '../engines/support/background-load.ts';
import { aLoad, loadDeps, loadedSimulator, newFolder } from '../integration/experiment/load-rig.ts';

const PATIENT = seconds(60);

/** Slow steps, so that a busy machine of the tests is a small part of the result. */
const STEP: SimulatorOptions['engine']['cost'] = {
  stepSeconds: seconds(0.03),
  prefillTokenSeconds: seconds(0),
  decodeSequenceSeconds: seconds(0),
  kvTokenSeconds: seconds(0),
};

/** The causes that remain, without our own process: that is about a machine full of tests, not about the engine. */
const remaining = ({ elimination }: Summary): EliminationCause[] =>
  elimination.flatMap(({ cause, verdict }) => (verdict === 'remains' && cause !== 'client' ? [cause] : []));

interface Case {
  readonly engine?: Partial<SimulatorOptions['engine']>;
  readonly load?: Partial<LoadRequest>;
  /** What happens beside the load; called when the run begins, with its end. */
  readonly meanwhile?: (simulator: Simulator, ended: Promise<unknown>) => Promise<void>;
}

/** A window of eight seconds, unless a case says otherwise. */
async function run({ engine, load, meanwhile }: Case) {
  const simulator = await loadedSimulator({ cost: STEP, ...engine });
  const deps = loadDeps();
  const request = aLoad(simulator.url, { warmupMaxSeconds: 0, windowSeconds: 8, trimSeconds: 1, ...load });
  const patient = { ...request.deadlines, headersSeconds: PATIENT, firstTokenSeconds: PATIENT };
  const deadlines = { ...patient, betweenTokensSeconds: PATIENT, totalSeconds: PATIENT };
  const prepared = await calibrateLoad(await prepareLoad({ ...request, deadlines }, deps), deps);
  const folder = newFolder();
  const running = runLoad(prepared, folder, deps);
  await meanwhile?.(simulator, running);
  return { ...(await running), records: readRun(folder) };
}

describe('what a run says of the engine', () => {
  it('nothing, when there was nothing', async () => {
    const { summary } = await run({});
    expect(remaining(summary)).toEqual([]);
    expect(summary.engine?.zone).toBe('underload');
    expect(summary.timeline.filter((slot) => slot.flagged)).toEqual([]);
  });

  it('flags the slots in which it stood still for 12 s, and keeps them in the figures', async () => {
    const frozenSeconds = 12;
    const { summary, records } = await run({
      load: { windowSeconds: 60, trimSeconds: 5, maxOutputTokens: 64 },
      meanwhile: async (simulator) => {
        await sleep(22_000);
        simulator.fault({ kind: 'hang', forSeconds: seconds(frozenSeconds) });
      },
    });
    // Fifty seconds in slots of five: the gap covers at least one of them wholly, and reaches into two more.
    const flagged = summary.timeline.filter((slot) => slot.flagged);
    expect(flagged.length).toBeGreaterThanOrEqual(2);
    expect(flagged.length).toBeLessThanOrEqual(4);
    expect(flagged.some((slot) => slot.outputTokens === 0)).toBe(true);
    const [first, last] = [flagged[0], flagged.at(-1)];
    expect((last?.toSeconds ?? 0) - (first?.fromSeconds ?? 0)).toBeGreaterThan(frozenSeconds - 3);
    expect(summary.notes.join()).toContain('below 70 % of the mean; they are kept in all figures');
    // Kept: the throughput is that of the whole window, a quarter below what the engine does when it runs.
    const calm = summary.timeline.filter((slot) => slot.inFigures && !slot.flagged);
    const pace = calm.reduce((sum, slot) => sum + slot.outputTokensPerSecond, 0) / calm.length;
    expect(summary.throughput.outputTokensPerSecond / pace).toBeGreaterThan(0.65);
    expect(summary.throughput.outputTokensPerSecond / pace).toBeLessThan(0.85);
    // The requests that were in it are good, and slow.
    expect(summary.requests.failed).toBe(0);
    const longest = Math.max(...records.requests.map(({ longestGapSeconds }) => longestGapSeconds ?? 0));
    expect(longest).toBeGreaterThan(frozenSeconds - 0.5);
    expect(longest).toBeLessThan(frozenSeconds + 2);
    expect(summary.verdict).not.toBe('partial');
  });

  it('names the load of others', async () => {
    const { summary } = await run({
      engine: { maxNumSeqs: 32 },
      meanwhile: async (simulator, ended) => {
        const url = simulator.url.href.replace(/\/$/, '');
        const others = startLoad({ url, model: 'sim', streams: 3, maxTokens: 64, body: { ignore_eos: true } });
        await ended;
        await others.stop();
      },
    });
    expect(remaining(summary)).toEqual(['other_load']);
    // Four streams of ours and three of theirs.
    expect(summary.engine?.ownTokensRatio).toBeGreaterThan(0.45);
    expect(summary.engine?.ownTokensRatio).toBeLessThan(0.7);
  });

  it('names preemption, and the full cache that it comes from', async () => {
    // 23 usable blocks of 16 tokens; each request comes to need 7 of them.
    const { summary, metadata } = await run({
      engine: { maxModelLen: 160, numGpuBlocks: 24, maxNumSeqs: 32 },
      load: { maxOutputTokens: 40, arrival: { kind: 'closed', concurrency: 6 } },
    });
    expect(metadata.ended).toBe('complete');
    expect(remaining(summary)).toEqual(expect.arrayContaining(['preemption', 'kv_pressure', 'queueing']));
    expect(summary.engine?.preemptions).toBeGreaterThan(0);
    expect(summary.engine?.zone).toBe('overload');
    expect(summary.requests.failed).toBe(0);
  });

  it('puts failures first, by what they are', async () => {
    const { summary } = await run({
      meanwhile: async (simulator) => {
        await sleep(3000);
        const lasting = { forSeconds: null, afterTokens: 3 } as const;
        simulator.fault({ kind: 'error', where: 'stream', requests: 3, ...lasting });
        await sleep(1500);
        simulator.fault({ kind: 'refuse', status: 429, retryAfterSeconds: null, requests: 2, forSeconds: null });
        await sleep(1000);
        simulator.fault({ kind: 'truncate', how: 'reset', requests: 2, ...lasting });
      },
    });
    const failures = Object.fromEntries(summary.requests.failures.map(({ reason, requests }) => [reason, requests]));
    expect(failures).toEqual({ stream_error: 3, rate_limited: 2, connection_lost: 2 });
    expect(remaining(summary)).toContain('failures');
    expect(summary.e2e.withFailures.samples).toBe(summary.e2e.withoutFailures.samples + 7);
    // The upper end is not known where failures lie beyond everything that was seen.
    expect(summary.e2e.withFailures.p50.seconds).toBeGreaterThanOrEqual(summary.e2e.withoutFailures.p50.seconds ?? 0);
  });
});

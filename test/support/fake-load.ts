import { type Clock, systemClock } from '../../src/clock.ts';
import type { LoadRequest, PreparedLoad, PrepareLoad, RunLoad } from '../../src/experiment/load-types.ts';
import type { CellDependencies } from '../../src/experiment/measure-cell.ts';
import { summaryOf } from '../../src/experiment/report-write.ts';
import { silentLogger } from '../../src/log.ts';
import { type SampleRun, sampleRun, writeSampleRun } from './sample-run.ts';

export interface FakeLoad {
  readonly deps: CellDependencies;
  /** Folders of the runs, in the order in which they were measured. */
  readonly measured: string[];
  readonly said: string[];
}

export interface FakeOptions {
  /** What the engine makes of a request. */
  readonly engine: (request: LoadRequest, folder: string) => SampleRun;
  readonly signal?: AbortSignal;
  readonly prepare?: (request: LoadRequest) => Partial<PreparedLoad>;
  /** Called before a run; may throw, or end the experiment. */
  readonly before?: (folder: string) => void;
  /** Why the disk took no more while this run was recorded. */
  readonly diskFault?: (folder: string) => string | null;
}

/** Every wait is over at once. */
function hurried(): Clock {
  return {
    ...systemClock(),
    setTimer: (_, callback) => {
      const handle = setImmediate(callback);
      return { cancel: () => clearImmediate(handle) };
    },
  };
}

/** Runs that take no time: their records are made up and lie on the disk as those of real ones would. */
export function fakeLoad(options: FakeOptions): FakeLoad {
  const measured: string[] = [];
  const said: string[] = [];
  const signal = options.signal ?? new AbortController().signal;
  const prepare: PrepareLoad = (request) =>
    Promise.resolve({
      request,
      plan: { model: 'sample' },
      discovery: { maxModelLength: 2048 },
      ...options.prepare?.(request),
    } as PreparedLoad);
  const run: RunLoad = (prepared, folder) => {
    options.before?.(folder);
    const records = sampleRun({
      ...options.engine(prepared.request, folder),
      ...(signal.aborted && { ended: 'partial' as const }),
    });
    writeSampleRun(folder, records);
    measured.push(folder);
    return Promise.resolve({
      folder,
      metadata: records.metadata,
      summary: summaryOf(folder),
      diskFault: options.diskFault?.(folder) ?? null,
    });
  };
  const deps: CellDependencies = {
    clock: hurried(),
    log: silentLogger(),
    signal,
    prepare,
    run,
    summaryOf,
    report: () => undefined,
    workerScript: null,
    say: (text) => void said.push(text),
    onProgress: () => undefined,
  };
  return { deps, measured, said };
}

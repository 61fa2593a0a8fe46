import type { Timer } from '../clock.ts';
import { elapsed, type MonotonicInstant, type Seconds, seconds } from '../units.ts';
import { calibrateLoad } from './calibrate-load.ts';
import { diskFault } from './disk-error.ts';
import type { EngineWatch } from './engine-watch.ts';
import { startEngineWatch } from './load-engine.ts';
import { drain, measure, type PhaseParts, warmUp, warmUpVerdict } from './load-phases.ts';
import { createLoadTally, type LoadTally } from './load-tally.ts';
import type { Calibration, LoadDependencies, LoadResult, PreparedLoad, RunLoad } from './load-types.ts';
import type { LoadUnit } from './load-unit.ts';
import { startWorkers } from './load-workers.ts';
import { parseLines, readRecords } from './read-run.ts';
import { toRequestRecord } from './request-record.ts';
import { checkRunFolder, createRunFolder, RECORD_FILES, type RecordFile, type RunFolder } from './run-folder.ts';
import { engineOf, firstMetadata } from './run-metadata.ts';
import { type RunRecords, summarise } from './summary.ts';
import type { ClientRecord, EngineRecord, RequestRecord, RunMetadata, RunPhase } from './types.ts';

/** The disk is at most this far behind; what a kill -9 costs. */
const FLUSH_SECONDS = seconds(0.4);
const PROGRESS_SECONDS = seconds(1);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Everything that one run holds while it goes on. */
class Run {
  private readonly prepared: PreparedLoad;
  private readonly calibration: Calibration;
  private readonly folder: RunFolder;
  private readonly deps: LoadDependencies;
  private readonly origin: MonotonicInstant;
  private readonly metadata: Mutable<RunMetadata>;
  private readonly tally: LoadTally = createLoadTally();
  private readonly ending = new AbortController();
  private readonly timers = new Set<Timer>();
  private units: LoadUnit[] = [];
  private watch: EngineWatch | null = null;

  constructor(
    prepared: PreparedLoad,
    calibration: Calibration,
    folder: RunFolder,
    deps: LoadDependencies,
    begin: { readonly origin: MonotonicInstant; readonly metadata: RunMetadata },
  ) {
    this.prepared = prepared;
    this.calibration = calibration;
    this.folder = folder;
    this.deps = deps;
    this.origin = begin.origin;
    this.metadata = { ...begin.metadata };
  }

  async go(): Promise<LoadResult> {
    const { deps, folder } = this;
    const interrupt = (): void => this.end('interrupted: the result is partial');
    if (deps.signal.aborted) interrupt();
    deps.signal.addEventListener('abort', interrupt, { once: true });
    try {
      this.recordCalibration();
      await folder.metadata(this.metadata);
      this.every(FLUSH_SECONDS, () => void this.flush());
      this.every(PROGRESS_SECONDS, () => this.progress());
      this.watch = startEngineWatch(this.prepared, this.origin, (record) => this.line('engine', record), deps);
      this.units = await this.startUnits();
      const complete = await this.phases();
      this.metadata.ended = complete ? 'complete' : 'partial';
    } finally {
      deps.signal.removeEventListener('abort', interrupt);
      await this.close();
    }
    return await this.finish();
  }

  private startUnits(): Promise<LoadUnit[]> {
    const { prepared, calibration, origin, deps } = this;
    return startWorkers(
      prepared,
      calibration,
      origin,
      (worker, report) => {
        this.folder.append('requests', report.requests);
        this.folder.append('client', report.client);
        this.tally.add(worker, report, this.now());
      },
      deps,
    );
  }

  private async phases(): Promise<boolean> {
    const { request } = this.prepared;
    const { signal } = this.ending;
    const parts: PhaseParts = {
      request,
      clock: this.deps.clock,
      origin: this.origin,
      units: this.units,
      watch: this.watch,
      tally: this.tally,
      signal,
      mark: (phase, edge, atSeconds) => this.mark(phase, edge, atSeconds),
      note: (text) => this.note(text),
    };
    const typical = await warmUp(parts);
    const verdict = warmUpVerdict(parts);
    if (verdict !== null) this.end(verdict);
    if (!signal.aborted) await drain(parts);
    if (signal.aborted) return false;
    const cpuBefore = process.cpuUsage();
    const complete = await measure(parts, typical ?? this.calibration.aloneSeconds);
    const cpu = process.cpuUsage(cpuBefore);
    this.metadata.clientCpuSeconds = (cpu.user + cpu.system) / 1e6;
    return complete;
  }

  /** The requests that found out how to ask; they came before the zero of the run. */
  private recordCalibration(): void {
    const frame = { phase: 'calibration', worker: 0, scheduledAt: null, origin: this.origin } as const;
    const records = this.calibration.outcomes.map((outcome, index) => toRequestRecord(outcome, { ...frame, index }));
    for (const record of records) this.line('requests', record);
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return;
    this.metadata.phases = {
      ...this.metadata.phases,
      calibration: { from: first.beganAtSeconds, to: last.endedAtSeconds },
    };
  }

  private now(): Seconds {
    return elapsed(this.origin, this.deps.clock.monotonic());
  }

  private line(file: RecordFile, record: RequestRecord | EngineRecord): void {
    this.folder.append(file, `${JSON.stringify(record)}\n`);
  }

  private note(text: string): void {
    this.metadata.notes = [...this.metadata.notes, text];
  }

  /** Ends the run with what it has; the first reason counts. */
  private end(why: string): void {
    if (this.ending.signal.aborted) return;
    this.note(why);
    this.ending.abort();
  }

  private mark(phase: RunPhase, edge: 'from' | 'to', atSeconds: number): void {
    const { phases } = this.metadata;
    this.metadata.phases = { ...phases, [phase]: { ...phases[phase], [edge]: atSeconds } };
    // What the engine says of itself is known once its page has been read.
    this.metadata.engine = engineOf(this.prepared, this.watch?.view() ?? null);
    void this.folder.metadata(this.metadata);
  }

  private async flush(): Promise<void> {
    await this.folder.flush();
    const { fault } = this.folder;
    if (fault !== null) this.end(`the records could not be written, ${diskFault(fault)}: the run was ended early`);
  }

  private progress(): void {
    const { tally, prepared, metadata } = this;
    const { windowSeconds, warmupMaxSeconds } = prepared.request;
    const at = this.now();
    const from = metadata.phases.window.from;
    const untilWindow = Math.max(0, warmupMaxSeconds - (at - (metadata.phases.warmup.from ?? at)));
    this.deps.onProgress?.({
      phase: metadata.phases.cooldown.from === null ? tally.phase : 'cooldown',
      leftSeconds: from === null ? untilWindow + windowSeconds : Math.max(0, from + windowSeconds - at),
      inFlight: tally.inFlight,
      ended: tally.ended,
      failed: tally.failed,
      outputTokensPerSecond: tally.rate(at),
    });
  }

  private every(interval: Seconds, callback: () => void): void {
    const arm = (): void => {
      const timer = this.deps.clock.setTimer(interval, () => {
        this.timers.delete(timer);
        callback();
        arm();
      });
      this.timers.add(timer);
    };
    arm();
  }

  private async close(): Promise<void> {
    for (const timer of this.timers) timer.cancel();
    await Promise.all(this.units.map((unit) => unit.close()));
    await this.watch?.close();
  }

  /** Records as they lie on the disk, and those that it did not take. */
  private records(): RunRecords {
    const read = readRecords(this.folder.path);
    return {
      metadata: this.metadata,
      requests: [...read.requests, ...this.unsaved<RequestRecord>('requests')],
      engine: [...read.engine, ...this.unsaved<EngineRecord>('engine')],
      client: [...read.client, ...this.unsaved<ClientRecord>('client')],
    };
  }

  private unsaved<T>(file: RecordFile): readonly T[] {
    return parseLines<T>(this.folder.unsaved(file).split('\n'), file).records;
  }

  private async finish(): Promise<LoadResult> {
    const { folder, metadata } = this;
    await folder.flush();
    if (folder.fault !== null) await this.rescue(diskFault(folder.fault));
    for (const [reason, message] of this.tally.messages) this.note(`first ${reason}: ${message}`);
    await folder.metadata(metadata);
    const summary = summarise(this.records());
    await folder.summary(summary);
    await folder.close();
    return {
      folder: folder.path,
      metadata,
      summary,
      diskFault: folder.fault === null ? null : diskFault(folder.fault),
    };
  }

  /** Whatever is in memory goes to the disk after all, or is at least told to be missing there. */
  private async rescue(fault: string): Promise<void> {
    await this.folder.rescue();
    const files = Object.keys(RECORD_FILES) as RecordFile[];
    const missing = files.reduce((lines, file) => lines + this.unsaved(file).length, 0);
    if (missing === 0) return;
    this.metadata.ended = 'partial';
    this.note(`${missing} records are not in the folder, ${fault}: they are in the figures that this run printed`);
  }
}

/** See `RunLoad`. */
export const runLoad: RunLoad = async (prepared, folder, deps) => {
  await checkRunFolder(folder);
  const calibrated = prepared.calibration === null ? await calibrateLoad(prepared, deps) : prepared;
  const calibration = calibrated.calibration as Calibration;
  const writer = await createRunFolder(folder);
  const origin = deps.clock.monotonic();
  const metadata = await firstMetadata(calibrated, deps.clock.unix());
  try {
    return await new Run(calibrated, calibration, writer, deps, { origin, metadata }).go();
  } catch (error) {
    await writer.close();
    throw error;
  }
};

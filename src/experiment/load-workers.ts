import { ProbeExporterError } from '../errors.ts';
import { type MonotonicInstant, seconds } from '../units.ts';
import { loadProfile, unitTarget } from './load-target.ts';
import { startLoadThread, toSharedNanoseconds } from './load-thread.ts';
import type { Calibration, LoadDependencies, PreparedLoad } from './load-types.ts';
import { createLoadUnit, type LoadUnit, type UnitOptions, type UnitReport } from './load-unit.ts';

/** The program's default for probes: loop delay above max(this, 5 % of the TTFT) marks a request as disturbed. */
const DISTURBED_AFTER_SECONDS = seconds(0.02);

type Report = (worker: number, report: UnitReport) => void;

const optionsOf = (prepared: PreparedLoad, calibration: Calibration, worker: number): UnitOptions => ({
  target: unitTarget(prepared, calibration.api),
  profile: loadProfile(prepared.request),
  disturbedAfterSeconds: DISTURBED_AFTER_SECONDS,
  refusedParameters: calibration.refusedParameters,
  arrival: prepared.request.arrival,
  worker,
  workers: prepared.request.workers,
  seed: prepared.request.seed,
  prompts: calibration.prompts,
});

/**
 * The workers of a run: one in this thread, or several in threads of their own.
 *
 * @throws ProbeExporterError USAGE when several are wanted and this program cannot start itself anew
 */
export async function startWorkers(
  prepared: PreparedLoad,
  calibration: Calibration,
  origin: MonotonicInstant,
  report: Report,
  deps: LoadDependencies,
): Promise<LoadUnit[]> {
  const { workers } = prepared.request;
  const { clock, log, workerScript = null } = deps;
  if (workers === 1) {
    const tell = (one: UnitReport): void => report(0, one);
    return [createLoadUnit(optionsOf(prepared, calibration, 0), { clock, log, origin, report: tell })];
  }
  if (workerScript === null) {
    throw new ProbeExporterError(
      'USAGE',
      'more than one worker needs the built program: npm run build, or --workers 1',
    );
  }
  const originNanoseconds = toSharedNanoseconds(clock, origin);
  return await Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      startLoadThread(workerScript, { options: optionsOf(prepared, calibration, worker), originNanoseconds }, (one) =>
        report(worker, one),
      ),
    ),
  );
}

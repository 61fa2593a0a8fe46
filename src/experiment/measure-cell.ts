import type { Clock } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type ExperimentFolder, isComplete, setAside } from './experiment-folder.ts';
import type { LoadProgress, LoadRequest, PrepareLoad, RunLoad } from './load-types.ts';
import type { Summary } from './summary-types.ts';

export interface CellDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly prepare: PrepareLoad;
  readonly run: RunLoad;
  /** Figures of a run that was measured before, from its records. */
  readonly summaryOf: (folder: string) => Summary;
  /** Writes the report of one run into its folder. */
  readonly report: (folder: string) => void;
  readonly workerScript: string | null;
  /** What is going on, for people. */
  readonly say: (text: string) => void;
  readonly onProgress: (progress: LoadProgress) => void;
}

export interface Cell {
  /** Folder below `runs/`. */
  readonly name: string;
  readonly request: LoadRequest;
}

/**
 * Measures a cell unless it was measured before. What cannot be measured is noted in the experiment, and null is
 * returned: the other cells are still worth having. A run that was cut short stays in its folder as partial.
 *
 * @throws ProbeExporterError DISK_FAILED when the disk takes no more: no other cell would fare better
 */
export async function measureCell(
  cell: Cell,
  folder: ExperimentFolder,
  deps: CellDependencies,
): Promise<Summary | null> {
  const path = folder.cell(cell.name);
  if (isComplete(path)) {
    deps.say(`${cell.name}: measured before, kept`);
    return deps.summaryOf(path);
  }
  if (deps.signal.aborted) return null;
  setAside(path);
  deps.say(`${cell.name}: measuring`);
  try {
    const prepared = await deps.prepare(cell.request, deps);
    const result = await deps.run(prepared, path, deps);
    deps.report(path);
    if (result.diskFault !== null)
      throw new ProbeExporterError('DISK_FAILED', `${path} could not be written to its end: ${result.diskFault}`);
    return result.metadata.ended === 'complete' ? result.summary : null;
  } catch (error) {
    if (!(error instanceof ProbeExporterError) || error.code !== 'USAGE') throw error;
    if (!deps.signal.aborted) folder.note({ cell: cell.name, message: error.message });
    deps.say(`${cell.name}: ${error.message}`);
    return null;
  }
}

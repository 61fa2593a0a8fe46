import { wrongUsage } from '../errors.ts';
import type { LoadRequest } from './load-types.ts';
import { checkOpenFiles, openFilesLimit } from './open-files.ts';

const FIGURES_AT_LEAST_SECONDS = 0.5;
/** Each request in flight is a connection, and an address has no more ports than this. */
const MOST_IN_FLIGHT = 65_535;
/** A denser timetable keeps the program so busy that it would not even hear a Ctrl-C. */
const MOST_PER_SECOND = 100_000;

/**
 * What is known of a run before anything is asked of the endpoint.
 *
 * @throws ProbeExporterError USAGE for a load that this machine cannot make, or a window that leaves no figures
 */
export function checkNumbers(request: LoadRequest): void {
  const { arrival, windowSeconds, trimSeconds, workers, promptTokens, maxOutputTokens } = request;
  const figures = windowSeconds - 2 * trimSeconds;
  if (figures < FIGURES_AT_LEAST_SECONDS) {
    wrongUsage(
      `a window of ${windowSeconds} s leaves nothing when ${trimSeconds} s are trimmed at each end: lengthen it (-d) or trim less (--trim)`,
    );
  }
  if (promptTokens < 1 || maxOutputTokens < 1)
    wrongUsage('a request needs at least one prompt token and one output token');
  const together = arrival.kind === 'closed' ? arrival.concurrency : arrival.maxInFlight;
  if (together < 1) wrongUsage('at least one request must be in flight');
  if (together > MOST_IN_FLIGHT)
    wrongUsage(`${together} requests in flight are more than one machine can have: at most ${MOST_IN_FLIGHT}`);
  // The bound of an open loop need never be reached.
  if (arrival.kind === 'closed') checkOpenFiles(together, openFilesLimit());
  if (arrival.kind === 'open' && arrival.ratePerSecond > MOST_PER_SECOND)
    wrongUsage(
      `${arrival.ratePerSecond} requests a second are more than one machine can send: at most ${MOST_PER_SECOND}`,
    );
  if (workers < 1 || workers > together) {
    wrongUsage(`${workers} workers cannot share ${together} requests in flight: use between 1 and ${together}`);
  }
}

/**
 * The same for each of the levels of an experiment, before the first of them is measured.
 *
 * @throws ProbeExporterError USAGE as `checkNumbers`
 */
export function checkLevels(request: LoadRequest, levels: readonly number[]): void {
  for (const concurrency of levels) checkNumbers({ ...request, arrival: { kind: 'closed', concurrency } });
}

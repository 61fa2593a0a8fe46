import { type MessagePort, Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type MonotonicInstant, monotonicInstant } from '../units.ts';
import { createLoadUnit, type LoadUnit, type UnitOptions, type UnitReport, type UnitSpan } from './load-unit.ts';
import type { RunPhase } from './types.ts';
import { WORKER_COMMAND } from './worker-command.ts';

type Order =
  | { readonly kind: 'run'; readonly call: number; readonly phase: RunPhase; readonly span: UnitSpan }
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' };

type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'report'; readonly report: UnitReport }
  | { readonly kind: 'done'; readonly call: number };

/** Handed to the thread; `originNanoseconds` is on the clock that all threads share. */
export interface ThreadData {
  readonly options: UnitOptions;
  readonly originNanoseconds: bigint;
}

const CALIBRATION_READINGS = 200;

/**
 * Nanoseconds of the machine's monotonic clock at the zero of this thread's own: `performance.now()` counts from the
 * start of each thread. The smallest of many readings is the least disturbed one.
 */
function zeroNanoseconds(clock: Clock): bigint {
  let least: bigint | null = null;
  for (let reading = 0; reading < CALIBRATION_READINGS; reading += 1) {
    const own = clock.monotonic();
    const zero = process.hrtime.bigint() - BigInt(Math.round(own * 1e9));
    if (least === null || zero < least) least = zero;
  }
  return least ?? 0n;
}

export const toSharedNanoseconds = (clock: Clock, instant: MonotonicInstant): bigint =>
  zeroNanoseconds(clock) + BigInt(Math.round(instant * 1e9));

const fromSharedNanoseconds = (clock: Clock, nanoseconds: bigint): MonotonicInstant =>
  monotonicInstant(Number(nanoseconds - zeroNanoseconds(clock)) / 1e9);

/** The worker's side: does what the port says until it is told to close. */
export function serveLoadThread(
  port: MessagePort,
  { options, originNanoseconds }: ThreadData,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const tell = (answer: Answer): void => port.postMessage(answer);
  const unit = createLoadUnit(options, {
    ...deps,
    origin: fromSharedNanoseconds(deps.clock, originNanoseconds),
    report: (report) => tell({ kind: 'report', report }),
  });
  return new Promise((resolve) => {
    port.on('message', (order: Order) => {
      switch (order.kind) {
        case 'run':
          void unit.run(order.phase, order.span).then(() => tell({ kind: 'done', call: order.call }));
          return;
        case 'stop':
          unit.stop();
          return;
        case 'close':
          void unit.close().then(() => {
            port.close();
            resolve();
          });
      }
    });
    tell({ kind: 'ready' });
  });
}

/** One worker of a load run in a thread of its own, which runs this program anew. */
export async function startLoadThread(
  script: string,
  data: ThreadData,
  report: (report: UnitReport) => void,
): Promise<LoadUnit> {
  const worker = new Worker(script, { argv: [WORKER_COMMAND], workerData: data });
  const running = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  let calls = 0;
  let dead: Error | null = null;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));

  const fail = (error: Error): void => {
    dead ??= error;
    for (const { reject } of running.values()) reject(error);
    running.clear();
  };
  const order = (message: Order): void => worker.postMessage(message);

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (answer: Answer) => {
      if (answer.kind === 'ready') resolve();
      else if (answer.kind === 'report') report(answer.report);
      else {
        running.get(answer.call)?.resolve();
        running.delete(answer.call);
      }
    });
    const died = (cause?: unknown): void => {
      const error = new ProbeExporterError('INVARIANT', 'a load worker ended before its time', { cause });
      fail(error);
      reject(error);
    };
    worker.once('error', died);
    worker.once('exit', () => died());
  });

  return {
    run(phase, span) {
      if (dead !== null) return Promise.reject(dead);
      calls += 1;
      const call = calls;
      return new Promise((resolve, reject) => {
        running.set(call, { resolve, reject });
        order({ kind: 'run', call, phase, span });
      });
    },
    stop: () => order({ kind: 'stop' }),
    async close() {
      order({ kind: 'close' });
      await exited;
    },
  };
}

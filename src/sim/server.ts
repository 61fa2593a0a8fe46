import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, sleep } from '../clock.ts';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Seconds } from '../units.ts';
import { createSimulatedEngine, type SimulatedEngine } from './engine.ts';
import type { SimFault } from './fault-types.ts';
import { createFaultBoard } from './faults.ts';
import { createLoad } from './load.ts';
import type { SimulatorOptions } from './options.ts';
import { createRoutes } from './routes.ts';

export interface Simulator {
  /** Base URL, without a path. */
  readonly url: URL;
  readonly engine: SimulatedEngine;
  /** Puts a fault in force at once. A restart drops all connections and opens the port again later. */
  fault(fault: SimFault): void;
  /** Drops all connections; leaves no timer and no socket. */
  close(): Promise<void>;
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void =>
      reject(new ProbeExporterError('LISTEN_FAILED', `simulator: cannot listen on ${host}:${port}`, { cause }));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Closes the port and every connection at once, as the end of a process does. */
function hangUp(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/**
 * A simulated engine behind HTTP, in the shape of vLLM: completions and chat completions, streamed or not, model list,
 * health and metrics; `GET /sim/state` and `POST /sim/fault` for whoever plays with it. Throws CONFIG_INVALID for
 * impossible options and LISTEN_FAILED for a port that cannot be had.
 */
export async function startSimulator(
  options: SimulatorOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<Simulator> {
  const { clock, log } = deps;
  const engine = createSimulatedEngine(options.engine, { clock });
  const faults = createFaultBoard({ clock, engine });
  const load = createLoad(options.load, { engine, clock });
  const routes = createRoutes(options, { clock, log, engine, load, faults, raise: (fault) => raise(fault) });
  const server = createServer(routes.handle);
  const closing = new AbortController();
  /** Restarts go one after the other; closing waits for the last. */
  let restarts: Promise<void> = Promise.resolve();
  const port = await listen(server, options.host, options.port);

  const startAnew = (): void => {
    faults.clearEngine();
    engine.reset();
    routes.clear();
  };

  const restart = async (downSeconds: Seconds): Promise<void> => {
    if (closing.signal.aborted) return;
    load.stop();
    await hangUp(server);
    startAnew();
    await sleep(clock, downSeconds, closing.signal);
    if (closing.signal.aborted) return;
    // Once more: the process that answers from now on started now.
    startAnew();
    await listen(server, options.host, port);
    load.start();
  };

  const raise = (fault: SimFault): void => {
    log.info({ fault }, 'simulator fault');
    if (fault.kind !== 'restart') {
      faults.raise(fault);
      return;
    }
    restarts = restarts
      .then(() => restart(fault.downSeconds))
      .catch((error: unknown) => log.error({ error: String(error) }, 'the simulator did not come back'));
  };

  for (const fault of options.faults) raise(fault);
  load.start();
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const url = new URL(`http://${host}:${port}`);
  log.info({ url: url.href, model: options.model, load: options.load.shape }, 'simulator listening');

  return {
    url,
    engine,
    fault: raise,
    async close() {
      closing.abort();
      load.stop();
      faults.close();
      engine.close();
      await restarts;
      if (server.listening) await hangUp(server);
    },
  };
}

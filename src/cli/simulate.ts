import { createLogger } from '../log.ts';
import { simulatorOptions } from '../sim/flags.ts';
import { DEFAULT_SIMULATOR } from '../sim/options.ts';
import { startSimulator } from '../sim/server.ts';
import { aborted, type CliContext, EXIT, type ExitCode } from './context.ts';

/** The simulated engine, until the process is told to stop. Flags are those of `SIM_FLAGS`. */
export async function simulate(
  values: Readonly<Record<string, string | undefined>>,
  context: CliContext,
): Promise<ExitCode> {
  const options = simulatorOptions(values, DEFAULT_SIMULATOR);
  const log = createLogger({ level: 'info', format: 'logfmt' });
  const simulator = await startSimulator(options, { clock: context.clock, log });
  context.out(`simulated engine: ${simulator.url.origin} (model ${options.model})`);
  await aborted(context.stop);
  await simulator.close();
  return EXIT.ok;
}

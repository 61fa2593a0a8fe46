import { createLogger } from '../log.ts';
import { estimateSeries } from '../metrics/estimate.ts';
import type { OnlineFacts } from './check-online.ts';
import { renderCheck } from './check-render.ts';
import { type ConfigFlags, configSource } from './config-source.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';

export interface CheckFlags extends ConfigFlags {
  /** Ask the endpoints too, without making them generate anything. */
  readonly online?: true;
}

/** Says whether a configuration can be used, and what it comes to. One that cannot throws ConfigurationError. */
export async function check(flags: CheckFlags, context: CliContext): Promise<ExitCode> {
  const log = createLogger({ level: 'error', format: 'logfmt' });
  const { config, issues } = configSource(flags, context.environment, log).load();
  const online = new Map<string, OnlineFacts>();
  if (flags.online) {
    const { askTarget } = await import('./check-online.ts');
    for (const target of config.targets) {
      online.set(target.name, await askTarget(target, { clock: context.clock, log, signal: context.stop }));
    }
  }
  context.out(renderCheck({ config, warnings: issues, series: estimateSeries(config), online }));
  return EXIT.ok;
}

import { systemFiles } from '../config/files.ts';
import type { LoadResult } from '../config/load.ts';
import { createConfigWatcher } from '../config/reload.ts';
import type { ConfigIssue } from '../config/types.ts';
import { createLogger, type Logger } from '../log.ts';
import { type ConfigFlags, configSource } from './config-source.ts';
import { aborted, type CliContext, EXIT, type ExitCode } from './context.ts';
import { createLateLogger } from './late-logger.ts';

const warn = (log: Logger, issues: readonly ConfigIssue[]): void => {
  for (const { place, key, message } of issues) log.warn({ place, key, problem: message }, 'weak configuration');
};

/**
 * The exporter, until the process is told to stop. A configuration that cannot be used at the start throws; one that
 * cannot be used later leaves the running one in force.
 */
export async function serve(flags: ConfigFlags, context: CliContext): Promise<ExitCode> {
  const { clock, environment, stop } = context;
  const log = createLateLogger();
  const source = configSource(flags, environment, log);
  const first = source.load();
  log.settle(createLogger(first.config.log));
  warn(log, first.issues);

  const { createApp } = await import('../app.ts');
  const watcher = createConfigWatcher(
    { path: source.path, initial: first.config },
    {
      clock,
      log,
      files: systemFiles(),
      load: source.load,
      apply: async (next: LoadResult) => {
        log.settle(createLogger(next.config.log));
        warn(log, next.issues);
        await app.reload(next.config);
      },
      onReload: ({ ok }) => app.configLoaded(ok),
    },
  );
  const podName = environment.POD_NAME ?? environment.HOSTNAME ?? '';
  const app = createApp({ config: first.config, podName }, { clock, log, reload: () => watcher.reload() });
  try {
    await app.start();
    watcher.start();
    const ignoreHangups = context.onHangup(() => void watcher.reload());
    await aborted(stop);
    log.info({}, 'stopping');
    ignoreHangups();
  } finally {
    watcher.close();
    await app.close();
  }
  return EXIT.ok;
}

import { CONFIG_FILE_VARIABLE } from '../config/environment.ts';
import type { Environment } from '../config/expand.ts';
import { type LoadResult, loadConfigFile, loadConfigFromEnvironment } from '../config/load.ts';
import type { Override } from '../config/overrides.ts';
import type { Logger } from '../log.ts';

/** Flags that say where the configuration is and replace some of its keys. */
export interface ConfigFlags {
  readonly 'config.file'?: string;
  readonly 'log.level'?: string;
  readonly 'log.format'?: string;
  readonly 'web.listenAddress'?: string;
  readonly 'web.telemetryPath'?: string;
  readonly 'web.config.file'?: string;
}

const KEYS: readonly (readonly [keyof ConfigFlags, string, readonly string[]])[] = [
  ['log.level', '--log.level', ['log', 'level']],
  ['log.format', '--log.format', ['log', 'format']],
  ['web.listenAddress', '--web.listen-address', ['web', 'listen_address']],
  ['web.telemetryPath', '--web.telemetry-path', ['web', 'telemetry_path']],
  ['web.config.file', '--web.config.file', ['web', 'web_config_file']],
];

const overridesOf = (flags: ConfigFlags): readonly Override[] =>
  KEYS.flatMap(([flag, place, path]) => (flags[flag] === undefined ? [] : [{ path, value: flags[flag], place }]));

/** Where a configuration comes from, to be read as often as wanted. */
export interface ConfigSource {
  /** Null: the environment. */
  readonly path: string | null;
  /** Throws ConfigurationError. */
  load(): LoadResult;
}

/** The file that the flags or the environment name, else the form without a file. */
export function configSource(flags: ConfigFlags, environment: Environment, log: Logger): ConfigSource {
  const named = flags['config.file'] ?? environment[CONFIG_FILE_VARIABLE] ?? '';
  const path = named === '' ? null : named;
  const overrides = overridesOf(flags);
  return {
    path,
    load: () =>
      path === null
        ? loadConfigFromEnvironment(environment, { overrides, log })
        : loadConfigFile(path, { environment, overrides, log }),
  };
}

import { CONFIG_FILE_VARIABLE, ENVIRONMENT_PREFIX } from '../config/environment.ts';
import type { Environment } from '../config/expand.ts';
import { loadConfigFile, loadConfigFromEnvironment } from '../config/load.ts';
import type { Override } from '../config/overrides.ts';
import { nearest } from '../config/suggest.ts';
import type { Config, ConfigIssue, ScheduledProfile, TargetConfig } from '../config/types.ts';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';

/** Flags of `once`, as commander gives them. */
export interface OnceFlags {
  readonly url?: string;
  readonly model?: string;
  readonly api?: string;
  readonly engine?: string;
  readonly apiKeyFile?: string;
  readonly apiKeyEnv?: string;
  readonly metricsUrl?: string;
  readonly header?: readonly string[];
  readonly insecure?: true;
  readonly caFile?: string;
  readonly promptTokens?: string;
  readonly maxTokens?: string;
  readonly prompt?: string;
  readonly prefix?: string;
  readonly connection?: string;
  readonly timeout?: string;
  readonly json?: true;
  readonly verbose?: true;
  readonly 'config.file'?: string;
  readonly target?: string;
  readonly profile?: string;
}

/** What to probe, complete and checked. */
export interface OncePlan {
  readonly config: Config;
  readonly target: TargetConfig;
  readonly profile: ScheduledProfile;
  readonly warnings: readonly ConfigIssue[];
}

type Key = Exclude<keyof OnceFlags, 'header' | 'json' | 'verbose' | 'config.file' | 'target' | 'profile'>;

const TARGET = ['targets', 0] as const;
const PROFILE = [...TARGET, 'profiles', 0] as const;
const NUMERIC: ReadonlySet<Key> = new Set<Key>(['promptTokens', 'maxTokens']);
const PATHS: Readonly<Record<Key, readonly [string, readonly (string | number)[]]>> = {
  url: ['--url', [...TARGET, 'url']],
  model: ['--model', [...TARGET, 'model']],
  api: ['--api', [...TARGET, 'api']],
  engine: ['--engine', [...TARGET, 'engine']],
  apiKeyFile: ['--api-key-file', [...TARGET, 'api_key_file']],
  apiKeyEnv: ['--api-key-env', [...TARGET, 'api_key_env']],
  metricsUrl: ['--metrics-url', [...TARGET, 'metrics', 'url']],
  insecure: ['--insecure', [...TARGET, 'connection', 'tls', 'insecure_skip_verify']],
  caFile: ['--ca-file', [...TARGET, 'connection', 'tls', 'ca_file']],
  promptTokens: ['--prompt-tokens', [...PROFILE, 'prompt_tokens']],
  maxTokens: ['--max-tokens', [...PROFILE, 'max_tokens']],
  prompt: ['--prompt', [...PROFILE, 'prompt']],
  prefix: ['--prefix', [...PROFILE, 'prefix']],
  connection: ['--connection', [...PROFILE, 'connection']],
  timeout: ['--timeout', [...PROFILE, 'deadlines', 'total']],
};
const KEYS = Object.keys(PATHS) as readonly Key[];

function readFlag(key: Key, given: string | true): unknown {
  if (given === true) return true;
  if (NUMERIC.has(key) && /^\d+$/.test(given)) return Number(given);
  // People are used to a bare number of seconds here.
  return key === 'timeout' && /^\d+(?:\.\d+)?$/.test(given) ? `${given}s` : given;
}

function headerOverride(header: string): Override {
  const [, name, value] = /^([^:]+):\s*(.+)$/.exec(header) ?? [];
  if (name === undefined || value === undefined) {
    throw new ProbeExporterError('USAGE', '--header must be of the form "Name: value"');
  }
  return { path: [...TARGET, 'headers', name.trim()], value: value.trim(), place: '--header' };
}

/** A single probe has no timetable; one is written only because a profile has one. */
const FIXED: readonly Override[] = [
  { path: [...PROFILE, 'name'], value: 'once', place: 'once' },
  { path: [...PROFILE, 'every'], value: '1d', place: 'once' },
];

function overridesOf(flags: OnceFlags, environment: Environment): readonly Override[] {
  const named = environment[`${ENVIRONMENT_PREFIX}TARGET_NAME`] ?? '';
  const name: readonly Override[] = named === '' ? [{ path: [...TARGET, 'name'], value: 'once', place: 'once' }] : [];
  const given = KEYS.flatMap((key): readonly Override[] => {
    const value = flags[key];
    const [place, path] = PATHS[key];
    return value === undefined ? [] : [{ path, value: readFlag(key, value), place }];
  });
  return [...name, ...FIXED, ...given, ...(flags.header ?? []).map(headerOverride)];
}

function pick<T>(items: readonly T[], wanted: string | undefined, nameOf: (item: T) => string, flag: string): T {
  const found = wanted === undefined ? items[0] : items.find((item) => nameOf(item) === wanted);
  if (found !== undefined) return found;
  const names = items.map(nameOf);
  const near = nearest(wanted ?? '', names);
  const advice = near === null ? `there are ${names.slice(0, 20).join(', ')}` : `did you mean ${near}?`;
  throw new ProbeExporterError('USAGE', `${flag} ${JSON.stringify(wanted)} is not in the configuration; ${advice}`);
}

function plan(config: Config, warnings: readonly ConfigIssue[], flags: OnceFlags): OncePlan {
  const target = pick(config.targets, flags.target, (item) => item.name, '--target');
  const profile = pick(target.profiles, flags.profile, (item) => item.profile.name, '--profile');
  return { config, target, profile, warnings };
}

/** A target and profile as they are configured; what they are is then not for flags to say. */
function planFromFile(path: string, flags: OnceFlags, environment: Environment, log: Logger): OncePlan {
  const stray = KEYS.find((key) => flags[key] !== undefined) ?? (flags.header === undefined ? undefined : 'header');
  if (stray !== undefined) {
    const flag = stray === 'header' ? '--header' : PATHS[stray][0];
    throw new ProbeExporterError(
      'USAGE',
      `${flag} cannot be used beside the configuration file ${path}: give --url, or leave ${flag} out`,
    );
  }
  const { config } = loadConfigFile(path, { environment, log });
  return plan(config, [], flags);
}

/**
 * What `once` is to probe: a target of a configuration file, or the one that flags and environment describe.
 *
 * @throws ConfigurationError, or USAGE for flags that contradict each other
 */
export function planOnce(flags: OnceFlags, environment: Environment, log: Logger): OncePlan {
  const file = flags['config.file'] ?? (flags.url === undefined ? environment[CONFIG_FILE_VARIABLE] : undefined) ?? '';
  if (file !== '' && flags.url === undefined) return planFromFile(file, flags, environment, log);
  if (file !== '')
    throw new ProbeExporterError('USAGE', '--config.file and --url describe two different targets: give one of them');
  if (flags.target !== undefined) throw new ProbeExporterError('USAGE', '--target needs --config.file');
  const { config, issues } = loadConfigFromEnvironment(environment, {
    overrides: overridesOf(flags, environment),
    log,
  });
  // What is weak about a timetable or an objective does not matter to a single probe.
  return plan(
    config,
    issues.filter((issue) => issue.place.startsWith('--')),
    flags,
  );
}

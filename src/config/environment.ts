import { DEFAULT_PROFILES, DEFAULTS } from './defaults.ts';
import type { Environment } from './expand.ts';
import type { Override } from './overrides.ts';
import type { KeyPath, Report } from './report.ts';
import { nearest } from './suggest.ts';

/** Start of the names of all variables of this program. */
export const ENVIRONMENT_PREFIX = 'INFERENCE_PROBE_';
/** Names the configuration file, like the flag `--config.file`. */
export const CONFIG_FILE_VARIABLE = `${ENVIRONMENT_PREFIX}CONFIG_FILE`;

type Kind = 'text' | 'number' | 'flag';

interface Variable {
  readonly kind: Kind;
  /** The keys that it sets. */
  readonly paths: readonly KeyPath[];
  readonly description: string;
  /** `process`: also beside a file, below the flags. `target`: only without a file. */
  readonly scope: 'process' | 'target';
}

const ofTarget = (...path: string[]): readonly KeyPath[] => [['targets', 0, ...path]];
const ofProfiles = (...path: string[]): readonly KeyPath[] =>
  DEFAULT_PROFILES.map((_, index) => ['profiles', index, ...path]);

/** The variables without their prefix. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  LOG_LEVEL: { kind: 'text', scope: 'process', paths: [['log', 'level']], description: 'Like `log.level`.' },
  LOG_FORMAT: { kind: 'text', scope: 'process', paths: [['log', 'format']], description: 'Like `log.format`.' },
  LISTEN_ADDRESS: {
    kind: 'text',
    scope: 'process',
    paths: [['web', 'listen_address']],
    description: 'Like `web.listen_address`.',
  },
  TELEMETRY_PATH: {
    kind: 'text',
    scope: 'process',
    paths: [['web', 'telemetry_path']],
    description: 'Like `web.telemetry_path`.',
  },
  WEB_CONFIG_FILE: {
    kind: 'text',
    scope: 'process',
    paths: [['web', 'web_config_file']],
    description: 'Like `web.web_config_file`.',
  },
  PAUSED: {
    kind: 'flag',
    scope: 'process',
    paths: [['paused']],
    description: 'The kill switch, like `paused`: true or false.',
  },
  TARGET_URL: {
    kind: 'text',
    scope: 'target',
    paths: ofTarget('url'),
    description: `Base URL of the endpoint. Default \`${DEFAULTS.targetUrl}\`.`,
  },
  TARGET_NAME: {
    kind: 'text',
    scope: 'target',
    paths: ofTarget('name'),
    description: `Value of the label \`target\`. Default \`${DEFAULTS.targetName}\`.`,
  },
  MODEL: { kind: 'text', scope: 'target', paths: ofTarget('model'), description: 'Like `targets[].model`.' },
  API: { kind: 'text', scope: 'target', paths: ofTarget('api'), description: 'Like `targets[].api`.' },
  ENGINE: { kind: 'text', scope: 'target', paths: ofTarget('engine'), description: 'Like `targets[].engine`.' },
  VANTAGE: { kind: 'text', scope: 'target', paths: ofTarget('vantage'), description: 'Like `targets[].vantage`.' },
  API_KEY_FILE: {
    kind: 'text',
    scope: 'target',
    paths: ofTarget('api_key_file'),
    description: 'Like `targets[].api_key_file`.',
  },
  METRICS_URL: {
    kind: 'text',
    scope: 'target',
    paths: ofTarget('metrics', 'url'),
    description: 'Like `targets[].metrics.url`.',
  },
  EVERY: {
    kind: 'text',
    scope: 'target',
    paths: ofProfiles('every'),
    description: 'Interval of both default profiles, like `profiles[].every`.',
  },
  PROMPT_TOKENS: {
    kind: 'number',
    scope: 'target',
    paths: ofProfiles('prompt_tokens'),
    description: 'Like `profiles[].prompt_tokens`.',
  },
  MAX_TOKENS: {
    kind: 'number',
    scope: 'target',
    paths: ofProfiles('max_tokens'),
    description: 'Like `profiles[].max_tokens`.',
  },
  TOKENS_PER_HOUR: {
    kind: 'number',
    scope: 'target',
    paths: [['budget', 'tokens_per_hour']],
    description: 'Like `budget.tokens_per_hour`.',
  },
  TOKENS_PER_DAY: {
    kind: 'number',
    scope: 'target',
    paths: [['budget', 'tokens_per_day']],
    description: 'Like `budget.tokens_per_day`.',
  },
  SLO_TTFT: {
    kind: 'text',
    scope: 'target',
    paths: [['slo', 'ttft', 'threshold']],
    description: 'Like `slo.ttft.threshold`.',
  },
  SLO_TPOT: {
    kind: 'text',
    scope: 'target',
    paths: [['slo', 'tpot', 'threshold']],
    description: 'Like `slo.tpot.threshold`.',
  },
};

/** Variables that are read elsewhere than here. */
const OTHER_VARIABLES = ['CONFIG_FILE', 'REVISION'];
// Kubernetes puts these into every container of a namespace that has a Service named inference-probe.
const SERVICE_LINK = /^(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/;

function read(kind: Kind, text: string): unknown {
  if (kind === 'number' && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (kind === 'flag' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  // Anything else is left as it is, for the schema to refuse with its own words.
  return text;
}

/** The variables that are set, as overrides of keys. A variable that is set to nothing counts as not set. */
export function environmentOverrides(environment: Environment, scope: Variable['scope']): readonly Override[] {
  return Object.entries(VARIABLES).flatMap(([name, variable]) => {
    const place = `${ENVIRONMENT_PREFIX}${name}`;
    const text = environment[place]?.trim() ?? '';
    if (variable.scope !== scope || text === '') return [];
    return variable.paths.map((path): Override => ({ path, value: read(variable.kind, text), place }));
  });
}

/** The document that the environment form stands for, before its variables are put in. */
export function environmentDocument(overrides: readonly Override[]): unknown {
  const target = { name: DEFAULTS.targetName, url: DEFAULTS.targetUrl };
  const profiles = overrides.some((override) => override.path[0] === 'profiles');
  return { targets: [target], ...(profiles ? { profiles: DEFAULT_PROFILES.map((profile) => ({ ...profile })) } : {}) };
}

/** Warns of variables that look like ours and are not, and of those that a file leaves without effect. */
export function checkVariables(environment: Environment, file: string | null, report: Report): void {
  const known = [...Object.keys(VARIABLES), ...OTHER_VARIABLES];
  for (const place of Object.keys(environment)) {
    if (!place.startsWith(ENVIRONMENT_PREFIX) || (environment[place] ?? '') === '') continue;
    const name = place.slice(ENVIRONMENT_PREFIX.length);
    const warn = (message: string): void => report.add({ severity: 'warning', place, key: '', message });
    if (!known.includes(name) && !SERVICE_LINK.test(name)) {
      const near = nearest(name, known);
      warn(`is not a variable of this program${near === null ? '' : `; did you mean ${ENVIRONMENT_PREFIX}${near}?`}`);
    } else if (file !== null && VARIABLES[name]?.scope === 'target') {
      warn(`has no effect beside the configuration file ${file}, which describes the targets`);
    }
  }
}

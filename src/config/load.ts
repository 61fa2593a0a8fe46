import { dirname, resolve } from 'node:path';
import { type Logger, silentLogger } from '../log.ts';
import { buildConfig } from './build/root.ts';
import { readDocument } from './document.ts';
import { checkVariables, environmentDocument, environmentOverrides } from './environment.ts';
import { type Environment, expandEnvironment } from './expand.ts';
import { type ConfigFiles, describeReadFailure, systemFiles } from './files.ts';
import { applyOverrides, type Override, placesWithOverrides } from './overrides.ts';
import { ConfigurationError, createReport, type Places, type Report } from './report.ts';
import { salvage } from './salvage.ts';
import { rootSchema } from './schema/root.ts';
import type { Config, ConfigIssue } from './types.ts';
import { type Refused, tellIssues } from './zod-issues.ts';

/** A configuration that can be used, and what is weak about it. */
export interface LoadResult {
  readonly config: Config;
  /** Warnings only. */
  readonly issues: readonly ConfigIssue[];
}

export interface LoadDependencies {
  /** For `${NAME}` and the INFERENCE_PROBE_ variables; usually `process.env`. */
  readonly environment: Environment;
  /** Values of flags, which win over variables and the file. */
  readonly overrides?: readonly Override[];
  readonly files?: ConfigFiles;
  readonly log?: Logger;
}

interface Source {
  readonly name: string;
  /** How an error calls it. */
  readonly title: string;
  readonly directory: string;
  readonly value: unknown;
  readonly places: Places;
}

/** A report that also remembers what was found wrong. */
function remembering(report: Report, refused: Refused[]): Report {
  return {
    ...report,
    error: (path, message, part) => {
      refused.push({ path, kind: 'value' });
      report.error(path, message, part);
    },
  };
}

function load(source: Source, report: Report, deps: Required<LoadDependencies>): LoadResult {
  const unresolved: Refused[] = [];
  const expanded = expandEnvironment(source.value, deps.environment, remembering(report, unresolved));
  const value = applyOverrides(expanded, deps.overrides);
  const parsed = rootSchema.safeParse(value);
  if (!parsed.success || unresolved.length > 0) {
    const refused = parsed.success ? [] : tellIssues(parsed.error, report);
    const rest = salvage(value, [...unresolved, ...refused], report);
    if (rest !== null)
      buildConfig(rest.root, source.name, { ...deps, directory: source.directory, report: rest.report });
    throw new ConfigurationError(source.title, report.issues());
  }
  const config = buildConfig(parsed.data, source.name, { ...deps, directory: source.directory, report });
  if (report.failed()) throw new ConfigurationError(source.title, report.issues());
  return { config, issues: report.issues() };
}

const complete = (deps: LoadDependencies, scope: Override[]): Required<LoadDependencies> => ({
  environment: deps.environment,
  overrides: [...scope, ...(deps.overrides ?? [])],
  files: deps.files ?? systemFiles(),
  log: deps.log ?? silentLogger(),
});

/**
 * Loads a YAML file.
 *
 * @throws {ConfigurationError} (CONFIG_INVALID) with every issue, when the file cannot be used
 */
export function loadConfigFile(path: string, dependencies: LoadDependencies): LoadResult {
  const deps = complete(dependencies, [...environmentOverrides(dependencies.environment, 'process')]);
  let bytes: Uint8Array;
  try {
    bytes = deps.files.read(path);
  } catch (error) {
    const message = `${describeReadFailure(error)}; give its path with --config.file`;
    throw new ConfigurationError(path, [{ severity: 'error', place: path, key: '', message }], { cause: error });
  }
  const document = readDocument(path, bytes);
  const report = createReport(placesWithOverrides(document.places, deps.overrides));
  if (document.issues.length > 0) throw new ConfigurationError(path, document.issues);
  checkVariables(deps.environment, path, report);
  return load(
    { name: path, title: path, directory: dirname(resolve(path)), value: document.value, places: document.places },
    report,
    deps,
  );
}

/**
 * Builds the configuration of the sidecar form: one target, described by variables, with everything else found out.
 *
 * @throws {ConfigurationError} (CONFIG_INVALID) with every issue, each with its variable
 */
export function loadConfigFromEnvironment(
  environment: Environment,
  dependencies: Omit<LoadDependencies, 'environment'> = {},
): LoadResult {
  const variables = [...environmentOverrides(environment, 'process'), ...environmentOverrides(environment, 'target')];
  const deps = complete({ ...dependencies, environment }, variables);
  const places: Places = { of: () => 'environment' };
  const report = createReport(placesWithOverrides(places, deps.overrides));
  checkVariables(environment, null, report);
  return load(
    {
      name: 'environment',
      title: 'from flags and environment',
      directory: process.cwd(),
      value: environmentDocument(variables),
      places,
    },
    report,
    deps,
  );
}

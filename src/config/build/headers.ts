import { resolve } from 'node:path';
import type { Logger } from '../../log.ts';
import type { Environment } from '../expand.ts';
import type { ConfigFiles } from '../files.ts';
import type { KeyPath, Report } from '../report.ts';
import type { RawTarget } from '../schema/target.ts';
import { createFileSecret, createVariableSecret, type SourcedSecret } from '../secret.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// Set by the HTTP client from the request itself; another value would break the exchange.
const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Headers that usually carry a secret, which then stands readable in the file. */
const SECRETIVE = /^(?:authorization|proxy-authorization|cookie|.*(?:api-?key|token|secret).*)$/;

export interface SecretDeps {
  readonly directory: string;
  readonly environment: Environment;
  readonly files: ConfigFiles;
  readonly log: Logger;
  readonly report: Report;
}

/** Tells what is wrong with a secret now. A file that is not there yet stops nobody else's probes, so it is a warning. */
function checkSecret(secret: SourcedSecret, path: KeyPath, report: Report): void {
  const problem = secret.problem();
  if (problem === null) return;
  if (problem.kind === 'unusable') report.error(path, `names ${secret.source}, which ${problem.message}`);
  else
    report.warning(
      path,
      `names ${secret.source}, which ${problem.message}; probes of this target fail until it can be read`,
    );
}

const openFile = (path: string, deps: SecretDeps): SourcedSecret =>
  createFileSecret(resolve(deps.directory, path), deps);

/** The key of a target, from a file or from the environment. */
export function buildApiKey(raw: RawTarget, path: KeyPath, deps: SecretDeps): SourcedSecret | null {
  if (raw.api_key_file !== undefined && raw.api_key_env !== undefined) {
    deps.report.error([...path, 'api_key_env'], 'stands beside api_key_file: a target has one key', 'key');
  }
  if (raw.api_key_file !== undefined) {
    const secret = openFile(raw.api_key_file, deps);
    checkSecret(secret, [...path, 'api_key_file'], deps.report);
    return secret;
  }
  if (raw.api_key_env === undefined) return null;
  const secret = createVariableSecret(raw.api_key_env, deps.environment[raw.api_key_env], deps);
  const problem = secret.problem();
  // Unlike a file, a variable cannot appear later.
  if (problem !== null)
    deps.report.error([...path, 'api_key_env'], `names ${raw.api_key_env}, which ${problem.message}`);
  return secret;
}

/** Lower-case name of a header; reports names that cannot be sent, or that are given twice. */
function headerName(written: string, path: KeyPath, seen: Set<string>, report: Report): string {
  const name = written.toLowerCase();
  if (!TOKEN.test(written)) report.error(path, 'is not a header name', 'key');
  else if (RESERVED.has(name)) report.error(path, 'cannot be set: the HTTP client sets it itself', 'key');
  else if (seen.has(name)) report.error(path, 'is given twice: header names do not differ by case', 'key');
  seen.add(name);
  return name;
}

export interface BuiltHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly secretHeaders: Readonly<Record<string, SourcedSecret>>;
}

/** Further headers of a target, plain and from files, with lower-case names. */
export function buildHeaders(raw: RawTarget, path: KeyPath, deps: SecretDeps): BuiltHeaders {
  const { report } = deps;
  const seen = new Set<string>();
  const headers: Record<string, string> = {};
  for (const [written, value] of Object.entries(raw.headers ?? {})) {
    const at = [...path, 'headers', written];
    const name = headerName(written, at, seen, report);
    if (!/^[\x20-\x7e]*$/.test(value)) report.error(at, 'must be plain ASCII text');
    else if (SECRETIVE.test(name))
      report.warning(at, `looks like a secret in the configuration: put it into a file named in header_files`);
    headers[name] = value;
  }
  const secretHeaders: Record<string, SourcedSecret> = {};
  for (const [written, file] of Object.entries(raw.header_files ?? {})) {
    const at = [...path, 'header_files', written];
    const name = headerName(written, at, seen, report);
    const secret = openFile(file, deps);
    checkSecret(secret, at, report);
    secretHeaders[name] = secret;
  }
  return { headers, secretHeaders };
}

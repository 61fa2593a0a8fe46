import { inspect } from 'node:util';
import { ProbeExporterError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { LIMITS } from './defaults.ts';
import { type ConfigFiles, describeReadFailure } from './files.ts';
import type { Secret } from './types.ts';

const REDACTED = '<redacted>';

/** A secret that also says where it comes from: a path, or the name of a variable; never the value. */
export interface SourcedSecret extends Secret {
  readonly source: string;
  /** Why there is no value now; null when there is one. The first look happens when this or `reveal` is called. */
  problem(): SecretProblem | null;
}

/** `absent`: the file is not there (yet). `unusable`: it is there, but its contents cannot be a key. */
export interface SecretProblem {
  readonly kind: 'absent' | 'unusable';
  /** What is wrong and what to do; positions, but nothing of the text. */
  readonly message: string;
}

type Reading = { readonly value: string; readonly trimmed: boolean } | { readonly problem: SecretProblem };

const unusable = (message: string): Reading => ({ problem: { kind: 'unusable', message } });

/**
 * Takes the key out of the text of a secret file: byte order mark and surrounding white space go; anything that an
 * HTTP header cannot hold is refused with its position, never with the character itself.
 */
export function cleanSecret(bytes: Uint8Array): Reading {
  if (bytes.byteLength > LIMITS.secretBytes)
    return unusable(`holds more than ${LIMITS.secretBytes} bytes; is it the right file?`);
  const text = new TextDecoder('utf-8').decode(bytes);
  const value = text.trim();
  if (value === '') return unusable('is empty');
  const start = text.indexOf(value);
  const at = /[^\x21-\x7e ]/.exec(value)?.index;
  if (at !== undefined) {
    const code = value.charCodeAt(at);
    const what =
      code === 10 || code === 13
        ? 'a line end inside the key'
        : code < 0x80
          ? 'a control character'
          : 'a character that is not ASCII';
    return unusable(
      `holds ${what} at character ${start + at + 1}; save the key alone, without smart quotes, as plain text`,
    );
  }
  return { value, trimmed: value !== text };
}

interface SecretMaterial {
  readonly source: string;
  /** What the material is now; changes when it must be read again. */
  version(): string | null;
  read(): Reading;
}

function createSecret(material: SecretMaterial, log: Logger): SourcedSecret {
  let seen: string | null | undefined;
  let value: string | null = null;
  let problem: SecretProblem | null = null;

  const take = (reading: Reading): boolean => {
    if ('problem' in reading) {
      if (value !== null && problem?.message !== reading.problem.message) {
        log.warn(
          { source: material.source, problem: reading.problem.message },
          'secret cannot be read again, the last value stays',
        );
      }
      problem = reading.problem;
      return false;
    }
    // Said once for each value, not at each look.
    if (reading.trimmed && value !== reading.value)
      log.info({ source: material.source }, 'white space around the secret was removed');
    const changed = value !== null && value !== reading.value;
    if (changed) log.info({ source: material.source }, 'secret changed');
    problem = null;
    value = reading.value;
    return changed;
  };
  const look = (force: boolean): boolean => {
    const version = material.version();
    if (!force && version === seen) return false;
    seen = version;
    return take(material.read());
  };

  return {
    source: material.source,
    problem: () => {
      look(false);
      return problem;
    },
    reveal: () => {
      look(false);
      if (value === null)
        throw new ProbeExporterError(
          'SECRET_UNREADABLE',
          `secret ${material.source} ${problem?.message ?? 'is empty'}`,
        );
      return value;
    },
    refresh: () => look(true),
    toString: () => REDACTED,
    toJSON: () => REDACTED,
    // Node prints objects in errors and on the console through this, not through toString.
    [inspect.custom]: () => REDACTED,
  } as SourcedSecret;
}

/** A secret in a file, read again whenever the file changes. Reads nothing until it is asked for. */
export function createFileSecret(
  path: string,
  deps: { readonly files: ConfigFiles; readonly log: Logger },
): SourcedSecret {
  return createSecret(
    {
      source: path,
      version: () => deps.files.version(path),
      read: () => {
        try {
          return cleanSecret(deps.files.read(path));
        } catch (error) {
          return { problem: { kind: 'absent', message: describeReadFailure(error) } };
        }
      },
    },
    deps.log,
  );
}

/** A secret in an environment variable, which cannot change while the process runs. */
export function createVariableSecret(
  name: string,
  value: string | undefined,
  deps: { readonly log: Logger },
): SourcedSecret {
  return createSecret(
    {
      source: name,
      version: () => 'fixed',
      read: () =>
        value === undefined
          ? { problem: { kind: 'absent', message: 'is not set in the environment' } }
          : cleanSecret(new TextEncoder().encode(value)),
    },
    deps.log,
  );
}

/** Where a secret comes from, for people; null for a secret that was made elsewhere. */
export const sourceOf = (secret: Secret): string | null =>
  'source' in secret && typeof secret.source === 'string' ? secret.source : null;

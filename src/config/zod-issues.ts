import type { z } from 'zod';
import type { KeyPath, Report } from './report.ts';
import { rootSchema } from './schema/root.ts';
import { knownKeys } from './schema/walk.ts';
import { nearest } from './suggest.ts';

type Issue = z.core.$ZodIssue;

// What people write who come from other exporters and clients.
const ADVICE: Readonly<Record<string, string>> = {
  api_key: 'put the key into a file and name it in api_key_file',
  token: 'put the key into a file and name it in api_key_file',
  bearer_token: 'put the key into a file and name it in api_key_file',
  bearer_token_file: 'write api_key_file',
  timeout: 'write deadlines, with total for the whole probe',
  scrape_interval: 'write every in a profile',
  interval: 'write every',
  cron: 'write schedule',
  base_url: 'write url',
  endpoint: 'write url',
  endpoints: 'write targets',
  insecure_skip_verify: 'it belongs into connection.tls',
  tls_config: 'write connection.tls',
  tls: 'it belongs into connection',
  listen_address: 'it belongs into web',
  metrics_url: 'write metrics.url',
};

function unknownKey(path: KeyPath, name: string): string {
  const known = knownKeys(rootSchema, path);
  const advice = ADVICE[name];
  if (advice !== undefined) return `is not a key here: ${advice}`;
  const near = nearest(name, known);
  if (near !== null) return `is not a key here; did you mean ${near}?`;
  return `is not a key here; known are ${known.join(', ')}`;
}

/** Of the alternatives of a union the one that the value was meant to be: its kind is right, its contents are not. */
function meantAlternative(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] | null {
  return (
    issue.errors.find((errors) =>
      errors.every((error) => error.path.length > 0 || error.code === 'unrecognized_keys'),
    ) ?? null
  );
}

/** The place of an issue, and where to cut so that the rest can still be checked. */
export interface Refused {
  readonly path: KeyPath;
  /** An unknown key leaves the known ones beside it worth checking; a value of the wrong kind does not. */
  readonly kind: 'key' | 'value';
}

function tell(issue: Issue, base: KeyPath, report: Report, refused: Refused[]): void {
  const path = [...base, ...(issue.path as (string | number)[])];
  if (issue.code === 'unrecognized_keys') {
    for (const name of issue.keys) {
      report.error([...path, name], unknownKey(path, name), 'key');
      refused.push({ path: [...path, name], kind: 'key' });
    }
    return;
  }
  if (issue.code === 'invalid_union') {
    const meant = meantAlternative(issue);
    if (meant !== null && meant.length > 0) {
      for (const inner of meant) tell(inner, path, report, refused);
      return;
    }
  }
  report.error(path, issue.message);
  refused.push({ path, kind: 'value' });
}

/** Reports what a schema refused, each with its place, and returns the paths. */
export function tellIssues(error: z.ZodError, report: Report): readonly Refused[] {
  const refused: Refused[] = [];
  for (const issue of error.issues) tell(issue, [], report, refused);
  return refused;
}

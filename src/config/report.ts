import { ProbeExporterError } from '../errors.ts';
import type { ConfigIssue } from './types.ts';

/** Path of a key: names and list positions from the top. */
export type KeyPath = readonly (string | number)[];

/** Where keys stand: in a file, or in environment variables and flags. */
export interface Places {
  /** file:line:column, the name of a variable or of a flag. `key`: the key itself rather than its value. */
  of(path: KeyPath, part?: 'key' | 'value'): string;
  /** How the key is called there; empty where the place says it all (a variable, a flag). */
  nameOf?(path: KeyPath): string;
}

const CONTROL = /\p{Cc}/gu;

/** A path as people write it: `targets[0].profiles[1].every`. */
export function formatPath(path: KeyPath): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (!/^[A-Za-z0-9_-]+$/.test(part)) text += `[${JSON.stringify(part)}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text.replace(CONTROL, '?').slice(0, 200);
}

/** Collects what is wrong or weak. The same thing at the same place is said once, however many targets share it. */
export interface Report {
  error(path: KeyPath, message: string, part?: 'key' | 'value'): void;
  warning(path: KeyPath, message: string, part?: 'key' | 'value'): void;
  /** An issue that no key of the configuration stands for. */
  add(issue: ConfigIssue): void;
  issues(): readonly ConfigIssue[];
  failed(): boolean;
}

const LINE = /^(.*?):(\d+):(\d+)$/;

/** Errors first; what stands in one file in the order of its lines; the rest as it was found. */
function byPlace(a: ConfigIssue, b: ConfigIssue): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1;
  const [, fileA, lineA, columnA] = LINE.exec(a.place) ?? [];
  const [, fileB, lineB, columnB] = LINE.exec(b.place) ?? [];
  if (fileA === undefined || fileA !== fileB) return 0;
  return Number(lineA) - Number(lineB) || Number(columnA) - Number(columnB);
}

export function createReport(places: Places): Report {
  const issues = new Map<string, ConfigIssue>();
  const add = (issue: ConfigIssue): void => {
    const identity = JSON.stringify([issue.severity, issue.place, issue.key, issue.message]);
    if (!issues.has(identity)) issues.set(identity, issue);
  };
  const at =
    (severity: ConfigIssue['severity']) =>
    (path: KeyPath, message: string, part: 'key' | 'value' = 'value'): void =>
      add({ severity, place: places.of(path, part), key: places.nameOf?.(path) ?? formatPath(path), message });
  return {
    error: at('error'),
    warning: at('warning'),
    add,
    issues: () => [...issues.values()].sort(byPlace),
    failed: () => [...issues.values()].some((issue) => issue.severity === 'error'),
  };
}

/** One issue as one line: place, key, message. */
export function formatIssue(issue: ConfigIssue): string {
  const severity = issue.severity === 'warning' ? 'warning: ' : '';
  return `${issue.place}: ${severity}${issue.key === '' ? '' : `${issue.key}: `}${issue.message}`;
}

const count = (amount: number, what: string): string => `${amount} ${what}${amount === 1 ? '' : 's'}`;

/** A configuration that cannot be used: lists every issue, errors first. */
export class ConfigurationError extends ProbeExporterError {
  readonly issues: readonly ConfigIssue[];

  constructor(source: string, issues: readonly ConfigIssue[], options?: { readonly cause?: unknown }) {
    const errors = issues.filter((issue) => issue.severity === 'error');
    const lines = issues.map((issue) => `  ${formatIssue(issue)}`);
    super(
      'CONFIG_INVALID',
      `configuration ${source} is not usable: ${count(errors.length, 'error')}\n${lines.join('\n')}`,
      options,
    );
    this.issues = issues;
  }
}

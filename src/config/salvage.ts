import { DEFAULTS } from './defaults.ts';
import type { KeyPath, Report } from './report.ts';
import { type RawConfig, rootSchema } from './schema/root.ts';
import type { Refused } from './zod-issues.ts';

type Mapping = Readonly<Record<string, unknown>>;

const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy without the value at a path. Items of lists stay, as empty mappings, so that positions keep their meaning. */
function without(value: unknown, path: KeyPath): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return {};
  if (Array.isArray(value)) return value.map((item, index) => (index === part ? without(item, rest) : item));
  if (!isMapping(value)) return value;
  const kept = Object.entries(value).filter(([name]) => rest.length > 0 || name !== part);
  return Object.fromEntries(kept.map(([name, item]) => [name, name === part ? without(item, rest) : item]));
}

/** Names that no one else has for items that have lost theirs. */
function named(items: unknown, extra: Mapping): unknown {
  if (!Array.isArray(items)) return items;
  return items.map((item, index) => (isMapping(item) ? { name: `unnamed-${index}`, ...extra, ...item } : item));
}

/** Puts something harmless where a required key was taken out; what is wrong there has been told already. */
function withRequired(value: unknown): unknown {
  if (!isMapping(value)) return value;
  const targets = named(value.targets, { url: DEFAULTS.targetUrl });
  if (!Array.isArray(targets)) return value;
  const filled = targets.map((target: unknown) =>
    isMapping(target) && target.profiles !== undefined ? { ...target, profiles: named(target.profiles, {}) } : target,
  );
  return {
    ...value,
    targets: filled,
    ...(value.profiles === undefined ? {} : { profiles: named(value.profiles, {}) }),
  };
}

/** The target, profile or section that a path belongs to: the unit in which follow-up errors are worth nothing. */
const unitOf = (path: KeyPath): string => path.slice(0, typeof path[1] === 'number' ? 2 : 1).join('.');

/** A report that keeps quiet of what only follows from things already told. */
function withoutEchoes(report: Report, refused: readonly Refused[]): Report {
  const units = (kinds: readonly Refused['kind'][]): ReadonlySet<string> =>
    new Set(refused.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => unitOf(path)));
  const echoes = (broken: ReadonlySet<string>, path: KeyPath): boolean =>
    broken.has(unitOf(path)) || path.some((part) => broken.has(String(part)));
  const ofErrors = units(['value']);
  const ofWarnings = units(['value', 'key']);
  return {
    ...report,
    error: (path, message, part) => (echoes(ofErrors, path) ? undefined : report.error(path, message, part)),
    warning: (path, message, part) => (echoes(ofWarnings, path) ? undefined : report.warning(path, message, part)),
  };
}

/**
 * What is left of a document without the values that were refused, so that the rest is checked in the same run and a
 * person sees every mistake at once. Null when nothing useful is left.
 */
export function salvage(
  value: unknown,
  refused: readonly Refused[],
  report: Report,
): { readonly root: RawConfig; readonly report: Report } | null {
  const rest = refused.reduce((document, { path }) => without(document, path), value);
  const parsed = rootSchema.safeParse(withRequired(rest));
  return parsed.success ? { root: parsed.data, report: withoutEchoes(report, refused) } : null;
}

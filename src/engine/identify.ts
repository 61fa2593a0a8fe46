import type { Dialect } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/table.ts';
import type { ExpositionPage } from './exposition.ts';
import type { EngineName } from './types.ts';

/** The table that reads a page, and the spelling of the prefix that the page uses. */
export interface PageReader {
  readonly dialect: Dialect;
  readonly prefix: string;
}

/** A metrics page without any family that a dialect knows, or one that repeats other engines' numbers. */
export interface Unreadable {
  readonly why: 'unrecognised' | 'router';
  /** The beginnings of some names that are there, for people. */
  readonly families: readonly string[];
}

/** The names of a page in order, so that "does any begin with this" is a search and not a walk. */
type SortedNames = readonly string[];

// Of a page with very many names only the first are remembered, and whatever a table wants.
const sortedNames = (page: ExpositionPage): SortedNames =>
  [...page.names, ...page.types.keys(), ...page.samples.keys()].sort();

function startsOn(names: SortedNames, start: string): boolean {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? '') < start) low = middle + 1;
    else high = middle;
  }
  return names[low]?.startsWith(start) === true;
}

function prefixOn(names: SortedNames, dialect: Dialect): string | null {
  const { own, any, beside } = dialect.marks;
  const prefix = dialect.prefixes.find((candidate) => {
    // A colon belongs to the engine alone; an underscore may begin the names of other programs, too.
    const telling = candidate.endsWith(':') ? [''] : any;
    return (
      own.every((mark) => startsOn(names, `${candidate}${mark}`)) &&
      telling.some((mark) => startsOn(names, `${candidate}${mark}`))
    );
  });
  return prefix !== undefined && beside.every((mark) => startsOn(names, mark)) ? prefix : null;
}

function isRouter(page: ExpositionPage, names: SortedNames, { dialect, prefix }: PageReader): boolean {
  const { anchor, routerLabel, routerMarks } = dialect;
  if (anchor === null || routerLabel === null) return false;
  const samples = page.samples.get(`${prefix}${anchor}`) ?? [];
  if (samples.length > 0) return samples.every((sample) => sample.labels.has(routerLabel));
  return routerMarks.some((mark) => startsOn(names, `${prefix}${mark}`));
}

const MAX_FAMILIES = 8;

function familiesOf(page: ExpositionPage): readonly string[] {
  const starts = new Set<string>();
  for (const name of page.names) {
    starts.add(/^[^:_]+[:_]?/.exec(name)?.[0] ?? name);
    if (starts.size >= MAX_FAMILIES) break;
  }
  return [...starts];
}

export const isReadable = (found: PageReader | Unreadable): found is PageReader => 'dialect' in found;

/**
 * Finds the table for a page by the families on it. The tables of the engine that is expected there come first, which
 * decides between pages without any prefix.
 */
export function identifyPage(page: ExpositionPage, expected: EngineName | null = null): PageReader | Unreadable {
  const ordered = [
    ...DIALECTS.filter((dialect) => dialect.engine === expected),
    ...DIALECTS.filter((dialect) => dialect.engine !== expected),
  ];
  const names = sortedNames(page);
  for (const dialect of ordered) {
    const prefix = prefixOn(names, dialect);
    if (prefix === null) continue;
    const reader = { dialect, prefix };
    return isRouter(page, names, reader) ? { why: 'router', families: familiesOf(page) } : reader;
  }
  return { why: 'unrecognised', families: familiesOf(page) };
}

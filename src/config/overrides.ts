import { formatPath, type KeyPath, type Places } from './report.ts';

/** A value from a flag or an environment variable that takes the place of one key. */
export interface Override {
  readonly path: KeyPath;
  readonly value: unknown;
  /** The flag or variable, as people know it: `--log.level`, `INFERENCE_PROBE_LOG_LEVEL`. */
  readonly place: string;
}

type Container = Record<string | number, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** A copy with one value set; what is not a mapping on the way is left for the schema to refuse. */
function withValue(value: unknown, path: KeyPath, leaf: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return leaf;
  if (value !== undefined && value !== null && !isContainer(value)) return value;
  const copy: unknown =
    Array.isArray(value) || (value === undefined && typeof part === 'number')
      ? [...((value as unknown[]) ?? [])]
      : { ...value };
  const container = copy as Container;
  container[part] = withValue(container[part], rest, leaf);
  return container;
}

/** Puts overrides into a document. */
export const applyOverrides = (value: unknown, overrides: readonly Override[]): unknown =>
  overrides.reduce((document, override) => withValue(document, override.path, override.value), value);

const startsWith = (path: KeyPath, start: KeyPath): boolean =>
  start.length <= path.length && start.every((part, index) => part === path[index]);

/** Places of a document with overrides: the flag or variable where there is one, else where the document says. */
export function placesWithOverrides(places: Places, overrides: readonly Override[]): Places {
  const at = (path: KeyPath): Override | undefined => overrides.findLast((override) => startsWith(path, override.path));
  return {
    of: (path, part) => at(path)?.place ?? places.of(path, part),
    nameOf: (path) => (at(path) === undefined ? formatPath(path) : ''),
  };
}

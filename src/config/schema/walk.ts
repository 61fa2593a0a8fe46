import { z } from 'zod';
import type { KeyPath } from '../report.ts';

/** Removes what stands around a schema without changing its keys: optional, transform. */
export function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return unwrap(schema.in as z.ZodType);
  return schema;
}

/** The mapping in a schema: itself, or the one of a union that is a mapping. */
function mappingOf(schema: z.ZodType): z.ZodObject | null {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return inner;
  if (!(inner instanceof z.ZodUnion)) return null;
  for (const option of inner.options) {
    const found = mappingOf(option as z.ZodType);
    if (found !== null) return found;
  }
  return null;
}

/** Keys that a schema knows at a path; empty where there is no mapping. */
export function knownKeys(schema: z.ZodType, path: KeyPath): readonly string[] {
  let current: z.ZodType = schema;
  for (const part of path) {
    const inner = unwrap(current);
    const next =
      typeof part === 'number'
        ? inner instanceof z.ZodArray && (inner.element as z.ZodType)
        : (mappingOf(current)?.shape[part] as z.ZodType | undefined);
    if (!next) return [];
    current = next;
  }
  return Object.keys(mappingOf(current)?.shape ?? {});
}

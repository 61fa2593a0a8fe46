import { isObject } from '../json-value.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * `extra` over `body`. Objects are merged one level deep, so that adding one engine option does not throw out the
 * token limit beside it.
 */
export function mergeBody(body: Body, extra: Body): Body {
  const merged: Record<string, unknown> = { ...body };
  for (const [key, value] of Object.entries(extra)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
  return merged;
}

/** `{name: value}`, or nothing when the endpoint has refused the parameter. */
export const unlessRefused = (refused: ReadonlySet<string>, name: string, value: unknown): Body =>
  refused.has(name) ? {} : { [name]: value };

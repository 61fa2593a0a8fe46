/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for broken JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object that `text` holds; null for anything else, broken JSON included. */
export function parseObject(text: string): JsonObject | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}

/** More tokens than any context holds: such a number would spoil a counter for ever. */
const MOST_TOKENS = 1_000_000_000;

/** A token count; null for anything that cannot be one. */
export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : null;

export const nonEmptyString = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

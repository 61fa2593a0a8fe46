import type { TargetConfig } from '../config/types.ts';

/** The key in force. Read at each use, so that a rotated one is used from the next request on. */
export const keyOf = (target: TargetConfig): string | null => target.apiKey?.reveal() ?? null;

/**
 * All extra headers of a target. The secret ones are looked up whenever they are read, in whatever configuration is in
 * force then: a rotated secret is used from the next request on.
 */
export function liveHeaders(target: () => TargetConfig): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { ...target().headers };
  for (const name of Object.keys(target().secretHeaders)) {
    Object.defineProperty(headers, name, {
      enumerable: true,
      get: () => target().secretHeaders[name]?.reveal() ?? '',
    });
  }
  return headers;
}

/** Reads all secrets of the target again; true when one of them changed. */
export function refreshSecrets(target: TargetConfig): boolean {
  const secrets = [target.apiKey, ...Object.values(target.secretHeaders)];
  // Every one of them, and not only up to the first that changed.
  return secrets.map((secret) => secret?.refresh() ?? false).includes(true);
}

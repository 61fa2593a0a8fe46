import type { TargetConfig } from '../config/types.ts';

/** Values that JSON would flatten to `{}` or `null` and so make equal. Secrets print as redacted by themselves. */
function distinct(_key: string, value: unknown): unknown {
  if (value instanceof RegExp) return String(value);
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/**
 * What a target has to be built anew for. Two configurations with the same key differ at most in the source of their
 * secrets, which are looked up at each use, in what the kill switch knows and in the budget, which outlives a target.
 */
export function targetKey(target: TargetConfig): string {
  return JSON.stringify({ ...target, paused: null, budget: null }, distinct);
}

/** Stable codes of everything this program throws on purpose. Callers match codes, never message text. */
export const ERROR_CODES = [
  'CONFIG_INVALID',
  'SECRET_UNREADABLE',
  'USAGE',
  'LISTEN_FAILED',
  'DISK_FAILED',
  'INVARIANT',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * The one base of thrown errors: bad configuration, wrong usage, broken invariants.
 * Whatever an endpoint or an engine does is an outcome, not an exception.
 * `message` says what, where (file:line or target) and what to do.
 */
export class ProbeExporterError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'ProbeExporterError';
    this.code = code;
  }
}

/** @throws ProbeExporterError USAGE with this message */
export function wrongUsage(message: string, cause?: unknown): never {
  throw new ProbeExporterError('USAGE', message, cause === undefined ? undefined : { cause });
}

/** For the `default` of an exhaustive switch: the compiler refuses a missed member, the runtime a forged one. */
export function unreachable(value: never): never {
  throw new ProbeExporterError('INVARIANT', `unexpected value ${JSON.stringify(value)}`);
}

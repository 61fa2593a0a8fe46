import { type Seconds, seconds } from '../units.ts';

// Longest unit first, the order in which a compound duration is written.
const DURATION_UNITS = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 } as const;
type DurationUnit = keyof typeof DURATION_UNITS;
const UNIT_ORDER = Object.keys(DURATION_UNITS) as readonly DurationUnit[];

/** The written form of a duration: numbers with units, longest unit first, such as `15s`, `500ms`, `1h30m`. */
export const DURATION_PATTERN =
  /^(?=\d)(?:\d+(?:\.\d+)?d)?(?:\d+(?:\.\d+)?h)?(?:\d+(?:\.\d+)?m(?!s))?(?:\d+(?:\.\d+)?s)?(?:\d+(?:\.\d+)?ms)?$/;

/** Reads a duration such as `15s` or `1h30m`, in seconds; null when the text is none (a bare number has no unit). */
export function parseDuration(text: string): Seconds | null {
  if (!DURATION_PATTERN.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    total += Number(amount) * DURATION_UNITS[unit as DurationUnit];
  }
  // 0.1 + 0.2: whole microseconds are finer than anything that is configured here.
  return Number.isFinite(total) ? seconds(Math.round(total * 1e6) / 1e6) : null;
}

/** Writes a duration in the form that `parseDuration` reads, with the largest unit that keeps the number whole. */
export function formatDuration(value: number): string {
  if (value === 0) return '0s';
  for (const unit of UNIT_ORDER) {
    const amount = Math.round((value / DURATION_UNITS[unit]) * 1e6) / 1e6;
    if (amount >= 1 && Number.isInteger(amount)) return `${amount}${unit}`;
  }
  const milliseconds = Math.round(value * 1e6) / 1e3;
  return value < 1 ? `${milliseconds}ms` : `${Math.round(value * 1e6) / 1e6}s`;
}

const BYTE_UNITS = {
  B: 1,
  kB: 1e3,
  KiB: 1024,
  MB: 1e6,
  MiB: 1024 ** 2,
  GB: 1e9,
  GiB: 1024 ** 3,
  TB: 1e12,
  TiB: 1024 ** 4,
} as const;
type ByteUnit = keyof typeof BYTE_UNITS;
const BINARY_UNITS = ['TiB', 'GiB', 'MiB', 'KiB'] as const satisfies readonly ByteUnit[];

/** The written form of a number of bytes: `32MiB`, `500kB`, `80GB`. */
export const BYTES_PATTERN = /^(\d+(?:\.\d+)?)\s?(B|kB|KiB|MB|MiB|GB|GiB|TB|TiB)$/;

/** Reads a number of bytes with its unit; null when the text is none. */
export function parseBytes(text: string): number | null {
  const match = BYTES_PATTERN.exec(text);
  if (match === null) return null;
  const bytes = Number(match[1]) * BYTE_UNITS[match[2] as ByteUnit];
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : null;
}

/** Writes a number of bytes in the form that `parseBytes` reads. */
export function formatBytes(bytes: number): string {
  for (const unit of BINARY_UNITS) {
    const amount = bytes / BYTE_UNITS[unit];
    if (amount >= 1 && Number.isInteger(amount)) return `${amount}${unit}`;
  }
  return `${bytes}B`;
}

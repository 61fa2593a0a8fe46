import { ProbeExporterError } from '../errors.ts';
import { type Seconds, seconds } from '../units.ts';
import { SIM_FAULT_KINDS, type SimFault, type SimFaultKind } from './fault-types.ts';

const refuse = (message: string): never => {
  throw new ProbeExporterError('USAGE', `simulator fault: ${message}`);
};

const isKind = (value: unknown): value is SimFaultKind => SIM_FAULT_KINDS.some((kind) => kind === value);

/** Reads the fields of one fault; a number may be written as text, as on a command line. */
function fieldReader(kind: SimFaultKind, given: Readonly<Record<string, unknown>>) {
  const known = new Set(['kind']);
  const take = (name: string): unknown => {
    known.add(name);
    return given[name] ?? null;
  };
  const number = (name: string, least: number): number | null => {
    const value = take(name);
    if (value === null || value === '') return null;
    const parsed = typeof value === 'string' ? Number(value) : value;
    if (typeof parsed === 'number' && parsed >= least && Number.isFinite(parsed)) return parsed;
    return refuse(`${kind}: ${name} must be a number of at least ${least}`);
  };
  return {
    count: (name: string, fallback: number): number => Math.floor(number(name, 0) ?? fallback),
    countOrNull: (name: string): number | null => {
      const value = number(name, 1);
      return value === null ? null : Math.floor(value);
    },
    number: (name: string, least: number, fallback: number): number => number(name, least) ?? fallback,
    numberOrNull: (name: string): number | null => number(name, 0),
    seconds: (name: string, fallback: number): Seconds => seconds(number(name, 0) ?? fallback),
    secondsOrNull: (name: string): Seconds | null => {
      const value = number(name, 0);
      return value === null ? null : seconds(value);
    },
    text: (name: string, fallback: string): string => {
      const value = take(name);
      return typeof value === 'string' && value !== '' ? value : fallback;
    },
    choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
      const value = take(name);
      if (value === null) return fallback;
      return (
        choices.find((choice) => choice === value) ?? refuse(`${kind}: ${name} must be one of ${choices.join(', ')}`)
      );
    },
    rejectUnknown(): void {
      const unknown = Object.keys(given).find((name) => !known.has(name));
      if (unknown !== undefined) refuse(`${kind} has no field ${unknown}; it has ${[...known].join(', ')}`);
    },
  };
}
type FieldReader = ReturnType<typeof fieldReader>;

const lasting = (read: FieldReader) => ({ forSeconds: read.secondsOrNull('for_seconds') });
const ofRequests = (read: FieldReader) => ({ ...lasting(read), requests: read.countOrNull('requests') });
const CLEARABLE = [
  'error',
  'stall',
  'truncate',
  'buffer',
  'degenerate',
  'refuse',
  'hang',
  'sleep',
  'slow',
  'all',
] as const;

function readClear(read: FieldReader): SimFault {
  const fault = read.choice('fault', CLEARABLE, 'all');
  return { kind: 'clear', fault: fault === 'all' ? null : fault };
}

const READERS: { readonly [K in SimFaultKind]: (read: FieldReader) => SimFault } = {
  error: (read) => ({
    kind: 'error',
    ...ofRequests(read),
    where: read.choice('where', ['http', 'stream'], 'http'),
    afterTokens: read.count('after_tokens', 3),
  }),
  stall: (read) => ({
    kind: 'stall',
    ...ofRequests(read),
    afterTokens: read.count('after_tokens', 3),
    stallSeconds: read.secondsOrNull('stall_seconds'),
  }),
  truncate: (read) => ({
    kind: 'truncate',
    ...ofRequests(read),
    afterTokens: read.count('after_tokens', 3),
    how: read.choice('how', ['end', 'reset'], 'end'),
  }),
  buffer: (read) => ({ kind: 'buffer', ...ofRequests(read) }),
  degenerate: (read) => ({ kind: 'degenerate', ...ofRequests(read), text: read.text('text', '!') }),
  refuse: (read) => ({
    kind: 'refuse',
    ...ofRequests(read),
    status: read.choice('status', ['503', '429'], '503') === '429' ? 429 : 503,
    retryAfterSeconds: read.numberOrNull('retry_after_seconds'),
  }),
  restart: (read) => ({ kind: 'restart', downSeconds: read.seconds('down_seconds', 2) }),
  hang: (read) => ({ kind: 'hang', ...lasting(read) }),
  sleep: (read) => ({ kind: 'sleep', ...lasting(read) }),
  slow: (read) => ({ kind: 'slow', ...lasting(read), factor: read.number('factor', 0.01, 3) }),
  clear: readClear,
};

/**
 * A fault from decoded JSON: `{"kind": "stall", "after_tokens": 3, "stall_seconds": 10}`. Throws USAGE, saying what is
 * wrong and which fields there are.
 */
export function parseFault(value: unknown): SimFault {
  if (typeof value !== 'object' || value === null) return refuse('expected an object with a "kind"');
  const given = value as Readonly<Record<string, unknown>>;
  const { kind } = given;
  if (!isKind(kind)) return refuse(`kind must be one of ${SIM_FAULT_KINDS.join(', ')}`);
  const normal = { ...given, ...(typeof given.status === 'number' ? { status: String(given.status) } : {}) };
  const read = fieldReader(kind, normal);
  const fault = READERS[kind](read);
  read.rejectUnknown();
  return fault;
}

/** The same from a command line: `stall,after_tokens=3,stall_seconds=10`. Throws USAGE. */
export function parseFaultText(text: string): SimFault {
  const [kind, ...fields] = text.split(',').map((part) => part.trim());
  const pairs = fields.map((field): [string, string] => {
    const at = field.indexOf('=');
    if (at < 1) return refuse(`"${field}" in "${text}" is not name=value`);
    return [field.slice(0, at), field.slice(at + 1)];
  });
  return parseFault({ ...Object.fromEntries(pairs), kind });
}

import { z } from 'zod';
import type { Seconds } from '../../units.ts';
import { BYTES_PATTERN, DURATION_PATTERN, formatDuration, parseBytes, parseDuration } from '../quantities.ts';

/** What JSON Schema and the reference page say of a key. */
export interface KeyFacts {
  readonly description: string;
  /** As it would be written in the file. */
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
}

const kindOf = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'an empty value';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
};

/** The message of a value of the wrong kind. Never repeats the value: it may be a secret in the wrong place. */
const wanted =
  (what: string) =>
  (issue: { readonly input?: unknown }): string =>
    issue.input === undefined ? `is missing: give ${what}` : `must be ${what}, not ${kindOf(issue.input)}`;

// Not a pattern of the schema: other validators read \p as the letter p.
const CONTROL = /\p{Cc}/u;

/** Text without control characters or line ends, at most `max` characters. */
export const text = (what = 'text', max = 2000) =>
  z
    .string({ error: wanted(what) })
    .min(1, 'must not be empty')
    .max(max, `must not be longer than ${max} characters`)
    .refine((value) => !CONTROL.test(value), 'must not hold control characters or line ends');

/** Text of any shape: prompts may have several lines. */
export const prose = (what: string, max = 200_000) =>
  z
    .string({ error: wanted(what) })
    .min(1, 'must not be empty')
    .max(max, `must not be longer than ${max} characters`);

export const path = (what = 'the path of a file') => text(what, 4096);

export const flag = () => z.boolean({ error: wanted('true or false') });

export const integer = (min: number, max: number) =>
  z
    .number({ error: wanted('a whole number') })
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

export const numberBetween = (min: number, max: number) =>
  z
    .number({ error: wanted('a number') })
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`);

/** An objective: a share of all probes, strictly between 0 and 1. */
export const ratio = () =>
  z
    .number({ error: wanted('a number between 0 and 1') })
    .gt(0, 'must be above 0')
    .lt(1, 'must be below 1: write 0.99 for 99 %, and nothing is ever 100 %');

export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, {
    error: (issue) =>
      issue.input === undefined ? `is missing: one of ${values.join(', ')}` : `must be one of ${values.join(', ')}`,
  });

/** A duration with its unit, in seconds once read. */
export const duration = (limits: { readonly min?: number; readonly max?: number } = {}) =>
  z
    .string({ error: wanted('a duration with its unit, such as 15s or 500ms') })
    .regex(DURATION_PATTERN, 'is not a duration: write a number with its unit, such as 500ms, 15s, 2m or 1h30m')
    .transform((written, context): Seconds => {
      const value = parseDuration(written);
      if (value === null) {
        context.addIssue({ code: 'custom', message: 'is not a duration' });
        return z.NEVER;
      }
      const { min = 0.001, max } = limits;
      if (value < min) context.addIssue({ code: 'custom', message: `must be at least ${formatDuration(min)}` });
      if (max !== undefined && value > max) {
        context.addIssue({ code: 'custom', message: `must be at most ${formatDuration(max)}` });
      }
      return value;
    });

/** A number of bytes: plain, or with its unit. */
export const bytes = (min: number, max: number) => {
  const what = 'a size such as 32MiB';
  return z
    .union([z.number(), z.string().regex(BYTES_PATTERN, 'is not a size: write a size such as 32MiB')], {
      error: (issue) => wanted(what)(issue),
    })
    .transform((written, context): number => {
      const value = typeof written === 'number' ? written : parseBytes(written);
      if (value === null || !Number.isInteger(value) || value < min || value > max) {
        context.addIssue({ code: 'custom', message: `must be a whole number of bytes from ${min} to ${max}` });
        return z.NEVER;
      }
      return value;
    });
};

/** A mapping that refuses keys it does not know. */
export const mapping = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : wanted('a mapping of keys to values')(issue)),
  });

export const list = <T extends z.ZodType>(item: T, what: string) => z.array(item, { error: wanted(what) });

/** Free-form names with a value each. */
export const dictionary = <T extends z.ZodType>(value: T, what: string) =>
  z.record(z.string(), value, { error: wanted(what) });

/** Attaches what the documentation says of a key. */
export const key = <T extends z.ZodType>(schema: T, facts: KeyFacts): z.ZodOptional<T> =>
  schema.optional().meta({ ...facts }) as z.ZodOptional<T>;

/** The same for a key that must be given. */
export const required = <T extends z.ZodType>(schema: T, facts: KeyFacts): T => schema.meta({ ...facts });

import { parseDuration } from '../config/quantities.ts';
import { ProbeExporterError } from '../errors.ts';
import type { LoadPlan } from '../experiment/types.ts';

const wrong = (message: string): never => {
  throw new ProbeExporterError('USAGE', message);
};

/** A duration, or a bare number of seconds, as people are used to on a command line. */
export function secondsOf(flag: string, text: string): number {
  const parsed = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : parseDuration(text);
  return parsed ?? wrong(`${flag} ${JSON.stringify(text)} is no duration; write seconds, or 500ms, 30s, 2m`);
}

export function wholeNumber(flag: string, text: string, least = 1): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) && value >= least
    ? value
    : wrong(`${flag} ${JSON.stringify(text)} must be a whole number of at least ${least}`);
}

const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b);

/** Whole numbers separated by commas; ascending, each once. */
export const wholeNumbers = (flag: string, text: string): readonly number[] =>
  ascending(text.split(',').map((part) => wholeNumber(flag, part.trim())));

/** Numbers separated by commas; ascending, each once. */
export function anyNumbers(flag: string, text: string): readonly number[] {
  const values = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (values.every((value) => Number.isFinite(value))) return ascending(values);
  return wrong(`${flag} ${JSON.stringify(text)} must be numbers separated by commas; other settings are for compare`);
}

const OBJECTIVES = { ttft: 'ttftSeconds', tpot: 'tpotSeconds', e2e: 'e2eSeconds' } as const;

const isObjective = (name: string): name is keyof typeof OBJECTIVES => Object.hasOwn(OBJECTIVES, name);

/** `ttft=500ms,tpot=50ms,e2e=10s`, any of them. */
export function objectives(text: string | undefined): LoadPlan['slo'] {
  const slo: { -readonly [Key in keyof LoadPlan['slo']]: number | null } = {
    ttftSeconds: null,
    tpotSeconds: null,
    e2eSeconds: null,
  };
  for (const part of text === undefined ? [] : text.split(',')) {
    const [name = '', value = ''] = part.split('=').map((word) => word.trim());
    if (!isObjective(name)) return wrong(`--slo ${JSON.stringify(part)}: write ttft=500ms, tpot=50ms or e2e=10s`);
    const limit = secondsOf(`--slo ${name}`, value);
    if (limit <= 0) wrong(`--slo ${name} must be more than 0`);
    slo[OBJECTIVES[name]] = limit;
  }
  return slo;
}

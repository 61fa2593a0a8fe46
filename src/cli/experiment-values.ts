import { parseDuration } from '../config/quantities.ts';
import { wrongUsage } from '../errors.ts';

/** A duration, or a bare number of seconds, as people are used to on a command line. */
export function secondsOf(flag: string, text: string): number {
  const parsed = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : parseDuration(text);
  return parsed ?? wrongUsage(`${flag} ${JSON.stringify(text)} is no duration; write seconds, or 500ms, 30s, 2m`);
}

export function wholeNumber(flag: string, text: string, least = 1): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) && value >= least
    ? value
    : wrongUsage(`${flag} ${JSON.stringify(text)} must be a whole number of at least ${least}`);
}

const ascending = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b);

/** Whole numbers separated by commas; ascending, each once. */
export const wholeNumbers = (flag: string, text: string): readonly number[] =>
  ascending(text.split(',').map((part) => wholeNumber(flag, part.trim())));

/** Numbers separated by commas; ascending, each once. */
export function anyNumbers(flag: string, text: string): readonly number[] {
  const values = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (values.every((value) => Number.isFinite(value))) return ascending(values);
  return wrongUsage(
    `${flag} ${JSON.stringify(text)} must be numbers separated by commas; other settings are for compare`,
  );
}

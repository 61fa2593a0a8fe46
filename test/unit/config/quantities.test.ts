import { describe, expect, it } from 'vitest';
import { formatBytes, formatDuration, parseBytes, parseDuration } from '../../../src/config/quantities.ts';

describe('durations', () => {
  it.each([
    ['15s', 15],
    ['500ms', 0.5],
    ['2m', 120],
    ['1h30m', 5400],
    ['1.5s', 1.5],
    ['1m500ms', 60.5],
    ['1d', 86_400],
    ['0s', 0],
    ['0.1s', 0.1],
  ])('reads %s as %d seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each(['', '15', 's', '10 s', '-5s', '1ms2s', '1s2m', '.5s', '1e3s', '5 minutes', '5sec', '٥s'])(
    'refuses %j',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  it.each([
    [15, '15s'],
    [0.5, '500ms'],
    [60, '1m'],
    [90, '90s'],
    [5400, '90m'],
    [86_400, '1d'],
    [0, '0s'],
    [0.0005, '0.5ms'],
    [1.5, '1500ms'],
  ])('writes %d seconds as %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe('sizes', () => {
  it.each([
    ['32MiB', 33_554_432],
    ['500kB', 500_000],
    ['1.5KiB', 1536],
    ['80GB', 80e9],
    ['12B', 12],
    ['4 MiB', 4_194_304],
  ])('reads %s as %d bytes', (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  it.each(['', '32', '32 mib', 'MiB', '-1MiB', '32Mi'])('refuses %j', (text) => {
    expect(parseBytes(text)).toBeNull();
  });

  it.each([
    [33_554_432, '32MiB'],
    [1024, '1KiB'],
    [1000, '1000B'],
  ])('writes %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

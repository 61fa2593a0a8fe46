import { describe, expect, test } from 'vitest';
import { createStop } from '../../../src/probe/stop.ts';

describe('the stop of a probe', () => {
  test('tells its listener once, however often it is given', () => {
    const stop = createStop();
    let told = 0;
    stop.addEventListener('abort', () => {
      told += 1;
    });
    expect(stop.aborted).toBe(false);
    stop.abort();
    stop.abort();
    expect([stop.aborted, told]).toEqual([true, 1]);
  });

  test('tells nobody who has taken the listener away, and is still known to be given', () => {
    const stop = createStop();
    let told = 0;
    const listener = (): void => {
      told += 1;
    };
    stop.addEventListener('abort', listener);
    stop.removeEventListener('abort', listener);
    stop.abort();
    expect([stop.aborted, told]).toEqual([true, 0]);
  });
});

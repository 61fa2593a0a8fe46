import { describe, expect, it } from 'vitest';
import { createTimeline } from '../../../src/probe/timeline.ts';
import { monotonicInstant } from '../../../src/units.ts';

describe('createTimeline', () => {
  const at = (value: number): ReturnType<typeof monotonicInstant> => monotonicInstant(value);
  const kept = (limit: number, added: number): number[] => {
    const timeline = createTimeline(limit);
    for (let index = 0; index < added; index += 1) timeline.add(at(index), 'token', 1);
    return timeline.entries().map((entry) => entry.at);
  };

  it.each([
    [6, 4, [0, 1, 2, 3]],
    [6, 6, [0, 1, 2, 3, 4, 5]],
    [6, 8, [0, 1, 2, 5, 6, 7]],
    [6, 100, [0, 1, 2, 97, 98, 99]],
    [5, 100, [0, 1, 2, 98, 99]],
    [1, 100, [0]],
    [0, 100, []],
  ])('of %i entries, %i added: the first and the last stay, in order', (limit, added, expected) => {
    expect(kept(limit, added)).toEqual(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { DEFAULT_COST, stepSeconds } from '../../../src/sim/cost.ts';
import { seconds } from '../../../src/units.ts';

describe('the cost model', () => {
  it('adds up what a step does, term by term', () => {
    const cost = {
      stepSeconds: seconds(1),
      prefillTokenSeconds: seconds(0.1),
      decodeSequenceSeconds: seconds(0.01),
      kvTokenSeconds: seconds(0.001),
    };
    expect(stepSeconds(cost, { prefillTokens: 2, decodeSequences: 3, kvTokensRead: 4 })).toBeCloseTo(1.234, 9);
  });

  it('is by default a small GPU: 16 ms a token and 83 ms to the first for a lone request of 512', () => {
    const first = stepSeconds(DEFAULT_COST, { prefillTokens: 512, decodeSequences: 0, kvTokensRead: 0 });
    const token = stepSeconds(DEFAULT_COST, { prefillTokens: 0, decodeSequences: 1, kvTokensRead: 512 });
    const busy = stepSeconds(DEFAULT_COST, { prefillTokens: 0, decodeSequences: 48, kvTokensRead: 48 * 500 });
    expect(first).toBeCloseTo(0.0826, 4);
    expect(token).toBeCloseTo(0.0163, 4);
    expect(busy).toBeCloseTo(0.0292, 4);
  });
});

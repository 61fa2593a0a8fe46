import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenBudget, worstCaseTokens } from '../../../src/schedule/budget.ts';
import { manualClock } from '../../support/manual-clock.ts';

describe('token budget', () => {
  it('refuses what might pass the limit, and says what is left', () => {
    const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 1000 }, { clock: manualClock() });
    const first = budget.reserve(60);
    expect(budget.remaining()).toEqual({ hour: 40, day: 940 });
    expect(budget.reserve(41)).toBeNull();
    first?.settle(10);
    expect(budget.remaining()).toEqual({ hour: 90, day: 990 });
    expect(budget.reserve(90)).not.toBeNull();
  });

  it('gives an hour back after an hour, and the day only after a day', async () => {
    const clock = manualClock();
    const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 150 }, { clock });
    budget.reserve(100)?.settle(100);
    await clock.advance(3599);
    expect(budget.reserve(1)).toBeNull();
    await clock.advance(62);
    expect(budget.remaining()).toEqual({ hour: 100, day: 50 });
    budget.reserve(50)?.settle(50);
    await clock.advance(7200);
    expect(budget.remaining()).toEqual({ hour: 100, day: 0 });
    expect(budget.reserve(1)).toBeNull();
    await clock.advance(86_400);
    expect(budget.remaining()).toEqual({ hour: 100, day: 150 });
  });

  it('takes only the first settlement of a reservation, and shows overspending as nothing left', () => {
    const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 100 }, { clock: manualClock() });
    const reservation = budget.reserve(10);
    reservation?.settle(130);
    reservation?.settle(0);
    expect(budget.remaining()).toEqual({ hour: 0, day: 0 });
  });

  it('new limits do not give back what was spent', () => {
    const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 1000 }, { clock: manualClock() });
    budget.reserve(60)?.settle(60);
    budget.configure({ tokensPerHour: 50, tokensPerDay: 500 });
    expect(budget.remaining()).toEqual({ hour: 0, day: 440 });
    budget.configure({ tokensPerHour: 200, tokensPerDay: 500 });
    expect(budget.remaining()).toEqual({ hour: 140, day: 440 });
  });

  it('an unusable count costs nothing and breaks nothing', () => {
    const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 100 }, { clock: manualClock() });
    for (const odd of [Number.NaN, -5, Number.POSITIVE_INFINITY]) budget.reserve(20)?.settle(odd);
    expect(budget.remaining()).toEqual({ hour: 100, day: 100 });
  });

  it('in no hour are more tokens spent than allowed, however the probes fall', async () => {
    const spends = fc.array(
      fc.record({
        wait: fc.integer({ min: 1, max: 1500 }),
        worst: fc.integer({ min: 1, max: 60 }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { minLength: 1, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(spends, async (steps) => {
        const clock = manualClock();
        const budget = createTokenBudget({ tokensPerHour: 100, tokensPerDay: 10_000 }, { clock });
        const spent: { readonly at: number; readonly tokens: number }[] = [];
        for (const { wait, worst, share } of steps) {
          await clock.advance(wait);
          const reservation = budget.reserve(worst);
          const tokens = Math.floor(worst * share);
          reservation?.settle(tokens);
          if (reservation !== null) spent.push({ at: clock.monotonic(), tokens });
        }
        for (const { at } of spent) {
          const inHour = spent.filter((other) => other.at > at - 3600 && other.at <= at);
          expect(inHour.reduce((sum, other) => sum + other.tokens, 0)).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('worst case of a probe', () => {
  const cost = { promptTokens: 512, prompt: null, maxTokens: 32, lastPromptTokens: null };

  it('leaves room for the tokenizer and the chat template before the endpoint has counted a prompt', () => {
    expect(worstCaseTokens(cost)).toBe(512 * 1.5 + 64 + 32);
  });

  it('is close to the truth once the endpoint has counted one', () => {
    expect(worstCaseTokens({ ...cost, lastPromptTokens: 520 })).toBe(520 + 64 + 32);
  });

  it('takes the bytes of a fixed prompt for the most tokens that it can have', () => {
    expect(worstCaseTokens({ ...cost, prompt: '2+2=好' })).toBe(7 + 64 + 32);
  });
});

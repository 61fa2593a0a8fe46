import { describe, expect, it } from 'vitest';
import { judgeObjective } from '../../../src/config/check/slo.ts';
import { cronRunsPerDay } from '../../../src/config/cron-rate.ts';
import { planTokens } from '../../../src/config/plan.ts';
import { firstTarget, TARGET } from './support.ts';

describe('what a probe rate can measure', () => {
  // Bad probes that a page over one hour needs at 14.4 times the budget: 14.4 x (1 - objective) x probes.
  it.each([
    [0.99, 240, 'measurable'],
    [0.99, 60, 'measurable'],
    [0.99, 12, 'measurable'],
    [0.99, 6, 'one_failure_pages'],
    [0.995, 12, 'one_failure_pages'],
    [0.999, 240, 'measurable'],
    [0.999, 120, 'measurable'],
    [0.999, 60, 'one_failure_pages'],
    [0.9999, 240, 'one_failure_pages'],
    [0.95, 240, 'measurable'],
    [0.9, 240, 'never_pages'],
  ] as const)('of an objective of %d with %d probes an hour: %s', (objective, perHour, verdict) => {
    expect(judgeObjective(objective, perHour)).toBe(verdict);
  });
});

describe('how often a cron expression is due', () => {
  it.each([
    ['*/10 * * * * *', 8640],
    ['0 */5 * * * *', 288],
    ['*/5 * * * *', 288],
    ['0 0 8-18 * * *', 11],
    ['0 30 2 * * *', 1],
    ['0 0 0 * * mon-fri', 5 / 7],
    ['0 0 0 * * 0,7', 1 / 7],
    ['0 0 12 L * *', 1 / 31],
    ['0 0 12 ? * 1', 1 / 7],
    ['15,45 0/30 * * * *', 96],
  ])('%s is due %d times a day', (expression, runs) => {
    expect(cronRunsPerDay(expression)).toBeCloseTo(runs, 6);
  });

  it.each([
    '',
    'every minute',
    '* * *',
    '61 * * * * *',
    '5-1 * * * * *',
    '*/0 * * * * *',
    '* * * * * * *',
    'a * * * * *',
  ])('cannot read %j', (expression) => {
    expect(cronRunsPerDay(expression)).toBeNull();
  });
});

describe('the plan of tokens', () => {
  it('of the default profiles stays within the default budget', () => {
    const target = firstTarget(TARGET);
    expect(planTokens(target)).toEqual({ tokensPerHour: 76_800, tokensPerDay: 1_843_200 });
    expect(planTokens(target).tokensPerHour).toBeLessThan(target.budget.tokensPerHour);
    expect(planTokens(target).tokensPerDay).toBeLessThan(target.budget.tokensPerDay);
  });

  it('counts a fixed prompt by its length', () => {
    const target = firstTarget(
      `profiles: [{name: c, every: 1h, prompt: "${'x'.repeat(400)}", max_tokens: 20}]\n${TARGET}`,
    );
    expect(planTokens(target).tokensPerHour).toBe(120);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockPool, createBlockPool } from '../../../src/sim/blocks.ts';
import { createScheduler, type Scheduler, type SchedulerOptions, type StepPlan } from '../../../src/sim/scheduler.ts';
import { createSequence, knownTokens, type Sequence } from '../../../src/sim/sequence.ts';
import { monotonicInstant } from '../../../src/units.ts';
import { prompt } from './helpers.ts';

const BLOCK_SIZE = 4;

const sequence = (order: number, promptTokens: number, answerTokens: number, salt = order): Sequence =>
  createSequence({
    order,
    promptTokenIds: prompt(promptTokens, salt),
    answerSeed: order,
    answerTokens,
    finishReason: 'length',
    arrivedAt: monotonicInstant(0),
    blockSize: BLOCK_SIZE,
  });

const limits = (more: Partial<SchedulerOptions> = {}): SchedulerOptions => ({
  maxNumSeqs: 8,
  tokenBudget: 32,
  chunkedPrefill: true,
  blockSize: BLOCK_SIZE,
  ...more,
});

/** Does what the engine does at the end of a step; gives the sequences that ended. */
function complete(scheduler: Scheduler, plan: StepPlan): readonly Sequence[] {
  const ended: Sequence[] = [];
  for (const entry of plan.entries) {
    entry.computed += entry.scheduled;
    if (entry.computed < knownTokens(entry)) continue;
    entry.generated += 1;
    if (entry.generated < entry.answerTokens) continue;
    scheduler.remove(entry);
    ended.push(entry);
  }
  return ended;
}

const orders = (list: readonly Sequence[]): readonly number[] => list.map((entry) => entry.order);

// Thousands of plans are checked: a plain throw is a hundred times cheaper than a matcher.
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`violated: ${what}`);
}

/** What must hold after each plan, whatever came before. */
function checkPlan(scheduler: Scheduler, pool: BlockPool, plan: StepPlan, options: SchedulerOptions): void {
  pool.audit();
  const line = [...orders(scheduler.running), ...orders(scheduler.waiting)];
  must(
    line.every((order, at) => at === 0 || order > (line[at - 1] ?? order)),
    'first come, first served: batch and queue together are in the order of arrival',
  );
  must(scheduler.running.length <= options.maxNumSeqs, 'no more running than max_num_seqs');
  const tokens = plan.entries.reduce((sum, entry) => sum + entry.scheduled, 0);
  must(tokens <= options.tokenBudget, 'no more tokens in a step than its budget');
  for (const entry of plan.entries) {
    const after = entry.computed + entry.scheduled;
    must(entry.scheduled > 0 && after <= knownTokens(entry), 'only tokens that exist are computed');
    must(entry.blocks.length === Math.ceil(after / BLOCK_SIZE), 'as many blocks as tokens need, no more');
  }
  must(
    scheduler.waiting.every((entry) => entry.blocks.length === 0),
    'who waits holds nothing',
  );
  must(plan.preempted.length === 0 || plan.admitted.length === 0, 'a step that preempts admits nobody');
  const work = scheduler.running.length + scheduler.waiting.length;
  must(work === 0 || plan.entries.length > 0, 'work always moves');
}

describe('the simulated scheduler', () => {
  it('keeps its invariants and serves everybody under any load that fits one at a time', () => {
    const arrival = fc.record({
      promptTokens: fc.integer({ min: 1, max: 40 }),
      answerTokens: fc.integer({ min: 1, max: 24 }),
      atStep: fc.integer({ min: 0, max: 20 }),
      // Requests of one salt share their beginnings.
      salt: fc.nat({ max: 5 }),
    });
    const seen = { preempted: 0, cached: 0 };
    const setup = fc.record({
      arrivals: fc.array(arrival, { minLength: 1, maxLength: 14 }),
      maxNumSeqs: fc.integer({ min: 1, max: 6 }),
      tokenBudget: fc.integer({ min: 4, max: 80 }),
      chunkedPrefill: fc.boolean(),
      prefixCaching: fc.boolean(),
      spareBlocks: fc.integer({ min: 0, max: 12 }),
    });
    fc.assert(
      fc.property(setup, ({ arrivals, maxNumSeqs, chunkedPrefill, prefixCaching, spareBlocks, ...rest }) => {
        // 64 tokens are the longest request; without chunks a step must hold it whole.
        const tokenBudget = chunkedPrefill ? rest.tokenBudget : Math.max(64, rest.tokenBudget);
        const options = limits({ maxNumSeqs, tokenBudget, chunkedPrefill });
        const pool = createBlockPool({ numBlocks: 64 / BLOCK_SIZE + 1 + spareBlocks, prefixCaching });
        const scheduler = createScheduler(options, pool);
        const coming = [...arrivals].sort((a, b) => a.atStep - b.atStep);
        const ended: Sequence[] = [];
        let order = 0;
        for (let step = 0; ended.length < arrivals.length; step += 1) {
          must(step < 2000, 'everybody is served in the end');
          while (coming[0] !== undefined && coming[0].atStep <= step) {
            const { promptTokens, answerTokens, salt } = coming[0];
            scheduler.add(sequence(order, promptTokens, answerTokens, salt));
            coming.shift();
            order += 1;
          }
          const plan = scheduler.plan();
          checkPlan(scheduler, pool, plan, options);
          seen.preempted += plan.preempted.length;
          seen.cached += plan.admitted.filter((entry) => (entry.cachedTokens ?? 0) > 0).length;
          ended.push(...complete(scheduler, plan));
        }
        pool.audit();
        expect(pool.free()).toBe(pool.usable);
        expect(new Set(orders(ended)).size).toBe(arrivals.length);
        expect(ended.map((entry) => entry.generated)).toEqual(ended.map((entry) => entry.answerTokens));
      }),
      { numRuns: 100 },
    );
    // The runs were worth something: both happened, many times.
    expect(seen.preempted).toBeGreaterThan(50);
    expect(seen.cached).toBeGreaterThan(50);
  });

  it('preempts the latest arrival, puts it at the head of the queue, and computes it again', () => {
    const pool = createBlockPool({ numBlocks: 5, prefixCaching: false });
    const scheduler = createScheduler(limits(), pool);
    // Two blocks each for the prompts; the fourth answer token of either needs a third.
    for (const order of [0, 1]) scheduler.add(sequence(order, 7, 9));
    scheduler.add(sequence(2, 4, 2));
    const preempted: number[] = [];
    for (let step = 0; preempted.length === 0 && step < 10; step += 1) {
      const plan = scheduler.plan();
      preempted.push(...orders(plan.preempted));
      complete(scheduler, plan);
    }
    expect(preempted).toEqual([1]);
    expect(orders(scheduler.waiting)).toEqual([1, 2]);
    expect(scheduler.waiting[0]?.computed).toBe(0);
    expect(scheduler.waiting[0]?.generated).toBeGreaterThan(0);
  });

  it('computes a long prompt in chunks beside the sequences that decode', () => {
    const scheduler = createScheduler(
      limits({ tokenBudget: 10 }),
      createBlockPool({ numBlocks: 65, prefixCaching: false }),
    );
    scheduler.add(sequence(0, 5, 50));
    complete(scheduler, scheduler.plan());
    scheduler.add(sequence(1, 25, 2));
    const works = [1, 2, 3, 4].map(() => {
      const plan = scheduler.plan();
      complete(scheduler, plan);
      return [plan.work.prefillTokens, plan.work.decodeSequences];
    });
    expect(works).toEqual([
      [9, 1],
      [9, 1],
      [7, 1],
      [0, 2],
    ]);
  });

  it('without chunks lets the head of the queue wait until its whole prompt fits a step', () => {
    const options = limits({ tokenBudget: 30, chunkedPrefill: false });
    const scheduler = createScheduler(options, createBlockPool({ numBlocks: 65, prefixCaching: false }));
    scheduler.add(sequence(0, 20, 2));
    scheduler.add(sequence(1, 20, 2));
    scheduler.add(sequence(2, 2, 2));
    const admitted = [1, 2].map(() => {
      const plan = scheduler.plan();
      complete(scheduler, plan);
      return orders(plan.admitted);
    });
    // The short third would have fitted beside the first, but nobody overtakes.
    expect(admitted).toEqual([[0], [1, 2]]);
  });

  it('reads the context of each scheduled sequence once', () => {
    const scheduler = createScheduler(limits(), createBlockPool({ numBlocks: 65, prefixCaching: false }));
    scheduler.add(sequence(0, 6, 9));
    scheduler.add(sequence(1, 10, 9));
    complete(scheduler, scheduler.plan());
    expect(scheduler.plan().work).toEqual({ prefillTokens: 0, decodeSequences: 2, kvTokensRead: 16 });
  });
});

import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/app/limiter.ts';

/** Work that ends when told to. */
function gate() {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('limiter', () => {
  it('never lets more work run than allowed, and all of it in the end', async () => {
    const limiter = createLimiter(3);
    let running = 0;
    let most = 0;
    const work = async (): Promise<number> => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      return 1;
    };
    const results = await Promise.all(Array.from({ length: 20 }, () => limiter.run(work, false)));
    expect(most).toBe(3);
    expect(results).toHaveLength(20);
  });

  it('lets the urgent go first, each kind in the order of coming', async () => {
    const limiter = createLimiter(1);
    const first = gate();
    const order: string[] = [];
    const named = (name: string) => async () => void order.push(name);
    const all = [
      limiter.run(() => first.passed, false),
      limiter.run(named('again 1'), false),
      limiter.run(named('urgent 1'), true),
      limiter.run(named('again 2'), false),
      limiter.run(named('urgent 2'), true),
    ];
    first.open();
    await Promise.all(all);
    expect(order).toEqual(['urgent 1', 'urgent 2', 'again 1', 'again 2']);
  });

  it('work that throws gives its place on', async () => {
    const limiter = createLimiter(1);
    const failing = limiter.run(() => Promise.reject(new Error('no')), false);
    const following = limiter.run(async () => 'done', false);
    await expect(failing).rejects.toThrow('no');
    expect(await following).toBe('done');
  });
});

import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { createBasicAuth } from '../../../src/http/auth.ts';

interface Verdict {
  readonly status: number;
}

/** A comparison that the test finishes by hand. */
function heldVerifier() {
  const asked: { password: string; hash: string; finish: (matches: boolean) => void }[] = [];
  const verify = (password: string, hash: string): Promise<boolean> =>
    new Promise((resolve) => {
      asked.push({ password, hash, finish: resolve });
    });
  return { asked, verify };
}

function authUnderTest(
  verify: (password: string, hash: string) => Promise<boolean>,
  users = new Map([['prometheus', 'hash']]),
) {
  const handler = createBasicAuth({ users: () => users, verify });
  return (user: string, password: string, path = '/metrics'): Promise<Verdict> =>
    new Promise((resolve, reject) => {
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
      let status = 200;
      const response = {
        status(code: number) {
          status = code;
          return response;
        },
        setHeader: () => response,
        end: () => resolve({ status }),
      };
      Promise.resolve(
        handler({ path, headers: { authorization } } as unknown as Request, response as unknown as Response, () =>
          resolve({ status: 200 }),
        ),
      ).catch(reject);
    });
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('password checks', () => {
  it('of one password are done once, at the same time and ever after', async () => {
    const { asked, verify } = heldVerifier();
    const ask = authUnderTest(verify);
    const together = Promise.all([ask('prometheus', 'right'), ask('prometheus', 'right'), ask('prometheus', 'right')]);
    await settle();
    expect(asked).toHaveLength(1);
    asked[0]?.finish(true);
    expect(await together).toEqual([{ status: 200 }, { status: 200 }, { status: 200 }]);
    expect(await ask('prometheus', 'right')).toEqual({ status: 200 });
    expect(asked).toHaveLength(1);
  });

  it('remember a wrong password too', async () => {
    const { asked, verify } = heldVerifier();
    const ask = authUnderTest(verify);
    const first = ask('prometheus', 'wrong');
    await settle();
    asked[0]?.finish(false);
    expect(await first).toEqual({ status: 401 });
    expect(await ask('prometheus', 'wrong')).toEqual({ status: 401 });
    expect(asked).toHaveLength(1);
  });

  it('cost an unknown user as much as a known one, and never let him in', async () => {
    const { asked, verify } = heldVerifier();
    const ask = authUnderTest(verify);
    const answer = ask('nobody', 'x');
    await settle();
    expect(asked[0]?.hash).toMatch(/^\$2b\$10\$.{53}$/);
    asked[0]?.finish(true);
    expect(await answer).toEqual({ status: 401 });
  });

  it('are refused in a flood, so that guesses cannot occupy the processor', async () => {
    const { asked, verify } = heldVerifier();
    const ask = authUnderTest(verify);
    const answers = Array.from({ length: 20 }, (_, index) => ask('prometheus', `guess ${index}`));
    await settle();
    expect(asked).toHaveLength(8);
    for (const { finish } of asked) finish(false);
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 503)).toHaveLength(12);
    expect(statuses.filter((status) => status === 401)).toHaveLength(8);
  });

  it('that fail are not remembered', async () => {
    let broken = true;
    const ask = authUnderTest(async () => {
      if (broken) throw new Error('no thread');
      return true;
    });
    await expect(ask('prometheus', 'right')).rejects.toThrow('no thread');
    broken = false;
    expect(await ask('prometheus', 'right')).toEqual({ status: 200 });
  });

  it('keep a bounded memory: the oldest answer is forgotten', async () => {
    let comparisons = 0;
    const ask = authUnderTest(async () => {
      comparisons += 1;
      return false;
    });
    for (let index = 0; index < 101; index += 1) await ask('prometheus', `p${index}`);
    await ask('prometheus', 'p100');
    expect(comparisons).toBe(101);
    await ask('prometheus', 'p0');
    expect(comparisons).toBe(102);
  });

  it('are not asked for without users, nor by health checks', async () => {
    const { asked, verify } = heldVerifier();
    expect(await authUnderTest(verify, new Map())('a', 'b')).toEqual({ status: 200 });
    expect(await authUnderTest(verify)('a', 'b', '/-/healthy')).toEqual({ status: 200 });
    expect(asked).toEqual([]);
  });
});

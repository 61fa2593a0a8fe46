import { EventEmitter, getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { alternate, bareHostname, ConnectError, raceAddresses } from '../../../src/probe/transport-address.ts';
import { seconds } from '../../../src/units.ts';
import { manualClock } from '../../support/manual-clock.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;
  readonly address: string;

  constructor(address: string) {
    super();
    this.address = address;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

function race(addresses: readonly string[]) {
  const clock = manualClock();
  const controller = new AbortController();
  const sockets = new Map<string, FakeSocket>();
  const start = (address: string): FakeSocket => {
    const socket = new FakeSocket(address);
    sockets.set(address, socket);
    return socket;
  };
  const result = raceAddresses(addresses, start, seconds(0.25), clock, controller.signal);
  // Looked at by each test in its own time.
  result.catch(() => {});
  const fail = (address: string, code: string): void => {
    sockets.get(address)?.emit('error', Object.assign(new Error('x'), { code }));
  };
  return {
    clock,
    controller,
    sockets,
    result,
    fail,
    succeed: (address: string) => sockets.get(address)?.emit('connect'),
  };
}

describe('the race of addresses', () => {
  test('G-071: does not cut off a slow address: the next one only joins it', async () => {
    const { clock, sockets, result, succeed } = race(['a', 'b']);
    expect([...sockets.keys()]).toEqual(['a']);
    await clock.advance(0.25);
    expect([...sockets.keys()]).toEqual(['a', 'b']);
    await clock.advance(0.05);
    succeed('a');
    expect((await result).address).toBe('a');
    expect(sockets.get('a')?.destroyed).toBe(false);
    expect(sockets.get('b')?.destroyed).toBe(true);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('goes on at once after a refusal', async () => {
    const { sockets, result, fail, succeed } = race(['a', 'b']);
    fail('a', 'ECONNREFUSED');
    expect([...sockets.keys()]).toEqual(['a', 'b']);
    succeed('b');
    expect((await result).address).toBe('b');
  });

  test('is lost when every address failed, and lists them', async () => {
    const { clock, result, fail, controller } = race(['a', 'b']);
    await clock.advance(0.3);
    fail('b', 'ENETUNREACH');
    fail('a', 'ETIMEDOUT');
    const error = await result.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({
      step: 'tcp',
      attempts: [
        { address: 'b', code: 'ENETUNREACH' },
        { address: 'a', code: 'ETIMEDOUT' },
      ],
    });
    expect(clock.pendingTimers()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('ends on abort with the reason of the signal, and closes what it opened', async () => {
    const { clock, controller, sockets, result } = race(['a', 'b', 'c']);
    await clock.advance(0.3);
    controller.abort('enough');
    await expect(result).rejects.toBe('enough');
    expect([...sockets.values()].map(({ destroyed }) => destroyed)).toEqual([true, true]);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('without addresses is a failure of the name', async () => {
    await expect(race([]).result).rejects.toMatchObject({ step: 'dns' });
  });

  test('is not begun after an abort', async () => {
    const started: string[] = [];
    const start = (address: string): FakeSocket => {
      started.push(address);
      return new FakeSocket(address);
    };
    await expect(raceAddresses(['a'], start, seconds(1), manualClock(), AbortSignal.abort('no'))).rejects.toBe('no');
    expect(started).toEqual([]);
  });
});

describe('the order of addresses', () => {
  test.each([
    [
      ['::1', '::2', '10.0.0.1'],
      ['::1', '10.0.0.1', '::2'],
    ],
    [
      ['10.0.0.1', '10.0.0.2', '::1', '::2', '::3'],
      ['10.0.0.1', '::1', '10.0.0.2', '::2', '::3'],
    ],
    [['10.0.0.1'], ['10.0.0.1']],
    [[], []],
  ])('of %j lets the families take turns', (addresses, expected) => {
    expect(alternate(addresses)).toEqual(expected);
  });
});

test('the host name of an IPv6 URL has no brackets', () => {
  expect(bareHostname(new URL('http://[::1]:80/'))).toBe('::1');
  expect(bareHostname(new URL('http://engine.test/'))).toBe('engine.test');
});

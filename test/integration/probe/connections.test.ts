import { describe, expect, test } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { withRig } from '../../support/probe-rig.ts';
import type { Script, Step } from '../../support/scripted-server.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';
import { GOOD_STREAM, openStream, token } from '../../support/stream-text.ts';
import { startWorkerServer } from '../../support/worker-server.ts';

function blockLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const RESET: readonly Step[] = [{ atMs: 0, act: 'RST' }];

/** Good on every connection's first request; what `then` says afterwards. */
const onceGood = (then: readonly Step[]): Script => {
  const seen = new Set<number>();
  return ({ connection }) => {
    const first = !seen.has(connection);
    seen.add(connection);
    return first ? GOOD_STREAM : then;
  };
};

describe('a reused connection', () => {
  test('carries one probe after the other, without phases of a set-up', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ good, server }) => {
      const [first, second] = [await good(), await good()];
      expect(server.connections()).toBe(1);
      expect(first).toMatchObject({ connection: 'fresh', phases: { dns: null, tls: null } });
      expect(first.phases.tcp).toBeGreaterThanOrEqual(0);
      expect(second).toMatchObject({ connection: 'reused', phases: { dns: null, tcp: null, tls: null } });
      for (const { phases } of [first, second]) {
        expect(phases.write).toBeGreaterThanOrEqual(0);
        expect(phases.headers).toBeGreaterThanOrEqual(phases.write ?? Number.NaN);
      }
      expect(server.requests[0]?.headers.connection).toBe('keep-alive');
    });
  });

  test('outlives the 4 s after which HTTP clients give it up by default', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ good, server }) => {
      await good();
      await new Promise((resolve) => setTimeout(resolve, 4300));
      expect((await good()).connection).toBe('reused');
      expect(server.connections()).toBe(1);
    });
  });

  test('G-068: is replaced once when the server resets it before a byte came', async () => {
    await withRig({ script: onceGood(RESET) }, async ({ good, server }) => {
      await good();
      const second = await good();
      expect(second).toMatchObject({ connection: 'fresh', retriedStaleConnection: true });
      expect(second.phases.tcp).not.toBeNull();
      expect(server.requests).toHaveLength(3);
    });
  });

  test('G-068: is replaced once when the server ends it before a byte came', async () => {
    await withRig({ script: onceGood([{ atMs: 0, act: 'FIN' }]) }, async ({ good, server }) => {
      await good();
      expect((await good()).retriedStaleConnection).toBe(true);
      expect(server.requests).toHaveLength(3);
    });
  });

  test('is replaced silently when its end was seen before the request', async () => {
    const script = (): readonly Step[] => [...GOOD_STREAM, { atMs: 25, act: 'FIN' }];
    await withRig({ script }, async ({ good, server }) => {
      await good();
      await server.quiet();
      expect(await good()).toMatchObject({ connection: 'fresh', retriedStaleConnection: false });
      expect(server.requests).toHaveLength(2);
    });
  });

  test('is replaced when its end had arrived but was not seen yet', async () => {
    const server = await startWorkerServer([...GOOD_STREAM, { atMs: 60, act: 'FIN' }]);
    await withRig({ target: { url: server.url } }, async ({ good }) => {
      await good();
      blockLoop(150);
      // Whether the end is seen before the request is written is up to the event loop.
      expect((await good()).connection).toBe('fresh');
    });
    await server.close();
  });

  test('is not replaced twice: a fresh connection that is reset as well is a lost connection', async () => {
    const script: Script = (_, index) => (index === 0 ? GOOD_STREAM : RESET);
    await withRig({ script }, async ({ good, failed, server }) => {
      await good();
      expect(await failed()).toMatchObject({ retriedStaleConnection: true, failure: { reason: 'connection_lost' } });
      expect(server.requests).toHaveLength(3);
    });
  });

  test('is not replaced when a byte of the response came', async () => {
    const cut = onceGood([
      { atMs: 0, act: 'H' },
      { atMs: 30, act: 'RST' },
    ]);
    await withRig({ script: cut }, async ({ good, failed, server }) => {
      await good();
      expect(await failed()).toMatchObject({ retriedStaleConnection: false, failure: { reason: 'connection_lost' } });
      expect(server.requests).toHaveLength(2);
    });
  });

  test('is not replaced when the server took its time to die: that is no stale socket', async () => {
    await withRig({ script: onceGood([{ atMs: 1100, act: 'RST' }]) }, async ({ good, failed, server }) => {
      await good();
      expect((await failed()).failure.reason).toBe('connection_lost');
      expect(server.requests).toHaveLength(2);
    });
  });

  test('is not used again after a stream that was cut short', async () => {
    const script: Script = (_, index) => (index === 0 ? openStream([[0, token('A')]]) : GOOD_STREAM);
    const profile = { deadlines: { betweenTokensSeconds: seconds(0.1) } };
    await withRig({ script, profile }, async ({ good, failed, server }) => {
      expect((await failed()).failure.reason).toBe('stalled');
      expect((await good()).connection).toBe('fresh');
      expect(server.connections()).toBe(2);
    });
  });

  test('is not shared: probes at the same time each have their own', async () => {
    await withRig({ script: () => GOOD_STREAM }, async ({ good, server }) => {
      const outcomes = await Promise.all([good(), good(), good()]);
      expect(outcomes.map(({ connection }) => connection)).toEqual(['fresh', 'fresh', 'fresh']);
      await Promise.all([good(), good(), good()]);
      expect(server.connections()).toBe(3);
    });
  });
});

describe('a fresh connection', () => {
  test('is made for each probe and announced as the last', async () => {
    await withRig({ script: () => GOOD_STREAM, profile: { connection: 'fresh' } }, async ({ good, server }) => {
      expect((await good()).connection).toBe('fresh');
      expect((await good()).connection).toBe('fresh');
      expect(server.connections()).toBe(2);
      expect(server.requests[0]?.headers.connection).toBe('close');
    });
  });

  test('is never repeated', async () => {
    await withRig({ script: () => RESET, profile: { connection: 'fresh' } }, async ({ failed, server }) => {
      expect(await failed()).toMatchObject({ retriedStaleConnection: false, failure: { reason: 'connection_lost' } });
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe('addresses', () => {
  const resolveTo = (addresses: readonly string[]) => ({ resolve: () => Promise.resolve(addresses) });

  test('G-071: the next address is tried when the first refuses', async () => {
    const server = await startScriptedServer({ script: () => GOOD_STREAM });
    const options = {
      target: { url: `http://engine.test:${server.port}` },
      dependencies: resolveTo(['127.0.0.2', '127.0.0.1']),
    };
    await withRig(options, async ({ good }) => {
      await good();
      expect(server.requests[0]?.headers.host).toBe(`engine.test:${server.port}`);
    });
    await server.quiet();
    await server.close();
  });

  test('G-071: localhost is found on whichever address the engine listens', async () => {
    const server = await startScriptedServer({ script: () => GOOD_STREAM });
    await withRig({ target: { url: `http://localhost:${server.port}` } }, async ({ good }) => {
      expect((await good()).phases.dns).toBeGreaterThanOrEqual(0);
    });
    await server.quiet();
    await server.close();
  });

  test('G-071: every address that refused is listed', async () => {
    const { port, close } = await startScriptedServer({});
    await close();
    const options = {
      target: { url: `http://engine.test:${port}` },
      dependencies: resolveTo(['127.0.0.1', '127.0.0.2']),
    };
    await withRig(options, async ({ failed }) => {
      const { failure, requestAt, connection, durationSeconds } = await failed();
      expect(failure.reason).toBe('connect_refused');
      expect(failure.detail.addresses).toEqual(['127.0.0.1 ECONNREFUSED', '127.0.0.2 ECONNREFUSED']);
      expect({ requestAt, connection, durationSeconds }).toEqual({
        requestAt: null,
        connection: null,
        durationSeconds: null,
      });
    });
  });

  test('a name that does not resolve is dns', async () => {
    const failing = { resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) };
    await withRig({ target: { url: 'http://engine.test' }, dependencies: failing }, async ({ failed }) => {
      expect((await failed()).failure).toMatchObject({
        reason: 'dns',
        detail: { code: 'ENOTFOUND' },
        stage: 'connect',
      });
    });
  });

  test('a resolver that hangs meets the connect deadline', async () => {
    const options = {
      target: { url: 'http://engine.test' },
      dependencies: { resolve: () => new Promise<never>(() => {}) },
      profile: { deadlines: { connectSeconds: seconds(0.1) } },
    };
    await withRig(options, async ({ failed }) => {
      expect((await failed()).failure).toMatchObject({
        reason: 'connect_timeout',
        detail: { step: 'dns', addresses: [] },
      });
    });
  });

  test('changes of DNS are followed by the next connection', async () => {
    const addresses = [['127.0.0.1'], ['127.0.0.2']];
    const dependencies = { resolve: () => Promise.resolve(addresses.shift() ?? []) };
    const profile = { connection: 'fresh' } as const;
    const server = await startScriptedServer({ script: () => GOOD_STREAM });
    const target = { url: `http://engine.test:${server.port}` };
    await withRig({ target, dependencies, profile }, async ({ good, failed }) => {
      await good();
      expect((await failed()).failure.detail.addresses).toEqual(['127.0.0.2 ECONNREFUSED']);
    });
    await server.quiet();
    await server.close();
  });

  test('an IPv6 literal works in the URL and in the Host header', async ({ skip }) => {
    const server = await startScriptedServer({ script: () => GOOD_STREAM, host: '::1' }).catch(() => null);
    if (server === null) return skip('no IPv6 here');
    await withRig({ target: { url: server.url } }, async ({ good }) => {
      expect((await good()).phases.dns).toBeNull();
      expect(server.requests[0]?.headers.host).toBe(`[::1]:${server.port}`);
    });
    await server.quiet();
    await server.close();
  });

  test('G-080: a port that browsers refuse works', async ({ skip }) => {
    const listen = (port: number) => startScriptedServer({ script: () => GOOD_STREAM, port }).catch(() => null);
    const server = (await listen(10_080)) ?? (await listen(6000)) ?? (await listen(5060));
    if (server === null) return skip('all of these ports are taken here');
    await withRig({ target: { url: server.url } }, async ({ good }) => {
      expect((await good()).httpStatus).toBe(200);
    });
    await server.quiet();
    await server.close();
  });
});

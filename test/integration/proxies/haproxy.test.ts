import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { freePort } from '../../support/ports.ts';
import { haproxyInFrontOf, isMissing } from '../../support/real-proxy.ts';
import { flowing, inFront, probing, reasonOf, STEP_SECONDS, startEngine, startServer, TOKENS } from './harness.ts';

const haproxy = (...how: Parameters<typeof haproxyInFrontOf>) => inFront('haproxy', haproxyInFrontOf(...how));

describe.skipIf(isMissing('haproxy'))('HAProxy in front of the engine', () => {
  test('by default holds small chunks back for 200 ms, and is found out by its bursts', async () => {
    const engine = await startEngine();
    const proxy = await haproxy(engine.url.host);
    const outcome = await probing(proxy.url, { maxTokens: 3 * TOKENS })();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: true, tpotSeconds: null });
  });

  test('with option http-no-delay is not seen in any number', async () => {
    const engine = await startEngine();
    const proxy = await haproxy(engine.url.host, { defaults: 'option http-no-delay' });
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: false, outputTokens: TOKENS });
    expect(outcome.tpotSeconds).toBeGreaterThan(0.5 * STEP_SECONDS);
  });

  test('without an engine that accepts answers with a page and 503', async () => {
    const proxy = await haproxy(`127.0.0.1:${await freePort()}`);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 503, failure: { reason: 'no_upstream', side: 'path' } });
  });

  test('whose check has found no engine answers with a page and 503', async () => {
    const server = `check inter 50ms fall 1 rise 1`;
    const proxy = await haproxy(`127.0.0.1:${await freePort()}`, { server });
    await sleep(200);
    expect(reasonOf(await probing(proxy.url)())).toBe('no_upstream');
  });

  test('whose engine is full for it answers with 503 after the queue', async () => {
    const engine = await startEngine();
    const proxy = await haproxy(engine.url.host, { server: 'maxconn 1', defaults: 'timeout queue 100ms' });
    // Busy for far longer than the queue is patient.
    const busy = probing(proxy.url, { maxTokens: 250 })();
    while (engine.engine.state().running === 0) await sleep(5);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 503, failure: { reason: 'no_upstream' } });
    expect(reasonOf(await busy)).toBe('good');
  });

  test('that waits for an engine without headers answers with a page and 504', async () => {
    const server = await startServer(() => []);
    const proxy = await haproxy(new URL(server.url).host, { defaults: 'timeout server 300ms' });
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 504, failure: { reason: 'gateway_timeout', side: 'path' } });
  });

  test('whose engine hangs up before the headers answers with 502', async () => {
    const server = await startServer(() => [{ atMs: 0, act: 'RST' }]);
    const proxy = await haproxy(new URL(server.url).host);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 502, failure: { reason: 'bad_gateway', side: 'path' } });
  });

  test('that gives up a stream in the middle loses the connection', async () => {
    const engine = await startEngine();
    engine.fault({ kind: 'stall', afterTokens: 3, stallSeconds: null, requests: null, forSeconds: null });
    const proxy = await haproxy(engine.url.host, { defaults: 'timeout server 300ms' });
    const outcome = await probing(proxy.url)();
    expect(reasonOf(outcome)).toBe('connection_lost');
    expect(outcome.ttftSeconds).not.toBeNull();
  });

  test('whose engine is killed in the middle of a stream: the connection is lost', async () => {
    const engine = await startEngine();
    const proxy = await haproxy(engine.url.host);
    const probe = probing(proxy.url, { maxTokens: 200 });
    const running = probe();
    await flowing(engine);
    engine.fault({ kind: 'restart', downSeconds: seconds(20) });
    expect(reasonOf(await running)).toBe('connection_lost');
    expect(reasonOf(await probe())).toBe('no_upstream');
  });

  test('that closes an idle connection between two probes costs neither', async () => {
    const engine = await startEngine();
    const proxy = await haproxy(engine.url.host);
    const probe = probing(proxy.url);
    expect((await probe()).connection).toBe('fresh');
    await sleep(1500);
    expect(await probe()).toMatchObject({ outcome: 'good', connection: 'fresh' });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seconds } from '../../../src/units.ts';
import { freePort } from '../../support/ports.ts';
import { isMissing, nginxInFrontOf } from '../../support/real-proxy.ts';
import { flowing, inFront, probing, reasonOf, STEP_SECONDS, startEngine, startServer, TOKENS } from './harness.ts';

const UNBUFFERED = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;';
const nginx = (upstream: string, directives = UNBUFFERED) => inFront('nginx', nginxInFrontOf(upstream, directives));
/**
 * nginx fills its buffers where the length of the answer is not known: with HTTP/1.0 to the engine, which is its
 * default. With 1.1 it passes on each chunk that it gets, buffering or not. The buffers are larger than the whole answer,
 * as those of the defaults are for the few tokens of a probe.
 */
const BUFFERED = 'proxy_http_version 1.0; proxy_buffering on; proxy_buffer_size 32k; proxy_buffers 8 32k;';
const GZIP = 'gzip on; gzip_proxied any; gzip_min_length 0; gzip_types text/event-stream;';
const ASK_FOR_GZIP = { headers: { 'accept-encoding': 'gzip' } };
const SPAN_SECONDS = STEP_SECONDS * (TOKENS - 1);

describe.skipIf(isMissing('nginx'))('nginx in front of the engine', () => {
  test('without buffering is not seen in any number', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: false, compressed: false, outputTokens: TOKENS });
    expect(outcome.tpotSeconds).toBeGreaterThan(0.5 * STEP_SECONDS);
    expect(outcome.gapsSeconds).toHaveLength(outcome.tokenChunks - 1);
  });

  test('with buffering is found out: the TTFT is that of the lump, gaps and TPOT are withheld', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, BUFFERED);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: true, tpotSeconds: null, outputTokens: TOKENS });
    expect(outcome.ttftSeconds).toBeGreaterThan(SPAN_SECONDS);
  });

  test('with buffers smaller than the answer is found out by its bursts', async () => {
    const engine = await startEngine();
    const proxy = await nginx(
      engine.url.host,
      'proxy_http_version 1.0; proxy_buffering on; proxy_buffer_size 4k; proxy_buffers 8 4k;',
    );
    const outcome = await probing(proxy.url, { maxTokens: 3 * TOKENS })();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: true });
  });

  test('with buffering, but HTTP/1.1 to the engine, passes on every chunk, and is not accused', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, BUFFERED.replace('1.0', '1.1'));
    expect(await probing(proxy.url)()).toMatchObject({ outcome: 'good', buffered: false });
  });

  test('does not compress what we ask for as it is', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, `${UNBUFFERED} ${GZIP}`);
    expect(await probing(proxy.url)()).toMatchObject({ outcome: 'good', buffered: false, compressed: false });
  });

  test('with gzip and buffering is found out when the configuration asks for gzip', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, `${BUFFERED} ${GZIP}`);
    const outcome = await probing(proxy.url, ASK_FOR_GZIP)();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: true, compressed: true, outputTokens: TOKENS });
  });

  test('with gzip and without buffering flushes each event, which is clean', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, `${UNBUFFERED} ${GZIP}`);
    const outcome = await probing(proxy.url, ASK_FOR_GZIP)();
    expect(outcome).toMatchObject({ outcome: 'good', buffered: false, compressed: true, outputTokens: TOKENS });
  });

  test.each([
    ['over HTTP/1.1 loses the connection', UNBUFFERED, 'connection_lost'],
    // Over HTTP/1.0 the end of the connection is the end of the answer, and nginx passes it on in good order.
    ['over HTTP/1.0 cuts the answer short', BUFFERED, 'truncated'],
  ])('whose engine is killed in the middle of a stream, %s', async (_, directives, reason) => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host, directives);
    const probe = probing(proxy.url, { maxTokens: 200 });
    const running = probe();
    await flowing(engine);
    engine.fault({ kind: 'restart', downSeconds: seconds(20) });
    const outcome = await running;
    expect(outcome).toMatchObject({ outcome: 'failed', httpStatus: 200, terminal: false });
    expect(reasonOf(outcome)).toBe(reason);
    // And until it is back there is nobody behind the gateway.
    expect(reasonOf(await probe())).toBe('bad_gateway');
  });

  test('without an engine answers with a page and 502', async () => {
    const proxy = await nginx(`127.0.0.1:${await freePort()}`);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 502, failure: { reason: 'bad_gateway', side: 'path' } });
  });

  test('that waits for an engine without headers answers with a page and 504', async () => {
    const server = await startServer(() => []);
    const proxy = await nginx(new URL(server.url).host, `${UNBUFFERED} proxy_read_timeout 1s;`);
    const outcome = await probing(proxy.url)();
    expect(outcome).toMatchObject({ httpStatus: 504, failure: { reason: 'gateway_timeout', side: 'path' } });
  });

  test('that gives up a stream in the middle loses the connection before our own deadline', async () => {
    const engine = await startEngine();
    engine.fault({ kind: 'stall', afterTokens: 3, stallSeconds: null, requests: null, forSeconds: null });
    const proxy = await nginx(engine.url.host, `${UNBUFFERED} proxy_read_timeout 1s;`);
    const outcome = await probing(proxy.url)();
    expect(reasonOf(outcome)).toBe('connection_lost');
    expect(outcome.ttftSeconds).not.toBeNull();
  });

  test('that is more patient than we are leaves us our own reason', async () => {
    const engine = await startEngine();
    engine.fault({ kind: 'stall', afterTokens: 3, stallSeconds: null, requests: null, forSeconds: null });
    const proxy = await nginx(engine.url.host);
    expect(reasonOf(await probing(proxy.url, { deadlines: { betweenTokensSeconds: seconds(0.3) } })())).toBe('stalled');
  });

  test('that closes an idle connection between two probes costs neither', async () => {
    const engine = await startEngine();
    const proxy = await nginx(engine.url.host);
    const probe = probing(proxy.url);
    expect((await probe()).connection).toBe('fresh');
    expect((await probe()).connection).toBe('reused');
    await sleep(2500);
    expect(await probe()).toMatchObject({ outcome: 'good', connection: 'fresh' });
  });
});

import { readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import {
  createFetcher,
  type FetchedPage,
  type Fetcher,
  type FetcherOptions,
  type FetchFailure,
} from '../../../src/engine/fetch.ts';
import { seconds } from '../../../src/units.ts';
import { type Document, type DocumentServer, documentServer } from '../../support/document-server.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { everything, pageText } from '../../support/pages.ts';

const PAGE = '# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name="m"} 2\n';
const TEXT = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
const OPENMETRICS = { 'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8' };

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function serve(documents: Readonly<Record<string, Document>>): Promise<DocumentServer> {
  const server = await documentServer(documents);
  cleanups.push(() => server.close());
  return server;
}

function fetcherFor(url: URL, options: Partial<FetcherOptions> = {}): Fetcher {
  const fetcher = createFetcher(
    {
      origin: url.origin,
      apiKey: () => null,
      headers: {},
      timeoutSeconds: seconds(5),
      maxBytes: 32 * 1024 * 1024,
      ...options,
    },
    { clock: systemClock() },
  );
  cleanups.push(() => fetcher.close());
  return fetcher;
}

/** Reads /metrics of a server that has only this document there. */
async function read(document: Document, options: Partial<FetcherOptions> = {}): Promise<FetchedPage | FetchFailure> {
  const server = await serve({ '/metrics': document });
  return fetcherFor(server.url, options).page(new URL('/metrics', server.url), everything);
}

const running = (result: FetchedPage | FetchFailure): number | null =>
  result.ok ? (result.page.samples.get('vllm:num_requests_running')?.[0]?.value ?? null) : null;

const reason = (result: FetchedPage | FetchFailure): string => (result.ok ? 'ok' : result.reason);

describe('what is taken for a page', () => {
  it.each([
    { id: 'R-013', headers: { 'content-type': 'text/plain; version=1.0.0; charset=utf-8' }, odd: false },
    { id: 'text 0.0.4', headers: TEXT, odd: false },
    { id: 'no version', headers: { 'content-type': 'text/plain' }, odd: false },
    { id: 'G-097 text/html', headers: { 'content-type': 'text/html' }, odd: true },
    { id: 'G-097 application/octet-stream', headers: { 'content-type': 'application/octet-stream' }, odd: true },
    { id: 'G-097 empty type', headers: { 'content-type': '' }, odd: true },
  ])('$id: goes by the content, not by the label', async ({ headers, odd }) => {
    const result = await read({ headers, body: PAGE });
    expect(running(result)).toBe(2);
    expect(result).toMatchObject({ ok: true, contentTypeOdd: odd });
  });

  it('G-097: reads a page without any Content-Type', async () => {
    const result = await read((response) => {
      response.removeHeader('content-type');
      response.end(PAGE);
    });
    expect([running(result), result.ok && result.contentTypeOdd]).toEqual([2, true]);
  });

  it.each([
    { id: 'an empty list', type: 'application/json', body: '[]', why: 'not_prometheus' },
    { id: 'statistics', type: 'application/json', body: '[{"iter":1,"gpuMemUsage":123}]', why: 'not_prometheus' },
    { id: 'an object', type: 'application/json', body: '{"detail":"x"}\n', why: 'not_prometheus' },
    { id: 'HTML', type: 'text/html', body: '<html><body>a 1\nb 2\n</body></html>\n', why: 'not_prometheus' },
    { id: 'words', type: 'text/plain', body: 'OK', why: 'not_prometheus' },
    { id: 'nothing', type: 'text/plain', body: '', why: 'empty_page' },
    { id: 'blank lines', type: 'text/plain', body: '\n\n', why: 'empty_page' },
  ])('G-098: $id is $why', async ({ type, body, why }) => {
    expect(reason(await read({ headers: { 'content-type': type }, body }))).toBe(why);
  });

  it('reads a page that begins with a quoted name, which is not JSON', async () => {
    const result = await read({ headers: TEXT, body: '{"my.name",a="b"} 1\nvllm:num_requests_running 2\n' });
    expect(running(result)).toBe(2);
  });

  it('keeps the start of the process where a header tells it, unless the year is impossible', async () => {
    const now = Date.now() / 1000;
    const told = await read({ headers: { ...TEXT, 'process-start-time-unix': String(now - 60) }, body: PAGE });
    expect(told.ok ? told.processStartSeconds : 0).toBeCloseTo(now - 60, 3);
    const bogus = await read({ headers: { ...TEXT, 'process-start-time-unix': '2463888673' }, body: PAGE });
    expect(bogus).toMatchObject({ ok: true, processStartSeconds: null });
  });
});

describe('whether a page is whole', () => {
  it('G-089: accepts a missing last line feed where the length was announced', async () => {
    const body = 'vllm:num_requests_running 2';
    const whole = await read({ headers: { ...TEXT, 'content-length': String(body.length) }, body });
    expect(running(whole)).toBe(2);
  });

  it('takes a page of unknown length that ends inside a line for cut', async () => {
    const result = await read((response) => {
      response.writeHead(200, TEXT);
      response.write('a 1\nvllm:num_requests_run');
      response.end();
    });
    expect(reason(result)).toBe('truncated');
  });

  it('G-092: takes OpenMetrics without its # EOF for cut, and stops at one', async () => {
    expect(reason(await read({ headers: OPENMETRICS, body: PAGE }))).toBe('truncated');
    const closed = await read({ headers: OPENMETRICS, body: `${PAGE}# EOF\na 1\n` });
    expect(running(closed)).toBe(2);
    expect(closed).toMatchObject({ ok: true, page: { eof: true, dataAfterEof: true } });
    expect(running(await read({ headers: TEXT, body: `${PAGE}# EOF\n` }))).toBe(2);
  });

  it.each([
    { id: 'shorter than announced', headers: { ...TEXT, 'content-length': '5000' } },
    { id: 'with chunks that stop', headers: TEXT },
  ])('takes a body for cut that is $id', async ({ headers }) => {
    const result = await read((response) => {
      response.writeHead(200, headers);
      response.write(PAGE);
      setImmediate(() => response.destroy());
    });
    expect(reason(result)).toBe('truncated');
  });

  it('reads a compressed page, and on the same machine asks for none', async () => {
    const server = await serve({
      '/metrics': { headers: { ...TEXT, 'content-encoding': 'gzip' }, body: gzipSync(PAGE) },
    });
    const result = await fetcherFor(server.url).page(new URL('/metrics', server.url), everything);
    expect([running(result), result.ok && result.bytes]).toEqual([2, PAGE.length]);
    expect(server.headers[0]?.['accept-encoding']).toBe('identity');
    expect(server.headers[0]?.accept).toMatch(/^text\/plain;version=0\.0\.4/);
    // Without it, the Python client library rewrites the colons of names as underscores.
    expect(server.headers[0]?.accept).toContain('openmetrics-text;version=1.0.0;escaping=allow-utf-8');
  });

  it('G-101: says bad_encoding when the body is not compressed at all, or twice, or in another way', async () => {
    const gzip = { ...TEXT, 'content-encoding': 'gzip' };
    expect(reason(await read({ headers: gzip, body: PAGE }))).toBe('bad_encoding');
    expect(reason(await read({ headers: gzip, body: gzipSync(gzipSync(PAGE)) }))).toBe('bad_encoding');
    expect(reason(await read({ headers: { ...TEXT, 'content-encoding': 'br' }, body: PAGE }))).toBe('bad_encoding');
  });

  it('G-101: takes a compressed body that was cut for cut, on every Node', async () => {
    const body = gzipSync(pageText('vllm-0.32.0-plain/metrics-load'));
    const headers = { ...TEXT, 'content-encoding': 'gzip' };
    expect(reason(await read({ headers, body: body.subarray(0, body.length / 2) }))).toBe('truncated');
  });

  it('G-101: counts decompressed bytes against the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, 'a 1\n'));
    expect(bomb.length).toBeLessThan(100_000);
    const result = await read(
      { headers: { ...TEXT, 'content-encoding': 'gzip' }, body: bomb },
      { maxBytes: 1_000_000 },
    );
    expect(reason(result)).toBe('too_large');
  });

  it('G-100: gives up a page over the limit without any value of it', async () => {
    const result = await read({ headers: TEXT, body: PAGE.repeat(1_000) }, { maxBytes: 10_000 });
    expect(result).toMatchObject({ ok: false, reason: 'too_large' });
  });
});

describe('large pages', () => {
  it('G-100: reads 12 MB without holding the event loop for long, and holds only what is wanted', async () => {
    const line = (index: number): string =>
      `http_requests_total{handler="/v1/chat/completions/${index}",method="POST",status="2xx",user="user-${index}",` +
      `path="/tenant/${index % 97}/models/some-model-with-a-long-name/versions/12",region="eu-west-1"} ${index}\n`;
    const noise = Array.from({ length: 60_000 }, (_, index) => line(index)).join('');
    const body = Buffer.from(noise + PAGE);
    expect(body.length).toBeGreaterThan(11_000_000);
    const server = await serve({ '/metrics': { headers: TEXT, body } });
    const fetcher = fetcherFor(server.url);
    const wants = (name: string): boolean => name.startsWith('vllm:');
    // Processor time of each turn of the loop: other programs take the processor away for as long as they like.
    const usedMs = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    const turns: number[] = [];
    let turning = true;
    const turn = (before: number): void => {
      const now = usedMs();
      turns.push(now - before);
      if (turning) setImmediate(turn, now);
    };
    setImmediate(turn, usedMs());
    const result = await fetcher.page(new URL('/metrics', server.url), wants);
    turning = false;
    expect(running(result)).toBe(2);
    expect(result.ok ? [...result.page.samples.keys()] : []).toEqual(['vllm:num_requests_running']);
    // A page read in one go would be one turn of the whole time.
    const sum = (values: readonly number[]): number => values.reduce((total, time) => total + time, 0);
    expect(sum(turns.filter((time) => time > 50))).toBeLessThan(sum(turns) / 2);
    expect(turns.length).toBeGreaterThan(80);
  });
});

describe('answers that are no page', () => {
  it.each([
    { status: 401, why: 'unauthorized' },
    { status: 403, why: 'unauthorized' },
    { status: 404, why: 'http_status' },
    { status: 500, why: 'http_status' },
    { status: 503, why: 'http_status' },
    { status: 204, why: 'http_status' },
  ])('HTTP $status is $why', async ({ status, why }) => {
    expect(await read({ status, body: status === 204 ? '' : 'secret text of the server' })).toEqual({
      ok: false,
      reason: why,
      status,
      message: `HTTP ${status}`,
    });
  });

  it('follows a redirect inside the origin', async () => {
    const server = await serve({
      '/metrics': { status: 307, headers: { location: '/metrics/' } },
      '/metrics/': { headers: TEXT, body: PAGE },
    });
    const result = await fetcherFor(server.url).page(new URL('/metrics', server.url), everything);
    expect([running(result), server.requests]).toEqual([2, ['GET /metrics', 'GET /metrics/']]);
  });

  it('does not follow a redirect to another origin, nor one in a circle', async () => {
    const other = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    const server = await serve({
      '/away': { status: 302, headers: { location: new URL('/metrics', other.url).href } },
      '/round': { status: 302, headers: { location: '/round' } },
    });
    const fetcher = fetcherFor(server.url);
    expect(reason(await fetcher.page(new URL('/away', server.url), everything))).toBe('http_status');
    expect(reason(await fetcher.page(new URL('/round', server.url), everything))).toBe('http_status');
    expect(other.requests).toEqual([]);
  });

  it('says connect when nothing listens', async () => {
    const server = await documentServer({});
    await server.close();
    const result = await fetcherFor(server.url).page(new URL('/metrics', server.url), everything);
    expect(result).toMatchObject({ ok: false, reason: 'connect', message: 'ECONNREFUSED' });
  });

  it('says connect for a name that does not exist', async () => {
    const url = new URL('http://no-such-host.invalid/metrics');
    expect(reason(await fetcherFor(url).page(url, everything))).toBe('connect');
  });

  it.each([
    { id: 'no headers come', write: false },
    { id: 'the body stops', write: true },
  ])('ends at its own deadline when $id', async ({ write }) => {
    const server = await serve({
      '/metrics': (response) => {
        if (!write) return;
        response.writeHead(200, TEXT);
        response.write(PAGE);
      },
    });
    const fetcher = fetcherFor(server.url, { timeoutSeconds: seconds(0.05) });
    expect(reason(await fetcher.page(new URL('/metrics', server.url), everything))).toBe('timeout');
  });

  it('leaves no timer behind', async () => {
    const server = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    const clock = manualClock();
    const fetcher = createFetcher(
      { origin: server.url.origin, apiKey: () => null, headers: {}, timeoutSeconds: seconds(5), maxBytes: 1_000_000 },
      { clock },
    );
    await fetcher.page(new URL('/metrics', server.url), everything);
    expect(clock.pendingTimers()).toBe(0);
    await fetcher.close();
  });

  it('ends what is in flight when it is closed', async () => {
    const server = await serve({ '/metrics': () => {} });
    const fetcher = fetcherFor(server.url);
    const pending = fetcher.page(new URL('/metrics', server.url), everything);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await fetcher.close();
    expect((await pending).ok).toBe(false);
  });
});

describe('credentials', () => {
  const secrets = { apiKey: () => 'key-1', headers: { 'x-tenant': 'a' } };

  it('go to the own origin', async () => {
    const server = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    await fetcherFor(server.url, secrets).page(new URL('/metrics', server.url), everything);
    expect(server.headers[0]).toMatchObject({ authorization: 'Bearer key-1', 'x-tenant': 'a' });
  });

  it('do not go to another one', async () => {
    const endpoint = await serve({});
    const metrics = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    const result = await fetcherFor(endpoint.url, secrets).page(new URL('/metrics', metrics.url), everything);
    expect(running(result)).toBe(2);
    expect(metrics.headers[0]).not.toHaveProperty('authorization');
    expect(metrics.headers[0]).not.toHaveProperty('x-tenant');
  });

  it('are asked for anew at each request', async () => {
    const server = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    let key = 'old';
    const fetcher = fetcherFor(server.url, { apiKey: () => key });
    await fetcher.page(new URL('/metrics', server.url), everything);
    key = 'new';
    await fetcher.page(new URL('/metrics', server.url), everything);
    expect(server.headers.map((headers) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('are not quoted in a failure', async () => {
    const server = await serve({ '/metrics': { status: 401, body: 'wrong key key-1' } });
    const result = await fetcherFor(server.url, secrets).page(new URL('/metrics?token=key-1', server.url), everything);
    expect(JSON.stringify(result)).not.toContain('key-1');
  });
});

describe('a kept-alive connection', () => {
  it('that the server closes without an answer costs no poll', async () => {
    const server = await serve({ '/metrics': { headers: TEXT, body: PAGE } });
    const fetcher = fetcherFor(server.url);
    const url = new URL('/metrics', server.url);
    expect(running(await fetcher.page(url, everything))).toBe(2);
    let broken = 0;
    server.serve({
      '/metrics': (response) => {
        broken += 1;
        if (broken === 1) response.socket?.destroy();
        else response.writeHead(200, TEXT).end(PAGE);
      },
    });
    expect(running(await fetcher.page(url, everything))).toBe(2);
    expect(broken).toBe(2);
  });

  it('that is closed again and again is a failure, not an endless loop', async () => {
    const server = await serve({ '/metrics': (response) => void response.socket?.destroy() });
    const result = await fetcherFor(server.url).page(new URL('/metrics', server.url), everything);
    expect(reason(result)).toBe('connect');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a proxy', () => {
  it('carries a page that only it can reach, by the whole URL, compressed', async () => {
    const url = 'http://engine.invalid:8000/metrics';
    const gzip = { ...TEXT, 'content-encoding': 'gzip' };
    const proxy = await serve({ [url]: { headers: gzip, body: gzipSync(PAGE) } });
    const target = new URL(url);
    const result = await fetcherFor(target, { tls: { proxyUrl: proxy.url.href } }).page(target, everything);
    expect([running(result), proxy.requests]).toEqual([2, [`GET ${url}`]]);
    expect(proxy.headers[0]?.['accept-encoding']).toBe('gzip');
  });

  it('is not used unless it is configured', async () => {
    const proxy = await serve({});
    const before = process.env.http_proxy;
    process.env.http_proxy = proxy.url.href;
    cleanups.push(async () => {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    });
    expect(running(await read({ headers: TEXT, body: PAGE }))).toBe(2);
    expect(proxy.requests).toEqual([]);
  });
});

describe('TLS', () => {
  const file = (name: string): string => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));

  async function tlsServer(): Promise<URL> {
    const server = createTlsServer(
      { cert: readFileSync(file('server.pem')), key: readFileSync(file('server-key.pem')) },
      (_request, response) => {
        response.writeHead(200, TEXT);
        response.end(PAGE);
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return new URL(`https://localhost:${(server.address() as AddressInfo).port}/metrics`);
  }

  it('is verified, says tls when it fails, and takes a private CA', async () => {
    const url = await tlsServer();
    expect(reason(await fetcherFor(url).page(url, everything))).toBe('tls');
    expect(running(await fetcherFor(url, { tls: { caFile: file('ca.pem') } }).page(url, everything))).toBe(2);
    expect(running(await fetcherFor(url, { tls: { insecureSkipVerify: true } }).page(url, everything))).toBe(2);
  });

  it('says tls when the other side speaks no TLS', async () => {
    const server = await serve({});
    const url = new URL(`https://127.0.0.1:${server.url.port}/metrics`);
    expect(reason(await fetcherFor(url).page(url, everything))).toBe('tls');
  });

  it('fails and does not throw when a certificate file cannot be read', async () => {
    const url = await tlsServer();
    const result = await fetcherFor(url, { tls: { caFile: file('no-such-file.pem') } }).page(url, everything);
    expect(result.ok).toBe(false);
  });
});

import { describe, expect, test } from 'vitest';
import { ConnectError } from '../../../src/probe/transport-address.ts';
import { bypassesProxy, portOf, proxyAuthorization, proxyFor } from '../../../src/probe/transport-proxy.ts';

const HTTP = new URL('http://engine.test:8000/v1');
const HTTPS = new URL('https://engine.test/v1');

describe('the proxy of a URL', () => {
  test.each<[string, URL, string | null, Record<string, string>, string | null]>([
    ['nothing configured', HTTP, null, { HTTP_PROXY: 'http://p:1' }, null],
    ['a URL', HTTP, 'http://p:3128', {}, 'http://p:3128/'],
    [
      'a URL beside the environment',
      HTTP,
      'http://p:3128',
      { HTTP_PROXY: 'http://q:1', NO_PROXY: '*' },
      'http://p:3128/',
    ],
    ['the environment for http', HTTP, 'env', { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:2' }, 'http://p:1/'],
    ['the environment for https', HTTPS, 'env', { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:2' }, 'http://q:2/'],
    [
      'lower case before upper case',
      HTTP,
      'env',
      { http_proxy: 'http://p:1', HTTP_PROXY: 'http://q:2' },
      'http://p:1/',
    ],
    ['a variable without a scheme', HTTP, 'env', { HTTP_PROXY: 'p:3128' }, 'http://p:3128/'],
    ['an environment without proxies', HTTP, 'env', {}, null],
    ['an empty variable', HTTP, 'env', { HTTP_PROXY: '' }, null],
    ['an exclusion', HTTP, 'env', { HTTP_PROXY: 'http://p:1', NO_PROXY: 'engine.test' }, null],
  ])('with %s', (_, url, proxyUrl, environment, expected) => {
    expect(proxyFor(url, proxyUrl, environment)?.href ?? null).toBe(expected);
  });

  test.each(['socks5://p:1', 'ftp://p', 'http://'])('cannot be %s', (proxyUrl) => {
    expect(() => proxyFor(HTTP, proxyUrl, {})).toThrow(ConnectError);
  });
});

describe('NO_PROXY', () => {
  test.each([
    ['*', 'http://any.test', true],
    ['engine.test', 'http://engine.test', true],
    ['ENGINE.test', 'http://engine.TEST', true],
    ['engine.test', 'http://gpu.engine.test', true],
    ['engine.test', 'http://notengine.test', false],
    ['.svc.cluster.local', 'http://vllm.ns.svc.cluster.local:8000', true],
    ['*.svc', 'http://vllm.ns.svc', true],
    ['engine.test:8000', 'http://engine.test:8000', true],
    ['engine.test:8000', 'http://engine.test:9000', false],
    ['engine.test:443', 'https://engine.test', true],
    ['10.0.0.0/8', 'http://10.1.2.3:8000', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['fd00::/8', 'http://[fd00::7]:8000', true],
    ['fd00::/8', 'http://10.0.0.1', false],
    ['::1', 'http://[::1]:8000', true],
    ['[::1]:8000', 'http://[::1]:8000', true],
    ['10.0.0.0/99', 'http://10.0.0.1', false],
    ['10.0.0.0/x', 'http://10.0.0.1', false],
    ['a, b\tengine.test', 'http://engine.test', true],
    ['', 'http://engine.test', false],
    ['.', 'http://engine.test', false],
  ])('%j for %s is %j', (noProxy, url, expected) => {
    expect(bypassesProxy(new URL(url), noProxy)).toBe(expected);
  });
});

test('the credentials of a proxy come from its URL, decoded', () => {
  expect(proxyAuthorization(new URL('http://u:p%40s@p:1'))).toEqual({
    'proxy-authorization': `Basic ${btoa('u:p@s')}`,
  });
  expect(proxyAuthorization(new URL('http://u@p:1'))).toEqual({ 'proxy-authorization': `Basic ${btoa('u:')}` });
  expect(proxyAuthorization(new URL('http://p:1'))).toEqual({});
});

test('the port of a URL is that of its scheme where it has none', () => {
  expect([HTTP, HTTPS, new URL('http://x')].map(portOf)).toEqual([8000, 443, 80]);
});

import { describe, expect, it } from 'vitest';
import { parseListenAddress } from '../../../src/http/address.ts';

describe('a listen address', () => {
  it.each([
    [':20061', { host: undefined, port: 20_061 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['[::1]:9', { host: '::1', port: 9 }],
    ['[fe80::1%eth0]:9', { host: 'fe80::1%eth0', port: 9 }],
  ])('%s', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });

  it.each(['', '20061', ':', ':x', ':70000', '::1:80', 'a:b:1', '[::1]', 'http://x:1'])('%j is none', (text) => {
    expect(() => parseListenAddress(text)).toThrow(/host:port/);
  });
});

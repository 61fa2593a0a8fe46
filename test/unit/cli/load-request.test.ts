import { describe, expect, it } from 'vitest';
import type { LoadFlags } from '../../../src/cli/load-flags.ts';
import { readLoadRequest } from '../../../src/cli/load-request.ts';
import { silentLogger } from '../../../src/log.ts';

const read = (flags: Partial<LoadFlags> = {}) =>
  readLoadRequest({ metrics: true, ...flags }, { environment: {} }, silentLogger());

describe('flags of load', () => {
  it('have defaults', () => {
    expect(read()).toMatchObject({
      arrival: { kind: 'closed', concurrency: 16 },
      windowSeconds: 120,
      trimSeconds: 10,
      warmupMaxSeconds: 30,
      promptTokens: 128,
      maxOutputTokens: 128,
      prefix: 'unique',
      respectEos: false,
      metrics: true,
      workers: 1,
      slo: { ttftSeconds: null, tpotSeconds: null, e2eSeconds: null },
    });
    expect(read().target.url.href).toBe('http://127.0.0.1:8000/');
  });

  it('mean what they mean to other load clients', () => {
    const request = read({
      url: 'http://engine:9000',
      model: 'm',
      concurrency: '4',
      duration: '10',
      inTokens: '64',
      maxOut: '32',
      prefixShared: true,
      metrics: false,
      respectEos: true,
    });
    expect(request).toMatchObject({
      arrival: { kind: 'closed', concurrency: 4 },
      windowSeconds: 10,
      promptTokens: 64,
      maxOutputTokens: 32,
      prefix: 'shared',
      metrics: false,
      respectEos: true,
    });
    expect(request.target).toMatchObject({ model: 'm' });
  });

  it('trim a short window by a sixth at each end unless told otherwise', () => {
    expect(read({ duration: '12' }).trimSeconds).toBe(2);
    expect(read({ duration: '12', trim: '1s' }).trimSeconds).toBe(1);
  });

  it('make an open loop of a rate, with -c as the bound of what is in flight', () => {
    expect(read({ rate: '2.5' }).arrival).toEqual({
      kind: 'open',
      ratePerSecond: 2.5,
      process: 'poisson',
      maxInFlight: 512,
    });
    expect(read({ rate: '2.5', arrival: 'constant', concurrency: '8' }).arrival).toMatchObject({
      process: 'constant',
      maxInFlight: 8,
    });
  });

  it('read objectives and lengths of time with and without a unit', () => {
    const { slo } = read({ slo: 'ttft=500ms, tpot=0.05,e2e=1m30s' });
    expect(slo).toEqual({ ttftSeconds: 0.5, tpotSeconds: 0.05, e2eSeconds: 90 });
    expect(read({ duration: '2m' }).windowSeconds).toBe(120);
  });

  it('take a new seed each time unless one is given', () => {
    expect(read().seed).not.toBe(read().seed);
    expect(read({ seed: 'mine' }).seed).toBe('mine');
  });

  it.each([
    { id: 'no number', flags: { concurrency: 'many' }, message: /--concurrency "many" is no whole number/ },
    { id: 'a rate of 0', flags: { rate: '0' }, message: /--rate 0 is no number above 0/ },
    { id: 'arrivals without a rate', flags: { arrival: 'poisson' }, message: /--arrival needs --rate/ },
    { id: 'unknown arrivals', flags: { rate: '1', arrival: 'bursty' }, message: /poisson or constant/ },
    { id: 'no length of time', flags: { duration: 'long' }, message: /no length of time/ },
    { id: 'an unknown objective', flags: { slo: 'p99=1' }, message: /write it as ttft=500ms/ },
    { id: 'an objective by a name that every object has', flags: { slo: 'toString=1s' }, message: /write it as ttft/ },
    { id: 'an objective twice', flags: { slo: 'ttft=1s,ttft=2s' }, message: /--slo names ttft twice/ },
    { id: 'no time for a request', flags: { timeout: '0' }, message: /--timeout must be more than 0/ },
    { id: 'an objective of 0', flags: { slo: 'ttft=0' }, message: /must be more than 0/ },
  ])('refuse $id', ({ flags, message }) => {
    expect(() => read(flags)).toThrow(message);
  });
});

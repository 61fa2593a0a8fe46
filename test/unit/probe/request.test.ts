import { describe, expect, test } from 'vitest';
import { apiDialect } from '../../../src/probe/apis/table.ts';
import { API_NAMES } from '../../../src/probe/outcome.ts';
import { buildAsk, buildRequest, createRequestFrame, newProbeId, traceparent } from '../../../src/probe/request.ts';
import { sampleProfile, sampleTarget } from '../../support/probe-rig.ts';

const build = (target = sampleTarget(), more: { traceparent?: boolean } = {}) => {
  const dialect = apiDialect(target.api);
  const body = dialect.body(buildAsk(target, sampleProfile(), 'hello', new Set()));
  const frame = createRequestFrame(target, dialect, 'ua/1');
  return buildRequest({ frame, target, dialect, body, id: 'f'.repeat(32), traceparent: false, ...more });
};

describe('the request of a probe', () => {
  test.each(API_NAMES)('%s asks for a stream, bounded, with the marker and without compression', (api) => {
    const { url, headers, body } = build(sampleTarget({ api, url: 'http://engine.test:8000' }));
    expect(url.host).toBe('engine.test:8000');
    expect(headers).toMatchObject({
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': 'ua/1',
      'x-inference-probe': '1',
    });
    for (const type of apiDialect(api).streamTypes) expect(headers.accept).toContain(type);
    expect(JSON.parse(body)).toBeTypeOf('object');
    expect(body).toContain('16');
  });

  test('takes the key from the target, and a header of the target in its place', () => {
    const target = sampleTarget({ apiKey: () => 'sk-1', headers: { Authorization: 'Custom x' } });
    expect(build(target).headers.authorization).toBe('Custom x');
    expect(build(sampleTarget({ apiKey: () => 'sk-1' })).headers.authorization).toBe('Bearer sk-1');
  });

  test('turns user info of the URL into basic authentication, unless there is a key', () => {
    const url = 'http://us%40er:pw@engine.test';
    const plain = build(sampleTarget({ url }));
    expect(plain.headers.authorization).toBe(`Basic ${btoa('us@er:pw')}`);
    expect(plain.url.href).toBe('http://engine.test/v1/chat/completions');
    expect(build(sampleTarget({ url, apiKey: () => 'sk-1' })).headers.authorization).toBe('Bearer sk-1');
  });

  test('does not touch the URL of the target', () => {
    const target = sampleTarget({ url: 'http://user:pw@engine.test/v1' });
    build(target);
    expect(target.url.href).toBe('http://user:pw@engine.test/v1');
  });
});

describe('ignore_eos', () => {
  test.each([
    ['auto', 'vllm', true],
    ['auto', 'sglang', true],
    ['auto', 'tgi', false],
    ['auto', 'unknown', false],
    ['auto', null, false],
    [true, null, true],
    [false, 'vllm', false],
  ] as const)('of %j for %j is %j', (ignoreEos, engine, expected) => {
    const ask = buildAsk(sampleTarget({ engine }), sampleProfile({ ignoreEos }), 'x', new Set());
    expect(ask.ignoreEos).toBe(expected);
  });
});

describe('the id of a probe', () => {
  test('is 32 hexadecimal digits, new each time, and the trace id of its traceparent', () => {
    const ids = new Set(Array.from({ length: 50 }, newProbeId));
    expect(ids.size).toBe(50);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(traceparent(id)).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
    }
  });
});

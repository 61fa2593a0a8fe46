import { describe, expect, it } from 'vitest';
import { combineFacts } from '../../../src/app/endpoint-facts.ts';
import { sampleTarget } from '../../support/sample-config.ts';
import { discovery, NOBODY } from './world.ts';

const auto = sampleTarget({ model: 'auto', api: 'auto', engine: 'auto' });

describe('what is known of an endpoint', () => {
  it('is what was found where the configuration says nothing', () => {
    expect(combineFacts(auto, discovery(), null)).toEqual({
      model: 'tiny-model',
      apis: ['completions', 'chat'],
      engine: 'vllm',
      version: '0.32.0',
      metricsUrl: new URL('http://127.0.0.1:8000/metrics'),
      listed: true,
    });
  });

  it('is what the configuration says, whatever was found', () => {
    const metrics = { ...auto.metrics, metricsUrl: new URL('http://127.0.0.1:9400/metrics') };
    const told = sampleTarget({ model: 'prod-chat', api: 'messages', engine: 'sglang', metrics });
    expect(combineFacts(told, discovery(), null)).toMatchObject({
      model: 'prod-chat',
      apis: ['messages'],
      engine: 'sglang',
      metricsUrl: metrics.metricsUrl,
    });
  });

  it('stays what it was while nobody answers', () => {
    const before = combineFacts(auto, discovery(), null);
    expect(combineFacts(auto, NOBODY, before)).toEqual(before);
    expect(combineFacts(auto, null, before)).toEqual(before);
  });

  it('has no model, and the usual APIs, when nothing was ever found', () => {
    expect(combineFacts(auto, NOBODY, null)).toMatchObject({
      model: null,
      apis: ['chat', 'completions'],
      engine: null,
    });
  });

  it('leaves out APIs that the probe does not speak', () => {
    expect(combineFacts(auto, discovery({ apis: ['grpc', 'chat'] }), null).apis).toEqual(['chat']);
  });
});

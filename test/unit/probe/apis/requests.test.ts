import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../../src/probe/apis/api.ts';
import { apiDialect } from '../../../../src/probe/apis/table.ts';
import { API_NAMES, type ApiName } from '../../../../src/probe/outcome.ts';

const ask = (more: Partial<Ask> = {}): Ask => ({
  model: 'm',
  prompt: 'hello',
  maxTokens: 16,
  temperature: 0,
  ignoreEos: false,
  refused: new Set(),
  extraBody: {},
  ...more,
});
const body = (api: ApiName, more: Partial<Ask> = {}): Readonly<Record<string, unknown>> =>
  apiDialect(api).body(ask(more));
const url = (api: ApiName, base: string): string => apiDialect(api).url(new URL(base), 'my model').href;

describe('where requests go', () => {
  it.each<[ApiName, string, string]>([
    ['chat', 'http://h:8000', 'http://h:8000/v1/chat/completions'],
    ['chat', 'http://h:8000/', 'http://h:8000/v1/chat/completions'],
    ['chat', 'http://h:8000/v1', 'http://h:8000/v1/chat/completions'],
    ['chat', 'https://gw.example/openai/v1', 'https://gw.example/openai/v1/chat/completions'],
    ['chat', 'https://gw.example/team/a?key=1', 'https://gw.example/team/a/v1/chat/completions?key=1'],
    ['chat', 'https://gw.example/v1beta/openai', 'https://gw.example/v1beta/openai/chat/completions'],
    ['chat', 'https://gw.example/api/v3', 'https://gw.example/api/v3/chat/completions'],
    ['chat', 'http://[::1]:8000/v1/chat/completions', 'http://[::1]:8000/v1/chat/completions'],
    ['completions', 'http://h/v1', 'http://h/v1/completions'],
    ['completions', 'http://h/v1/completions', 'http://h/v1/completions'],
    ['responses', 'http://h', 'http://h/v1/responses'],
    ['messages', 'http://h', 'http://h/v1/messages'],
    ['sglang', 'http://h:30000', 'http://h:30000/generate'],
    ['sglang', 'http://h:30000/v1', 'http://h:30000/generate'],
    ['tgi', 'http://h', 'http://h/generate_stream'],
    ['llamacpp', 'http://h:8080/', 'http://h:8080/completion'],
    ['ollama', 'http://h:11434', 'http://h:11434/api/chat'],
    [
      'azure',
      'https://r.example',
      'https://r.example/openai/deployments/my%20model/chat/completions?api-version=2024-10-21',
    ],
    [
      'azure',
      'https://r.example/openai?api-version=v9',
      'https://r.example/openai/deployments/my%20model/chat/completions?api-version=v9',
    ],
    [
      'azure',
      'https://r.example/openai/deployments/d',
      'https://r.example/openai/deployments/d/chat/completions?api-version=2024-10-21',
    ],
    ['azure', 'https://r.example/openai/v1', 'https://r.example/openai/v1/chat/completions'],
  ])('%s at %s is %s', (api, base, expected) => {
    expect(url(api, base)).toBe(expected);
  });

  it('the base itself is not changed', () => {
    const base = new URL('http://h/v1');
    apiDialect('azure').url(base, 'm');
    apiDialect('chat').url(base, 'm');
    expect(base.href).toBe('http://h/v1');
  });
});

describe('keys', () => {
  it.each(API_NAMES)('%s sends no key header without a key', (api) => {
    expect(apiDialect(api).authHeaders(null)).toEqual({});
  });

  it('is a bearer token, Azure and Anthropic have headers of their own', () => {
    expect(apiDialect('chat').authHeaders('k')).toEqual({ authorization: 'Bearer k' });
    expect(apiDialect('azure').authHeaders('k')).toEqual({ 'api-key': 'k' });
    expect(apiDialect('messages').authHeaders('k')).toMatchObject({ 'x-api-key': 'k', authorization: 'Bearer k' });
  });
});

describe('what is asked', () => {
  it.each<[ApiName, object]>([
    [
      'completions',
      {
        model: 'm',
        prompt: 'hello',
        stream: true,
        max_tokens: 16,
        temperature: 0,
        stream_options: { include_usage: true },
      },
    ],
    [
      'chat',
      {
        model: 'm',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        max_tokens: 16,
        temperature: 0,
        stream_options: { include_usage: true },
      },
    ],
    ['responses', { model: 'm', input: 'hello', stream: true, max_output_tokens: 16, temperature: 0 }],
    [
      'messages',
      { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true, max_tokens: 16, temperature: 0 },
    ],
    ['sglang', { text: 'hello', stream: true, sampling_params: { max_new_tokens: 16, temperature: 0 } }],
    ['tgi', { inputs: 'hello', parameters: { max_new_tokens: 16, do_sample: false } }],
    ['llamacpp', { model: 'm', prompt: 'hello', n_predict: 16, stream: true, temperature: 0 }],
    [
      'ollama',
      {
        model: 'm',
        messages: [{ role: 'user', content: 'hello' }],
        stream: true,
        options: { num_predict: 16, temperature: 0 },
      },
    ],
  ])('%s: the plain request', (api, expected) => {
    expect(body(api)).toEqual(expected);
  });

  it.each(API_NAMES)('%s bounds the tokens whatever was refused, and asks for no log probabilities', (api) => {
    const everything = new Set([...apiDialect(api).optionalParameters, 'stream', 'model']);
    const text = JSON.stringify(body(api, { refused: everything, maxTokens: 321 }));
    expect(text).toContain('321');
    expect(JSON.stringify(body(api))).not.toContain('logprobs');
  });

  it.each(['completions', 'chat', 'responses', 'sglang', 'llamacpp', 'azure'] as const)(
    '%s sends ignore_eos only on demand, and no more once it was refused (G-061)',
    (api) => {
      expect(JSON.stringify(body(api))).not.toContain('ignore_eos');
      expect(JSON.stringify(body(api, { ignoreEos: true }))).toContain('"ignore_eos":true');
      expect(JSON.stringify(body(api, { ignoreEos: true, refused: new Set(['ignore_eos']) }))).not.toContain(
        'ignore_eos',
      );
      expect(apiDialect(api).optionalParameters).toContain('ignore_eos');
    },
  );

  it('running totals are asked for only of engines that know them, and no more once refused', () => {
    const options = (more: Partial<Ask>): unknown => body('chat', more).stream_options;
    const continuous = { include_usage: true, continuous_usage_stats: true };
    expect(options({ engine: 'vllm' })).toEqual(continuous);
    expect(options({ engine: 'sglang' })).toEqual(continuous);
    for (const engine of [null, 'tgi', 'dynamo', 'unknown'])
      expect(options({ engine })).toEqual({ include_usage: true });
    const refused = new Set(['continuous_usage_stats']);
    expect(options({ engine: 'vllm', refused })).toEqual({ include_usage: true });
    expect(options({ engine: 'vllm', refused: new Set(['stream_options']) })).toBeUndefined();
  });

  it('G-059: the newer name of the token limit replaces the older one once that was refused, and back', () => {
    const limits = (...refused: string[]): unknown => {
      const { max_tokens, max_completion_tokens } = body('chat', { refused: new Set(refused) });
      return { max_tokens, max_completion_tokens };
    };
    expect(limits()).toEqual({ max_tokens: 16, max_completion_tokens: undefined });
    expect(limits('max_tokens')).toEqual({ max_tokens: undefined, max_completion_tokens: 16 });
    expect(limits('max_completion_tokens')).toEqual({ max_tokens: 16, max_completion_tokens: undefined });
    expect(limits('max_tokens', 'max_completion_tokens')).toEqual({ max_tokens: 16, max_completion_tokens: undefined });
  });

  it.each(API_NAMES)('%s leaves the temperature out once it was refused', (api) => {
    const refused = new Set(['temperature']);
    expect(JSON.stringify(body(api, { temperature: 0.5 }))).toContain('"temperature":0.5');
    expect(JSON.stringify(body(api, { temperature: 0.5, refused }))).not.toContain('temperature');
  });

  it('G-062: the refusal of a small token limit names its parameter', () => {
    const text =
      '{"error":{"param":"max_output_tokens","code":"integer_below_min_value","message":"synthetic: minimum is 16"}}';
    expect(apiDialect('responses').readErrorBody(text)).toMatchObject({
      param: 'max_output_tokens',
      code: 'integer_below_min_value',
    });
  });

  it('extra fields win, and an extra option does not throw out the token limit beside it', () => {
    expect(
      body('chat', { extraBody: { temperature: 1, chat_template_kwargs: { enable_thinking: false } } }),
    ).toMatchObject({
      temperature: 1,
      max_tokens: 16,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(body('ollama', { extraBody: { options: { num_ctx: 4096 } } }).options).toEqual({
      num_predict: 16,
      temperature: 0,
      num_ctx: 4096,
    });
    expect(body('sglang', { extraBody: { sampling_params: { top_k: 1 } } }).sampling_params).toMatchObject({
      max_new_tokens: 16,
      top_k: 1,
    });
  });

  it.each(API_NAMES)('%s accepts the content type of its stream, in lower case and without parameters', (api) => {
    const expected = api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
    expect(apiDialect(api).streamTypes).toContain(expected);
    expect(apiDialect(api).name).toBe(api);
  });
});

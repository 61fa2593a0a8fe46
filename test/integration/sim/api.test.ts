import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import { DEFAULT_LOAD, DEFAULT_SIMULATOR } from '../../../src/sim/options.ts';
import { startSimulator } from '../../../src/sim/server.ts';
import { encode } from '../../../src/sim/tokenizer.ts';
import { call, metric, QUICK, simulator, stream, streamBody, textOf, until } from './client.ts';

const USER = [{ role: 'user', content: 'hello world this is a test' }];
const LABELS = '{engine="0",model_name="sim"}';

describe('the simulated API', () => {
  it('streams a completion: a chunk a token, the reason on the last one, the usage, [DONE]', async () => {
    const reply = await stream(await simulator(), 12);
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const content = reply.events.slice(0, -1);
    expect(content).toHaveLength(12);
    expect(content.map((event) => event.choices[0]?.finish_reason)).toEqual([...Array(11).fill(null), 'length']);
    expect(reply.events.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 6, completion_tokens: 12, total_tokens: 18, prompt_tokens_details: { cached_tokens: 0 } },
    });
    expect(reply.done).toBe(true);
    expect(encode(textOf(reply))).toHaveLength(12);
    expect(new Set(reply.events.map((event) => event.id)).size).toBe(1);
  });

  it('streams a chat: the role leaves together with the first token', async () => {
    const on = await simulator();
    const body = { ...streamBody(5), prompt: undefined, messages: USER };
    const reply = await call(on, '/v1/chat/completions', { body });
    expect(reply.events[0]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [{ delta: { role: 'assistant', content: '' } }],
    });
    expect(reply.pieces[0]?.text.match(/data: /g)?.length).toBeGreaterThanOrEqual(2);
    expect(reply.events.slice(1, -1).map((event) => event.choices[0]?.finish_reason)).toEqual([
      null,
      null,
      null,
      null,
      'length',
    ]);
    expect(reply.events.at(-1)?.usage).toMatchObject({ prompt_tokens: 14, completion_tokens: 5 });
  });

  it('leaves the usage out unless it is asked for, and gives it in every chunk when that is', async () => {
    const on = await simulator();
    const without = await stream(on, 3, { stream_options: undefined });
    expect(without.events.map((event) => event.usage)).toEqual([undefined, undefined, undefined]);
    expect(without.done).toBe(true);
    const options = { include_usage: true, continuous_usage_stats: true };
    const each = await stream(on, 3, { stream_options: options });
    expect(each.events.map((event) => event.usage?.completion_tokens)).toEqual([1, 2, 3, 3]);
    const chat = await call(on, '/v1/chat/completions', {
      body: { ...streamBody(3, { stream_options: options }), prompt: undefined, messages: USER },
    });
    expect(chat.events.map((event) => event.usage?.completion_tokens)).toEqual([0, 1, 2, 3, 3]);
  });

  it('puts several tokens into a chunk after the first one, as --stream-interval does', async () => {
    const on = await simulator({ streamInterval: 4 });
    const options = { include_usage: true, continuous_usage_stats: true };
    const reply = await stream(on, 15, { stream_options: options });
    expect(reply.events.map((event) => event.usage?.completion_tokens)).toEqual([1, 5, 9, 13, 15, 15]);
    expect(encode(textOf(reply))).toHaveLength(15);
  });

  it('answers without a stream, with the same text as with one', async () => {
    const on = await simulator();
    const streamed = await stream(on, 8);
    const whole = await call(on, '/v1/completions', {
      body: streamBody(8, { stream: false, stream_options: undefined }),
    });
    const answer = JSON.parse(whole.body) as { choices: { text: string; finish_reason: string }[]; usage: object };
    expect(answer.choices[0]).toMatchObject({ text: textOf(streamed), finish_reason: 'length' });
    expect(answer.usage).toMatchObject({ prompt_tokens: 6, completion_tokens: 8, total_tokens: 14 });
    const chat = await call(on, '/v1/chat/completions', { body: { messages: USER, max_tokens: 3, ignore_eos: true } });
    expect(JSON.parse(chat.body)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' }, finish_reason: 'length' }],
    });
  });

  it('ends an answer with stop and an empty last text when the model ends it', async () => {
    const on = await simulator({ engine: { ...QUICK, naturalOutputTokens: 6 } });
    const reply = await stream(on, 500, { ignore_eos: false });
    const last = reply.events.at(-2)?.choices[0];
    expect(last).toMatchObject({ text: '', finish_reason: 'stop' });
    expect(reply.events.at(-1)?.usage?.completion_tokens).toBe(reply.events.length - 1);
  });

  it('says how much of a repeated prompt was cached, unless told not to', async () => {
    const prompt = 'the same words again and again '.repeat(20);
    const cached = async (promptTokensDetails: boolean) => {
      const on = await simulator({ promptTokensDetails });
      await stream(on, 2, { prompt });
      const reply = await stream(on, 2, { prompt });
      return reply.events.at(-1)?.usage?.prompt_tokens_details?.cached_tokens;
    };
    expect(await cached(true)).toBe(112);
    expect(await cached(false)).toBeUndefined();
  });

  it.each([
    ['/v1/models', 200, { object: 'list', data: [{ id: 'sim', owned_by: 'vllm', max_model_len: 8192 }] }],
    ['/version', 200, { version: '0.32.0+simulated' }],
    ['/load', 200, { server_load: 0 }],
    ['/nothing', 404, { detail: 'Not Found' }],
    ['/v1/completions', 405, { detail: 'Method Not Allowed' }],
  ])('answers GET %s with %i', async (path, status, body) => {
    const reply = await call(await simulator(), path);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.body)).toMatchObject(body);
  });

  it('is healthy with an empty body', async () => {
    const on = await simulator();
    for (const path of ['/health', '/ping']) expect(await call(on, path)).toMatchObject({ status: 200, body: '' });
    expect(await call(on, '/ping', { method: 'POST' })).toMatchObject({ status: 200, body: '' });
  });

  it.each([
    ['another model', { prompt: 'x', model: 'nope' }, 404, { type: 'NotFoundError', param: 'model', code: 404 }],
    [
      'a context too small',
      { prompt: 'word '.repeat(9000) },
      400,
      { type: 'BadRequestError', param: 'input_tokens', code: 400 },
    ],
    [
      'tokens that are none',
      { prompt: 'x', max_tokens: 'lots' },
      400,
      { type: 'Bad Request', param: 'body.max_tokens', code: 400 },
    ],
  ])('refuses %s with an error object inside "error"', async (_, body, status, error) => {
    const reply = await call(await simulator(), '/v1/completions', { body });
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.body)).toMatchObject({ error });
  });

  it('refuses a body that is no JSON', async () => {
    const on = await simulator();
    const reply = await fetch(new URL('/v1/completions', on.url), { method: 'POST', body: '{"prompt":' });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { type: 'Bad Request', code: 400 } });
  });

  it('wants its key for /v1 alone', async () => {
    const on = await simulator({ apiKey: 'secret' });
    const refused = await call(on, '/v1/models');
    expect(refused).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' });
    const headers = { authorization: 'Bearer secret' };
    expect((await call(on, '/v1/models', { headers })).status).toBe(200);
    expect((await stream(on, 2, {}, { headers })).done).toBe(true);
    expect((await stream(on, 2)).status).toBe(401);
    for (const path of ['/health', '/metrics', '/version']) expect((await call(on, path)).status).toBe(200);
  });

  it('frees what a client that leaves had, and counts no finished request', async () => {
    const on = await simulator();
    await expect(
      stream(on, 5000, {}, { leaveAfterSeconds: 0.1 }).then((reply) => {
        if (reply.ended === 'lost') throw new Error('left');
      }),
    ).rejects.toThrow();
    await until(() => on.engine.state().running === 0, 'nothing runs');
    expect(on.engine.state()).toMatchObject({ kvUsageRatio: 0, published: { running: 0 } });
    expect(await metric(on, 'vllm:request_success_total{engine="0",finished_reason="length",model_name="sim"}')).toBe(
      0,
    );
    expect(await metric(on, 'vllm:request_success_total{engine="0",finished_reason="abort",model_name="sim"}')).toBe(0);
    expect(await metric(on, `vllm:generation_tokens_total${LABELS}`)).toBeGreaterThan(0);
  });

  it('shows on its metrics page what its streams carried', async () => {
    const on = await simulator();
    const replies = await Promise.all(
      [3, 9, 27, 40].map((tokens, salt) => stream(on, tokens, { prompt: `number ${salt}` })),
    );
    const usage = replies.map((reply) => reply.events.at(-1)?.usage);
    const sum = (of: 'prompt_tokens' | 'completion_tokens') =>
      usage.reduce((total, one) => total + (one?.[of] ?? 0), 0);
    expect(sum('completion_tokens')).toBe(79);
    expect(await metric(on, `vllm:generation_tokens_total${LABELS}`)).toBe(79);
    expect(await metric(on, `vllm:prompt_tokens_total${LABELS}`)).toBe(sum('prompt_tokens'));
    expect(await metric(on, `vllm:time_to_first_token_seconds_count${LABELS}`)).toBe(4);
    expect(await metric(on, 'http_requests_total{handler="/v1/completions",method="POST",status="2xx"}')).toBe(4);
    const page = await call(on, '/metrics');
    expect(page.headers['content-type']).toBe('text/plain; version=1.0.0; charset=utf-8');
    expect(page.body.endsWith('\n')).toBe(true);
  });

  it('tells its state, load and faults', async () => {
    const on = await simulator({
      load: { ...DEFAULT_LOAD, shape: 'steady', ratePerSecond: 50 },
    });
    await until(() => on.engine.statistics().counters.generationTokens > 0, 'the load runs');
    const state = JSON.parse((await call(on, '/sim/state')).body) as { load: { arrived: number } };
    expect(state).toMatchObject({ engine: { frozen: false }, faults: [], options: { blockSize: 16 } });
    expect(state.load.arrived).toBeGreaterThan(0);
  });

  it('says which port it cannot have', async () => {
    const on = await simulator();
    const taken = startSimulator(
      { ...DEFAULT_SIMULATOR, port: Number(on.url.port) },
      { clock: systemClock(), log: silentLogger() },
    );
    await expect(taken).rejects.toMatchObject({ code: 'LISTEN_FAILED' });
  });
});

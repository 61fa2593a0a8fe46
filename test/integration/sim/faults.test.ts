import { describe, expect, it } from 'vitest';
import { parseFaultText } from '../../../src/sim/fault-parse.ts';
import type { Simulator } from '../../../src/sim/server.ts';
import { call, metric, type Reply, simulator, stream, textOf, until } from './client.ts';

const LABELS = '{engine="0",model_name="sim"}';

const withFault = async (text: string): Promise<Simulator> => simulator({ faults: [parseFaultText(text)] });
const tokensOf = (reply: Reply): number =>
  reply.events.filter((event) => (event.choices?.[0]?.text ?? '') !== '').length;
const finished = (reply: Reply): boolean =>
  reply.events.some((event) => (event.choices?.[0]?.finish_reason ?? null) !== null);

describe('a fault on the wire', () => {
  it('error: HTTP 500 with an error object', async () => {
    const reply = await stream(await withFault('error'), 10);
    expect(reply.status).toBe(500);
    expect(JSON.parse(reply.body)).toMatchObject({ error: { code: 500, type: 'InternalServerError' } });
  });

  it('error in the stream: tokens, an error object under HTTP 200, [DONE], and no finish reason', async () => {
    const reply = await stream(await withFault('error,where=stream,after_tokens=4'), 10);
    expect(reply.status).toBe(200);
    expect(tokensOf(reply)).toBe(4);
    expect(reply.events.at(-1)?.error).toMatchObject({ code: 500 });
    expect(finished(reply)).toBe(false);
    expect(reply.done).toBe(true);
  });

  it('stall for a time: silence, then what was made meanwhile in one chunk', async () => {
    const on = await withFault('stall,after_tokens=3,stall_seconds=0.6');
    const reply = await stream(on, 30, { stream_options: { include_usage: true, continuous_usage_stats: true } });
    const gaps = reply.pieces.slice(1).map((piece, index) => piece.at - (reply.pieces[index]?.at ?? 0));
    expect(Math.max(...gaps)).toBeGreaterThan(0.5);
    expect(reply.events.map((event) => event.usage?.completion_tokens)).toEqual([1, 2, 3, 30, 30]);
    expect(reply.done).toBe(true);
  });

  it('stall for ever: the connection stays open and says nothing more', async () => {
    const on = await withFault('stall,after_tokens=3');
    const reply = await stream(on, 30, {}, { leaveAfterSeconds: 1 });
    expect(reply.ended).toBe('lost');
    // 27 more tokens were made meanwhile.
    expect(tokensOf(reply)).toBe(3);
    await until(() => on.engine.statistics().counters.generationTokens === 30, 'all tokens are made');
  });

  it('stall before the first token: headers only', async () => {
    const on = await withFault('stall,after_tokens=0');
    const reply = await stream(on, 5, {}, { leaveAfterSeconds: 0.5 });
    expect(reply).toMatchObject({ status: 200, body: '', ended: 'lost' });
  });

  it('truncate: the body ends as if it were whole, without reason and [DONE]', async () => {
    const reply = await stream(await withFault('truncate,after_tokens=5'), 30);
    expect(reply.ended).toBe('end');
    expect(tokensOf(reply)).toBe(5);
    expect(finished(reply)).toBe(false);
    expect(reply.done).toBe(false);
  });

  it('truncate by reset: the connection is lost in the middle', async () => {
    const on = await withFault('truncate,after_tokens=5,how=reset');
    const reply = await stream(on, 30);
    expect(reply.ended).toBe('lost');
    expect(reply.done).toBe(false);
    await until(() => on.engine.state().running === 0, 'the engine let go of it');
  });

  it('truncate without a stream: half a document', async () => {
    const body = { prompt: 'x', max_tokens: 5, ignore_eos: true };
    const reply = await call(await withFault('truncate'), '/v1/completions', { body });
    expect(reply).toMatchObject({ status: 200, ended: 'end' });
    expect(() => JSON.parse(reply.body)).toThrow();
  });

  it('buffer: headers and all events in one lump when the answer is complete', async () => {
    const on = await withFault('buffer');
    const reply = await stream(on, 60);
    // 60 steps of 2 ms; nothing before that.
    expect(reply.headersAt).toBeGreaterThan(0.1);
    expect((reply.pieces.at(-1)?.at ?? 1) - (reply.pieces[0]?.at ?? 0)).toBeLessThan(0.05);
    expect(tokensOf(reply)).toBe(60);
    expect(reply.done).toBe(true);
  });

  it('degenerate: the same token again and again, with a proper end', async () => {
    const reply = await stream(await withFault('degenerate,text=!'), 20);
    expect(textOf(reply)).toBe('!'.repeat(20));
    expect(reply.done).toBe(true);
  });

  it.each([
    ['refuse,retry_after_seconds=7', 503, '7'],
    ['refuse,status=429,retry_after_seconds=2', 429, '2'],
    ['refuse', 503, undefined],
  ])('%s: %i with its Retry-After', async (fault, status, retryAfter) => {
    const on = await withFault(fault);
    const reply = await stream(on, 5);
    expect(reply.status).toBe(status);
    expect(reply.headers['retry-after']).toBe(retryAfter);
    expect(JSON.parse(reply.body)).toMatchObject({ error: { code: status } });
    const refused = await metric(on, 'vllm:admission_rejections_total{model_name="sim",reason="max_num_queued_reqs"}');
    expect(refused).toBe(status === 503 ? 1 : 0);
    expect((await call(on, '/health')).status).toBe(200);
  });

  it('slow: steps take as many times as long', async () => {
    const on = await withFault('slow,factor=20');
    const reply = await stream(on, 6);
    // Six steps of 40 ms.
    expect(reply.pieces.at(-1)?.at).toBeGreaterThan(0.2);
  });

  it('hang: health and metrics answer with numbers that stand still, open streams pause, new ones get headers only', async () => {
    const on = await simulator();
    // Long enough that the fault finds it running on a busy machine, too.
    const open = stream(on, 1000);
    await until(() => on.engine.statistics().counters.generationTokens > 10, 'the stream runs');
    await call(on, '/sim/fault', { body: { kind: 'hang' } });
    const tokens = await metric(on, `vllm:generation_tokens_total${LABELS}`);
    const fresh = await stream(on, 5, { prompt: 'another' }, { leaveAfterSeconds: 0.5 });
    expect(fresh).toMatchObject({ status: 200, body: '', ended: 'lost' });
    expect((await call(on, '/health')).status).toBe(200);
    expect(await metric(on, `vllm:generation_tokens_total${LABELS}`)).toBe(tokens);
    expect(await metric(on, `vllm:num_requests_running${LABELS}`)).toBe(1);
    expect(await metric(on, `vllm:num_requests_waiting${LABELS}`)).toBe(0);
    await call(on, '/sim/fault', { body: { kind: 'clear' } });
    const reply = await open;
    expect(tokensOf(reply)).toBe(1000);
    expect(reply.done).toBe(true);
  });

  it('sleep: open streams end with abort and [DONE], new ones wait, the metrics say so', async () => {
    const on = await simulator();
    const open = stream(on, 5000);
    await until(() => on.engine.statistics().counters.generationTokens > 5, 'the stream runs');
    on.fault(parseFaultText('sleep'));
    const aborted = await open;
    expect(aborted.events.at(-2)?.choices[0]?.finish_reason).toBe('abort');
    expect(aborted.done).toBe(true);
    const held = stream(on, 5);
    expect(await metric(on, 'vllm:engine_sleep_state{engine="0",model_name="sim",sleep_state="awake"}')).toBe(0);
    expect(await metric(on, `vllm:num_requests_waiting${LABELS}`)).toBe(0);
    expect((await call(on, '/health')).status).toBe(200);
    on.fault(parseFaultText('clear'));
    expect((await held).done).toBe(true);
  });

  it('restart: connections drop, the port is closed for a while, counters and start time are new', async () => {
    const on = await simulator();
    await stream(on, 5);
    const startedAt = await metric(on, 'process_start_time_seconds');
    const open = stream(on, 5000);
    await until(() => on.engine.statistics().counters.generationTokens > 20, 'the stream runs');
    const answer = await call(on, '/sim/fault', { body: { kind: 'restart', down_seconds: 1.5 } });
    expect(answer.status).toBe(202);
    expect((await open).ended).toBe('lost');
    await expect(call(on, '/health')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const isBack = (): Promise<boolean> =>
      call(on, '/health').then(
        (reply) => reply.status === 200,
        () => false,
      );
    await until(isBack, 'the port is open again');
    expect(await metric(on, `vllm:generation_tokens_total${LABELS}`)).toBe(0);
    expect(await metric(on, 'process_start_time_seconds')).toBeGreaterThan(startedAt + 1.5);
    expect((await stream(on, 5)).done).toBe(true);
  });

  it('comes back from a restart without its hang', async () => {
    const on = await withFault('hang');
    on.fault(parseFaultText('restart,down_seconds=0.05'));
    await until(
      () =>
        call(on, '/health').then(
          () => !on.engine.state().frozen,
          () => false,
        ),
      'it is back',
    );
    expect((await stream(on, 3)).done).toBe(true);
  });

  it('closes in the middle of a restart', async () => {
    const on = await simulator();
    on.fault(parseFaultText('restart,down_seconds=600'));
    await until(
      () =>
        call(on, '/health').then(
          () => false,
          () => true,
        ),
      'the port is closed',
    );
    const begun = performance.now();
    await on.close();
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('ends by itself after its requests, and is listed meanwhile', async () => {
    const on = await simulator();
    await call(on, '/sim/fault', { body: { kind: 'truncate', after_tokens: 1, requests: 1 } });
    expect(JSON.parse((await call(on, '/sim/state')).body)).toMatchObject({
      faults: [{ kind: 'truncate', requests: 1 }],
    });
    expect((await stream(on, 5)).done).toBe(false);
    expect((await stream(on, 5)).done).toBe(true);
    expect(JSON.parse((await call(on, '/sim/state')).body)).toMatchObject({ faults: [] });
  });

  it('is refused with a reason when it is none', async () => {
    const on = await simulator();
    const reply = await call(on, '/sim/fault', { body: { kind: 'explode' } });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body)).toMatchObject({ detail: expect.stringContaining('kind must be one of') });
  });
});

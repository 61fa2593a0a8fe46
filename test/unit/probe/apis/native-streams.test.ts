import { describe, expect, it } from 'vitest';
import { event, read, readAll, type Step, toMs } from '../../../support/streams.ts';

const good = { terminal: true, error: null, fault: null, nonconformingEvents: 0 };

describe('responses', () => {
  const created = event({ type: 'response.created', response: { usage: null, error: null } }, 'response.created');
  const textDelta = (text: string): string =>
    event({ type: 'response.output_text.delta', delta: text }, 'response.output_text.delta');
  const ended = (type: string, response: object): string => event({ type, response }, type);
  const usage = {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
  };

  it('ends by its own event, without [DONE]', () => {
    const { result, progress } = read(
      [
        [10, created],
        [20, event({ type: 'response.reasoning_text.delta', delta: 'hm' }, 'response.reasoning_text.delta')],
        [40, textDelta('A')],
        [60, textDelta('B')],
        [70, event({ type: 'response.output_text.done', text: 'AB' }) + ended('response.completed', { usage })],
      ],
      'responses',
    );
    expect(result).toMatchObject({ ...good, finishReason: 'stop', outputTokens: 3, promptTokens: 12, text: 'AB' });
    expect(result).toMatchObject({ cachedPromptTokens: 8, reasoningTokens: 1, tokenChunks: 3 });
    expect(toMs(result.firstTokenAt)).toBe(20);
    expect(toMs(result.firstContentAt)).toBe(40);
    expect(progress[4]).toMatchObject({ terminal: true, complete: true });
  });

  it.each([
    ['response.incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    ['response.incomplete', { incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    ['response.incomplete', {}, 'other'],
    ['response.cancelled', {}, 'abort'],
    ['response.failed', { error: null }, 'error'],
  ])('%s with %j is read as %s', (type, response, reason) => {
    expect(readAll(textDelta('A') + ended(type, response), 'responses')).toMatchObject({
      ...good,
      finishReason: reason,
    });
  });

  it('a failed response carries its error', () => {
    const failed = ended('response.failed', { error: { code: 'server_error', message: 'x' } });
    expect(readAll(textDelta('A') + failed, 'responses')).toMatchObject({
      terminal: false,
      error: { code: 'server_error', text: 'x' },
    });
  });

  it('an error event is an error', () => {
    const error = event({ type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null }, 'error');
    expect(readAll(textDelta('A') + error, 'responses').error).toMatchObject({ code: 'rate_limit_exceeded' });
  });

  it('the name of the event stands in for a type that a gateway dropped', () => {
    const nameless = event({ delta: 'A' }, 'response.output_text.delta');
    expect(readAll(nameless + ended('response.completed', {}), 'responses')).toMatchObject({ ...good, text: 'A' });
  });

  it('arguments of a function are tokens, but no visible content', () => {
    const call = event({ type: 'response.function_call_arguments.delta', delta: '{"a"' });
    expect(readAll(call + ended('response.completed', {}), 'responses')).toMatchObject({
      tokenChunks: 1,
      firstContentAt: null,
    });
  });
});

describe('messages', () => {
  const start = event({
    type: 'message_start',
    message: {
      usage: { input_tokens: 2, cache_read_input_tokens: 100, cache_creation_input_tokens: 10, output_tokens: 1 },
    },
  });
  const textDelta = (text: string): string =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
  const stop = event({ type: 'message_stop' });
  const end = (reason: string | null, outputTokens: number): string =>
    event({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: outputTokens } });

  it('sums what is new, read and written of the prompt, and takes running totals as they are', () => {
    const { result, progress } = read(
      [
        [10, start + event({ type: 'content_block_start', content_block: { type: 'text', text: '' } })],
        [20, textDelta('A')],
        [40, textDelta('B')],
        [60, textDelta('C')],
        [61, event({ type: 'content_block_stop' }) + end(null, 2)],
        [62, end('max_tokens', 3) + stop],
      ],
      'messages',
    );
    expect(result).toMatchObject({
      ...good,
      finishReason: 'length',
      promptTokens: 112,
      cachedPromptTokens: 100,
      outputTokens: 3,
      tokenChunks: 3,
    });
    expect(toMs(result.firstEventAt)).toBe(10);
    expect(toMs(result.firstTokenAt)).toBe(20);
    expect(toMs(result.lastTokenAt)).toBe(60);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(progress.map(({ complete }) => complete)).toEqual([false, false, false, false, false, true, true]);
  });

  it('the output count of message_start is a placeholder and counts nothing', () => {
    expect(readAll(start + textDelta('A') + textDelta('B') + stop, 'messages')).toMatchObject({
      outputTokens: 2,
      tokenSource: 'chunks',
    });
  });

  it('message_stop alone ends an answer', () => {
    expect(readAll(textDelta('A') + stop, 'messages')).toMatchObject({ ...good, finishReason: null });
  });

  it('thinking and tool arguments are tokens, a signature is none', () => {
    const blocks = [
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'xyz' },
      { type: 'input_json_delta', partial_json: '' },
      { type: 'input_json_delta', partial_json: '{' },
    ].map((delta) => event({ type: 'content_block_delta', delta }));
    const result = readAll(blocks.join('') + end('tool_use', 9) + stop, 'messages');
    expect(result).toMatchObject({ ...good, tokenChunks: 2, firstContentAt: null, finishReason: 'tool_calls' });
  });

  it('an event of an unknown type is no fault', () => {
    expect(readAll(event({ type: 'brand_new' }) + textDelta('A') + stop, 'messages')).toMatchObject(good);
  });
});

describe('azure', () => {
  it('filter frames before and inside the answer are no tokens', () => {
    const filters = event({ choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] });
    const offsets = event({
      choices: [{ index: 0, finish_reason: null, content_filter_offsets: { start_offset: 1 } }],
    });
    const text = event({ choices: [{ index: 0, delta: { content: 'A' }, finish_reason: null }] });
    const last = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    const { result } = read(
      [
        [10, filters],
        [90, offsets],
        [100, text],
        [110, offsets + last],
      ],
      'azure',
    );
    expect(result).toMatchObject({ ...good, tokenChunks: 1, text: 'A' });
    expect(toMs(result.firstTokenAt)).toBe(100);
  });
});

describe('sglang', () => {
  const output = (text: string, tokens: number, finishReason: unknown = null): string =>
    event({
      text,
      meta_info: {
        prompt_tokens: 6,
        completion_tokens: tokens,
        cached_tokens: 5,
        reasoning_tokens: 0,
        finish_reason: finishReason,
      },
    });

  it('repeats the whole text in each event: the gain is the text, the running total the tokens', () => {
    const { result } = read(
      [
        [100, output('a', 1)],
        [130, output('a bc', 3)],
        [190, output('a bc def', 5)],
        [220, `${output('a bc def', 6, { type: 'stop', matched: 2 })}data: [DONE]\n\n`],
      ],
      'sglang',
    );
    expect(result).toMatchObject({ ...good, text: 'a bc def', outputTokens: 6, firstChunkTokens: 1, tokenChunks: 4 });
    expect(result).toMatchObject({ finishReason: 'stop', promptTokens: 6, cachedPromptTokens: 5 });
    expect(toMs(result.lastTokenAt)).toBe(220);
    expect(result.tpotSeconds).toBeCloseTo(0.024, 9);
    expect(result.timeline.map(({ tokens }) => tokens)).toEqual([1, 2, 2, 1, 0, 0]);
  });

  it('an event that repeats everything and gains nothing is no token', () => {
    const { result } = read(
      [
        [100, output('a', 1)],
        [130, output('a', 1)],
        [160, output('ab', 2, { type: 'length', length: 2 })],
      ],
      'sglang',
    );
    expect(result).toMatchObject({ ...good, tokenChunks: 2, text: 'ab', finishReason: 'length' });
  });

  it('a character that is still incomplete waits for the event that completes it', () => {
    const body = output('a\ufffd', 1) + output('a好', 2) + output('a好\ufffd', 3, { type: 'length' });
    expect(readAll(body, 'sglang')).toMatchObject({ ...good, text: 'a好\ufffd', outputTokens: 3 });
  });

  it('a server that sends increments is read too', () => {
    const result = readAll(output('ab', 1) + output('cd', 2) + output('cde', 3, { type: 'length' }), 'sglang');
    expect(result).toMatchObject({ text: 'abcdcde', outputTokens: 3, tokenChunks: 3 });
  });

  it('an abort with a status is an error, one without is a finish reason', () => {
    const refused = { type: 'abort', message: 'queue full', status_code: 503, err_type: 'ServiceUnavailable' };
    expect(readAll(output('', 0, refused), 'sglang').error).toMatchObject({ status: 503, text: 'queue full' });
    expect(readAll(output('a', 1, { type: 'abort', message: 'x' }), 'sglang')).toMatchObject({
      error: null,
      finishReason: 'abort',
    });
  });
});

describe('tgi', () => {
  const token = (index: number, text: string, more: object = {}, special = false): string =>
    event({ index, token: { id: 1, text, logprob: -1, special }, generated_text: null, details: null, ...more });
  const details = { finish_reason: 'eos_token', generated_tokens: 3, input_length: 9, seed: null };

  it('one token an event; the special one that ends is a token without text', () => {
    const { result, progress } = read(
      [
        [100, ': keep-alive\n\n'],
        [200, token(1, 'a')],
        [220, token(2, ' b')],
        [240, token(3, '</s>', { generated_text: 'a b', details }, true)],
      ],
      'tgi',
    );
    expect(result).toMatchObject({
      ...good,
      text: 'a b',
      outputTokens: 3,
      promptTokens: 9,
      finishReason: 'stop',
      keepAlives: 1,
    });
    expect(result).toMatchObject({ tokenChunks: 3, firstChunkTokens: 1 });
    expect(toMs(result.lastTokenAt)).toBe(240);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(progress[3]).toMatchObject({ tokenChunks: 1, complete: true });
  });

  it('an error event is an error', () => {
    const { result } = read(
      [[10, token(1, 'a') + event({ error: 'Model is overloaded', error_type: 'overloaded' })]],
      'tgi',
    );
    expect(result).toMatchObject({ terminal: false, error: { type: 'overloaded', text: 'Model is overloaded' } });
  });
});

describe('llamacpp', () => {
  const chunk = (content: string, tokens: number): string =>
    event({ index: 0, content, tokens: [], stop: false, id_slot: 0, tokens_predicted: tokens, tokens_evaluated: 12 });
  const last = (more: object): string =>
    event({
      index: 0,
      content: '',
      stop: true,
      tokens_predicted: 3,
      tokens_evaluated: 12,
      stop_type: 'limit',
      ...more,
    });
  const three: Step[] = [
    [100, chunk('a', 1)],
    [120, chunk('b', 2)],
    [140, chunk('c', 3)],
  ];

  it('ends with stop: true; running totals are not summed', () => {
    const { result, progress } = read([...three, [141, last({ timings: { prompt_n: 2, cache_n: 10 } })]], 'llamacpp');
    expect(result).toMatchObject({
      ...good,
      outputTokens: 3,
      promptTokens: 12,
      cachedPromptTokens: 10,
      finishReason: 'length',
    });
    expect(result).toMatchObject({ tokenChunks: 3, firstChunkTokens: 1 });
    expect(toMs(result.lastTokenAt)).toBe(140);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(progress[3]).toMatchObject({ terminal: true, complete: true });
  });

  it.each([
    ['cache_n says it', { timings: { cache_n: 4, prompt_n: 12 }, tokens_cached: 14 }, 4],
    ['older: what was not processed', { timings: { prompt_n: 2 }, tokens_cached: 14 }, 10],
    ['oldest: tokens_cached', { tokens_cached: 7 }, 7],
    ['the fill of the slot is no cached prompt', { tokens_cached: 14 }, null],
    ['nothing says it', {}, null],
  ])('cached tokens: %s', (_, more, cached) => {
    expect(read([...three, [141, last(more)]], 'llamacpp').result.cachedPromptTokens).toBe(cached);
  });

  it.each([
    [{ stop_type: 'eos' }, 'stop'],
    [{ stop_type: 'word' }, 'stop'],
    [{ stop_type: undefined, stopped_limit: true }, 'length'],
    [{ stop_type: undefined, stopped_eos: true, stopped_limit: false }, 'stop'],
  ])('finish: %j', (more, reason) => {
    expect(read([...three, [141, last(more)]], 'llamacpp').result.finishReason).toBe(reason);
  });

  it('a later error has no [DONE] after it', () => {
    const { result } = read(
      [...three, [150, event({ error: { code: 500, message: 'x', type: 'server_error' } })]],
      'llamacpp',
    );
    expect(result).toMatchObject({ terminal: false, error: { status: 500 }, tokenChunks: 3 });
  });
});

describe('ollama', () => {
  const line = (message: object, more: object = {}): string =>
    `${JSON.stringify({ model: 'm', created_at: 'x', message: { role: 'assistant', ...message }, done: false, ...more })}\n`;
  const last = (more: object): string => line({ content: '' }, { done: true, done_reason: 'length', ...more });

  it('one object a line, counts at the end', () => {
    const { result, progress } = read(
      [
        [100, line({ content: '', thinking: 'hm' })],
        [120, line({ content: 'A' })],
        [140, line({ content: ' B' })],
        [141, last({ prompt_eval_count: 9, eval_count: 3, eval_duration: 1 })],
      ],
      'ollama',
    );
    expect(result).toMatchObject({
      ...good,
      text: 'A B',
      outputTokens: 3,
      promptTokens: 9,
      finishReason: 'length',
      events: 4,
    });
    expect(toMs(result.firstTokenAt)).toBe(100);
    expect(toMs(result.firstContentAt)).toBe(120);
    expect(result.tpotSeconds).toBeCloseTo(0.02, 9);
    expect(progress[3]).toMatchObject({ terminal: true, complete: true });
  });

  it('counts of zero, and none at all, are no usage', () => {
    expect(readAll(line({ content: 'A' }) + last({ prompt_eval_count: 0, eval_count: 0 }), 'ollama')).toMatchObject({
      outputTokens: 1,
      tokenSource: 'chunks',
      promptTokens: null,
    });
    expect(readAll(line({ content: 'A' }) + line({ content: '' }, { done: true }), 'ollama')).toMatchObject({
      finishReason: 'stop',
      tokenSource: 'chunks',
    });
  });

  it('an error line is an error', () => {
    expect(readAll(`${line({ content: 'A' })}{"error":"model runner has stopped"}\n`, 'ollama')).toMatchObject({
      terminal: false,
      error: { text: 'model runner has stopped' },
    });
  });

  it('lines may end in CRLF, be empty, or lack the last line end', () => {
    const body = `${line({ content: 'A' })}\r\n\n${last({ eval_count: 1 }).trimEnd()}`.replaceAll('}\n', '}\r\n');
    expect(readAll(body, 'ollama')).toMatchObject({ ...good, outputTokens: 1, events: 2 });
  });

  it('a line cut at the end is a cut, a broken one in the middle is non-conforming', () => {
    expect(readAll(line({ content: 'A' }) + line({ content: 'B' }).slice(0, 30), 'ollama')).toMatchObject({
      fault: 'cut_event',
      tokenChunks: 1,
      nonconformingEvents: 0,
    });
    expect(readAll(`${line({ content: 'A' })}oops\n${last({})}`, 'ollama')).toMatchObject({
      nonconformingEvents: 1,
      terminal: true,
    });
  });

  it('a line without end is bounded', () => {
    const result = readAll('x'.repeat(5000), 'ollama', { eventBytes: 4096 });
    expect(result.fault).toBe('event_too_large');
    const whole = readAll(`${line({ content: 'x'.repeat(5000) })}`, 'ollama', { eventBytes: 4096 });
    expect(whole.fault).toBe('event_too_large');
  });
});

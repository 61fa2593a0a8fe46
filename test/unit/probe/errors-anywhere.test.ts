import { describe, expect, test } from 'vitest';
import { API_NAMES, type ApiName } from '../../../src/probe/outcome.ts';
import { verdictOn } from './verdict.ts';

const data = (object: unknown): string => `data: ${typeof object === 'string' ? object : JSON.stringify(object)}\n\n`;
const line = (object: unknown): string => `${JSON.stringify(object)}\n`;
const choice = (fields: object): string => data({ id: 'c', choices: [{ index: 0, finish_reason: null, ...fields }] });
const DONE = data('[DONE]');

const CHAT = [
  choice({ delta: { role: 'assistant', content: '' } }),
  choice({ delta: { content: 'A' } }),
  choice({ delta: {}, finish_reason: 'stop' }),
  DONE,
];

/** A good answer of each API, event by event. */
const ANSWERS: Readonly<Record<ApiName, readonly string[]>> = {
  chat: CHAT,
  azure: [data({ choices: [], prompt_filter_results: [] }), ...CHAT],
  completions: [choice({ text: 'A' }), choice({ text: 'B', finish_reason: 'length' }), DONE],
  responses: [
    data({ type: 'response.created', response: {} }),
    data({ type: 'response.output_text.delta', delta: 'A' }),
    data({ type: 'response.completed', response: { status: 'completed' } }),
  ],
  messages: [
    data({ type: 'message_start', message: {} }),
    data({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'A' } }),
    data({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
    data({ type: 'message_stop' }),
  ],
  sglang: [
    data({ text: 'A', meta_info: { completion_tokens: 1, finish_reason: null } }),
    data({ text: 'AB', meta_info: { completion_tokens: 2, finish_reason: { type: 'length' } } }),
    DONE,
  ],
  tgi: [
    data({ index: 1, token: { text: 'A', special: false }, generated_text: null }),
    data({
      index: 2,
      token: { text: 'B', special: false },
      generated_text: 'AB',
      details: { finish_reason: 'length' },
    }),
  ],
  llamacpp: [
    data({ content: 'A', stop: false }),
    data({ content: '', stop: true, stop_type: 'limit', tokens_predicted: 1 }),
  ],
  ollama: [
    line({ message: { content: 'A' }, done: false }),
    line({ message: { content: '' }, done: true, done_reason: 'stop', eval_count: 1 }),
  ],
};

const ERRORS: readonly object[] = [
  { error: 'x' },
  { error: { message: 'x', type: 't', param: null, code: null } },
  { error: { code: 500 } },
  { error: { type: 'api_error' } },
  { error: { detail: 'x' } },
  { error: true, message: 'x' },
  { error: [{ message: 'x' }] },
  { error: {}, message: 'x' },
  { error: null, message: 'x' },
  { error: 'x', error_type: 'generation' },
  { error: { message: 'x' }, choices: [] },
  { type: 'error', error: { type: 'api_error', message: 'x' } },
  { type: 'error' },
  { object: 'error', message: 'x', type: 'InternalServerError', param: null, code: 500 },
  { detail: 'x' },
  { detail: [{ msg: 'x' }] },
  { message: 'x' },
  { title: 'x', status: 502 },
  { errors: [{ message: 'x' }] },
  { statusCode: 500, message: 'x', error: 'Internal Server Error' },
  { status_code: 500, detail: 'x', headers: null },
  { timestamp: 1, path: '/v1', status: 500, error: 'Internal' },
  { code: 40001, msg: 'x' },
  { code: 500, reason: 'x' },
  { error_code: 50001, text: 'x' },
  { errorMessage: 'x', errorType: 'T' },
  { success: false },
  { ok: false, code: 500 },
  { status: 'error' },
  { status: 'failed', detail: 'x' },
  { level: 'error', message: 'x' },
  { event: 'error', data: 'x' },
  { exception: 'x' },
  { err: 'x' },
  { Error: { Message: 'x' } },
  { fault: { faultstring: 'x' } },
  { modelStreamErrorException: { message: 'x' } },
];

const HARMLESS: readonly object[] = [
  {},
  { type: 'ping' },
  { type: 'heartbeat', timestamp: 5 },
  { type: 'keepalive', sequence_number: 1 },
  { type: 'status', message: 'x' },
  { status: 'processing', message: 'x' },
  { code: 0, message: 'ok' },
  { code: 200, msg: 'success', data: null },
  { success: true, message: 'x' },
  { choices: [], usage: null },
  { choices: [], error: null },
  { choices: [], error: {} },
  { choices: [], error: [] },
  { choices: [], error: false },
  { progress: 0.5, message: 'x' },
  { queue_position: 3 },
  { id: 'x', model: 'm' },
  { warning: 'x' },
  { Error: null, choices: [] },
];

/** Those of `objects` that, put before any event of the answer, give a verdict that `wrong` holds for. */
function misjudged(
  api: ApiName,
  objects: readonly object[],
  forms: readonly ((object: unknown) => string)[],
  wrong: (reason: string) => boolean,
): string[] {
  const answer = ANSWERS[api];
  const headers = { 'content-type': api === 'ollama' ? 'application/x-ndjson' : 'text/event-stream' };
  const cases = objects.flatMap((object) => forms.flatMap((form) => answer.map((_, at) => ({ object, form, at }))));
  return cases.flatMap(({ object, form, at }) => {
    const body = [...answer.slice(0, at), form(object), ...answer.slice(at)].join('');
    const { reason } = verdictOn({ api, headers, body });
    return wrong(reason) ? [`${form(object).trim()} before event ${at}: ${reason}`] : [];
  });
}

describe.each(API_NAMES)('a good answer of %s', (api) => {
  const forms = api === 'ollama' ? [line] : [data];

  test('is good', () => {
    expect(misjudged(api, [{ type: 'ping' }], forms, (reason) => reason !== 'good')).toEqual([]);
  });

  test('is never good with an error in it, whatever its form and place', () => {
    const named = (object: unknown): string => `event: error\n${data(object)}`;
    const all = api === 'ollama' ? [line] : [data, named, (object: unknown) => `${line(object)}\n`];
    expect(misjudged(api, ERRORS, all, (reason) => reason === 'good')).toEqual([]);
  });

  test('stays good with anything else in it', () => {
    expect(misjudged(api, HARMLESS, forms, (reason) => reason !== 'good')).toEqual([]);
  });
});

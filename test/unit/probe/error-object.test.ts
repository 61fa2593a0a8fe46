import { describe, expect, it } from 'vitest';
import { errorFromField, findError, readErrorBody } from '../../../src/probe/error-object.ts';

describe('readErrorBody', () => {
  it.each([
    [
      'vLLM, nested',
      { error: { message: 'm', type: 'BadRequestError', param: 'max_tokens', code: 400 } },
      { status: 400, type: 'BadRequestError', code: '400', param: 'max_tokens' },
    ],
    [
      'older vLLM and SGLang, flat',
      { object: 'error', message: 'm', type: 'NotFoundError', param: null, code: 404 },
      { status: 404, type: 'NotFoundError', code: '404', param: null },
    ],
    ['vLLM without a key', { error: 'm' }, { status: null, type: null, code: null, param: null }],
    ['Dynamo', { message: 'm', type: 'Not Found', code: 404 }, { status: 404, type: 'Not Found' }],
    [
      'OpenAI',
      { error: { message: 'm', type: 'invalid_request_error', param: 'max_tokens', code: 'unsupported_parameter' } },
      { status: null, code: 'unsupported_parameter', param: 'max_tokens' },
    ],
    [
      'LiteLLM, the code as text',
      { error: { message: 'm', type: 'budget_exceeded', code: '400' } },
      { status: 400, type: 'budget_exceeded', code: '400' },
    ],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'm' } },
      { status: null, type: 'overloaded_error' },
    ],
    ['TGI', { error: 'm', error_type: 'overloaded' }, { type: 'overloaded' }],
    ['FastAPI', { detail: 'm' }, { status: null, type: null }],
    ['a lone message', { message: 'm' }, { status: null }],
    ['a status beside it', { status: 503, error: { message: 'm' } }, { status: 503 }],
    ['RFC 9457', { error: { title: 'm' } }, { status: null }],
  ])('%s', (_, object, expected) => {
    expect(readErrorBody(JSON.stringify(object))).toMatchObject({ ...expected, text: 'm' });
  });

  it('a list of validation errors becomes text', () => {
    const body = { detail: [{ loc: ['body', 'max_tokens'], msg: 'field required' }] };
    expect(readErrorBody(JSON.stringify(body))?.text).toContain('max_tokens');
  });

  it.each([
    ['HTML', '<html>502 Bad Gateway</html>'],
    ['plain text', 'no healthy upstream'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['an answer', '{"choices":[{"message":{"content":"A"}}],"message":"x"}'],
    ['an object without an error', '{"status":"ok"}'],
    ['a null error', '{"error":null}'],
  ])('%s is no error', (_, text) => {
    expect(readErrorBody(text)).toBeNull();
  });

  it('keeps no more of a long text than classification needs', () => {
    expect(readErrorBody(JSON.stringify({ error: { message: 'x'.repeat(100_000) } }))?.text).toHaveLength(4096);
    expect(readErrorBody(JSON.stringify({ error: 'x'.repeat(100_000) }))?.text).toHaveLength(4096);
  });

  it('survives nesting beyond all reason', () => {
    const depth = 200_000;
    const text = `{"error":{"message":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(() => readErrorBody(text)).not.toThrow();
  });

  it('a number that is no HTTP error status is none', () => {
    for (const code of [200, 17, 1001, 400.5, '40', null]) {
      expect(readErrorBody(JSON.stringify({ error: { message: 'm', code } }))?.status).toBeNull();
    }
  });
});

describe('findError', () => {
  it('does not take what only a whole body proves', () => {
    expect(findError({ detail: 'm', text: 'A' })).toBeNull();
    expect(findError({ message: 'm', id: 'c1' })).toBeNull();
    expect(findError({ message: 'm', code: 503, choices: [] })).toBeNull();
    expect(findError({ type: 'ping', message: 'still here' })).toBeNull();
    expect(findError({ code: 0, status: 'ok', message: '' })).toBeNull();
    expect(findError({})).toBeNull();
  });

  it.each([
    [{ error: null }],
    [{ error: {} }],
    [{ error: { message: '', code: 0 } }],
    [{ error: { message: 'OK', code: '200', type: null } }],
  ])('takes an error that says that there is none for none: %j', (value) => {
    expect(findError({ ...value, choices: [] })).toBeNull();
  });

  it.each([
    ['FastAPI', { detail: 'Internal Server Error' }, null],
    ['FastAPI with a list', { detail: [{ msg: 'm' }] }, null],
    ['problem+json', { type: 'about:blank', title: 'Bad Gateway', status: 502 }, 502],
    ['a lone message', { message: 'engine is dead' }, null],
    ['a list of errors', { errors: [{ message: 'm' }] }, null],
    ['numbered errors', { error_code: 503, error_msg: 'm' }, 503],
  ])('takes an event that is nothing but an error: %s', (_, value, status) => {
    expect(findError(value)).toMatchObject({ status });
  });
});

describe('errorFromField', () => {
  it('reads an object, an object with an error inside, and bare text', () => {
    expect(errorFromField('{"code":500,"message":"m","type":"server_error"}')).toMatchObject({
      status: 500,
      text: 'm',
    });
    expect(errorFromField('{"error":{"code":503,"message":"m"}}')).toMatchObject({ status: 503, text: 'm' });
    expect(errorFromField('{"message":"m"}')).toMatchObject({ status: null, text: 'm' });
    expect(errorFromField('slot unavailable')).toMatchObject({ status: null, text: 'slot unavailable' });
  });
});

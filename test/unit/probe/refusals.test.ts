import { describe, expect, test } from 'vitest';
import type { StreamErrorObject } from '../../../src/probe/reading.ts';
import { createRefusals, namedParameter } from '../../../src/probe/refusals.ts';

const OPTIONAL = ['stream_options', 'ignore_eos', 'temperature', 'max_tokens', 'max_completion_tokens'];
const error = (fields: Partial<StreamErrorObject>): StreamErrorObject => ({
  status: null,
  type: null,
  code: null,
  param: null,
  text: '',
  ...fields,
});

describe('a refusal', () => {
  test.each([
    ['OpenAI', { param: 'max_tokens', code: 'unsupported_parameter', text: 'use max_completion_tokens' }, 'max_tokens'],
    [
      'OpenAI without param',
      { text: "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead." },
      'max_tokens',
    ],
    ['a reasoning model', { param: 'temperature', code: 'unsupported_value', text: 'x' }, 'temperature'],
    ['Dynamo', { text: 'Validation: Unsupported parameter(s): `ignore_eos`' }, 'ignore_eos'],
    [
      'pydantic',
      { text: "[{'type': 'extra_forbidden', 'loc': ('body', 'ignore_eos'), 'msg': 'Extra inputs are not permitted'}]" },
      'ignore_eos',
    ],
    [
      'Bedrock',
      { text: 'Malformed input request: #: extraneous key [stream_options] is not permitted' },
      'stream_options',
    ],
    ['a dotted param', { param: 'body.stream_options', text: 'Unknown field' }, 'stream_options'],
    ['serde', { text: 'unknown field `temperature`, expected one of ...' }, 'temperature'],
  ])('in the words of %s is learned', (_, fields, parameter) => {
    const refusals = createRefusals(OPTIONAL);
    expect(refusals.learn(400, error(fields))).toBe(parameter);
    expect([...refusals.refused()]).toEqual([parameter]);
  });

  test.each([
    [
      'a value that is too large',
      400,
      { param: 'max_tokens', text: 'max_tokens=99999 cannot be greater than max_model_len=2048' },
    ],
    ['a value below a minimum', 400, { param: 'max_tokens', code: 'integer_below_min_value', text: 'minimum is 16' }],
    ['a value that the model does not support', 400, { text: 'this model does not support max_tokens greater than 8' }],
    ['a negative temperature', 400, { param: 'temperature', text: 'temperature must be non-negative, got -1.0' }],
    ['a wrong type', 400, { param: 'body.max_tokens', text: 'Input should be a valid integer' }],
    ['a parameter that we cannot leave out', 400, { param: 'model', text: 'unknown model' }],
    ['another status', 500, { param: 'temperature', text: 'unsupported' }],
    ['no error object', 400, null],
  ])('is not %s', (_, status, fields) => {
    const refusals = createRefusals(OPTIONAL);
    expect(refusals.learn(status, fields === null ? null : error(fields))).toBeNull();
    expect(refusals.refused().size).toBe(0);
  });

  test('of the newer name that mentions the older one is about the newer one', () => {
    const refusals = createRefusals(OPTIONAL);
    refusals.learn(400, error({ param: 'max_tokens', code: 'unsupported_parameter' }));
    expect(refusals.learn(422, error({ text: 'unknown field: use max_tokens, not max_completion_tokens' }))).toBe(
      'max_completion_tokens',
    );
  });

  test('is learned once', () => {
    const refusals = createRefusals(OPTIONAL);
    const again = error({ param: 'ignore_eos', text: 'unknown field' });
    expect(refusals.learn(400, again)).toBe('ignore_eos');
    expect(refusals.learn(400, again)).toBeNull();
  });

  test('cannot be changed from outside', () => {
    const refusals = createRefusals(OPTIONAL);
    (refusals.refused() as Set<string>).add('temperature');
    expect(refusals.refused().size).toBe(0);
  });
});

describe('the parameter that an error names', () => {
  test('is a whole word', () => {
    expect(namedParameter(error({ text: 'max_tokens_x and xmax_tokens' }), ['max_tokens'])).toBeNull();
  });

  test('is the first one in the text, whatever the order asked for', () => {
    expect(namedParameter(error({ text: 'b before a' }), ['a', 'b'])).toBe('b');
  });

  test('may hold characters that mean something in a pattern', () => {
    expect(namedParameter(error({ text: 'about top.p and so on' }), ['top?p', 'top.p'])).toBe('top.p');
  });
});

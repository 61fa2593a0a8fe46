import { describe, expect, it } from 'vitest';
import { FINISH_REASONS, readFinishReason } from '../../../src/probe/finish-reason.ts';

describe('readFinishReason', () => {
  it.each([
    ['stop', 'stop'],
    ['STOP', 'stop'],
    ['end_turn', 'stop'],
    ['eos_token', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_calls'],
    ['abort', 'abort'],
    ['x'.repeat(10_000), 'other'],
    [{ type: 'length', length: 8 }, 'length'],
    [{ type: 'matched' }, 'other'],
    [{}, 'other'],
    [7, 'other'],
    [true, 'other'],
    ['__proto__', 'other'],
    [null, null],
    [undefined, null],
    ['', null],
    ['null', null],
    ['None', null],
    ['not_finished', null],
    ['insufficient_system_resource', 'abort'],
    ['network_error', 'error'],
    ['sensitive', 'content_filter'],
    [{ error: 'x' }, 'error'],
  ])('%j is %s', (value, expected) => {
    expect(readFinishReason(value)).toBe(expected);
    if (expected !== null) expect(FINISH_REASONS).toContain(expected);
  });
});

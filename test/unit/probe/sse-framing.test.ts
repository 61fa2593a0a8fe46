import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  atMs,
  content,
  cut,
  DONE,
  delta,
  finish,
  openReading,
  read,
  readAll,
  toBytes,
  toMs,
  usage,
} from '../../support/streams.ts';

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
const good = { terminal: true, error: null, fault: null };

describe('line ends', () => {
  it('G-001: a CR and its LF in two reads are one line end', () => {
    const { result } = read([
      [10, 'data: {"choices":[{"index":0,\r'],
      [10, '\ndata: "delta":{"content":"A"},"finish_reason":null}]}\r\n\r'],
      [10, '\n'],
    ]);
    expect(result).toMatchObject({ events: 1, tokenChunks: 1, text: 'A', nonconformingEvents: 0 });
  });

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('G-001: every cut of a stream with %s gives the same events', (_, lineEnd) => {
    const text = `: ping\n\n${content('A')}id: 3\n${content('好')}${finish('stop')}${usage(9, 2)}${DONE}`;
    const bytes = toBytes(text.replaceAll('\n', lineEnd));
    const whole = readAll(bytes);
    expect(whole).toMatchObject({ ...good, events: 5, tokenChunks: 2, keepAlives: 1, nonconformingEvents: 0 });
    const wrong = Array.from({ length: bytes.length + 1 }, (_unused, position) => position).filter(
      (position) =>
        !isDeepStrictEqual(read(cut(bytes, [position]).map((piece) => [100, piece] as const)).result, whole),
    );
    expect(wrong).toEqual([]);
  });

  it('G-002: CRLF, LF and bare CR may be mixed, and the last event is not held back at the end', () => {
    const a = 'data: {"choices":[{"delta":{"content":"A"}}]}\r\n\n';
    const b = 'data: {"choices":[{"delta":{"content":"B"}}]}\n\r\n';
    const { result } = read([[10, `${a}${b}data: [DONE]\r\r`]]);
    expect(result).toMatchObject({ ...good, text: 'AB', tokenChunks: 2, nonconformingEvents: 0 });
  });

  it('G-002: a token that ends in a bare CR is stamped by its own read, not by the next one', () => {
    const { result, progress } = read([
      [10, content('A').replaceAll('\n', '\r')],
      [500, content('B').replaceAll('\n', '\r')],
      [900, finish('stop').replaceAll('\n', '\r')],
    ]);
    expect(progress.map(({ tokenChunks }) => tokenChunks)).toEqual([1, 1, 0, 0]);
    expect(toMs(result.firstTokenAt)).toBe(10);
    expect(toMs(result.lastTokenAt)).toBe(500);
    expect(toMs(result.terminalAt)).toBe(900);
  });
});

describe('comments and fields', () => {
  it('G-004: a keep-alive comment after an id is no event and hides no gap', () => {
    const { result, progress } = read([
      [1, `id: 7\n${content('A')}`],
      [15_000, ': ping\n\n'],
      [15_101, `id: 8\n${content('B')}`],
      [15_110, finish('stop') + DONE],
    ]);
    expect(result).toMatchObject({ ...good, tokenChunks: 2, nonconformingEvents: 0, keepAlives: 1, events: 4 });
    expect(result.gapsSeconds[0]).toBeCloseTo(15.1, 9);
    expect(progress[1]).toEqual({ tokenChunks: 0, terminal: false, complete: false, failed: false });
  });

  it('G-005: a comment wrapped into data is a non-conforming event, no token and no end', () => {
    const { result } = read([
      [1000, 'data: : STILL WORKING\n\n'],
      [2000, 'data: : STILL WORKING\n\n'],
      [2600, content('A') + finish('stop') + DONE],
    ]);
    expect(result).toMatchObject({ ...good, nonconformingEvents: 2, tokenChunks: 1 });
    expect(toMs(result.firstTokenAt)).toBe(2600);
    expect(toMs(result.firstEventAt)).toBe(1000);
  });

  it('G-013: an unknown field named error is an error, also before [DONE]', () => {
    const error = '{"code":500,"message":"synthetic slot failure","type":"server_error"}';
    const { result, progress } = read([[5, `error: ${error}\n\n${DONE}`]]);
    expect(result.error).toEqual({
      status: 500,
      type: 'server_error',
      code: '500',
      param: null,
      text: 'synthetic slot failure',
    });
    expect(result).toMatchObject({ terminal: false, tokenChunks: 0 });
    expect(progress[0]?.failed).toBe(true);
  });

  it('an unknown field of another name is non-conforming and nothing more', () => {
    const result = readAll(`hello\nx-trace: 1\n${content('A')}${finish('stop')}${DONE}`);
    expect(result).toMatchObject({ ...good, nonconformingEvents: 2, tokenChunks: 1 });
  });

  it('G-014: an object over several data lines is one event', () => {
    const result = readAll(
      `data: {"choices":[{"index":0,\ndata: "delta":{"content":"A"},\ndata: "finish_reason":null}]}\n\n${finish('stop')}${DONE}`,
    );
    expect(result).toMatchObject({ ...good, text: 'A', tokenChunks: 1, nonconformingEvents: 0 });
  });
});

describe('characters', () => {
  const bytes = toBytes(content('好🌍') + finish('stop') + DONE);
  const start = bytes.indexOf(0xe5);

  it('G-007: a character in several reads arrives whole, with the stamp of the read that ends its event', () => {
    const [first, second, third] = cut(bytes, [start + 1, start + 5]);
    const { result } = read([
      [10, first ?? ''],
      [20, second ?? ''],
      [30, third ?? ''],
    ]);
    expect(result.text).toBe('好🌍');
    expect([...result.text]).toHaveLength(2);
    expect(toMs(result.firstTokenAt)).toBe(30);
  });

  it('G-007: half a character at the end is a cut, not silence', () => {
    const { result } = read([[10, bytes.subarray(0, start + 1)]]);
    expect(result).toMatchObject({ fault: 'cut_event', terminal: false, tokenChunks: 0, nonconformingEvents: 0 });
  });

  it('half an event at the end is a cut; the tokens before it stay', () => {
    const { result } = read([[10, content('A') + content('B').slice(0, 40)]]);
    expect(result).toMatchObject({ fault: 'cut_event', terminal: false, tokenChunks: 1 });
  });

  it('a last event without its blank line counts, with the stamp of its bytes', () => {
    const reading = openReading();
    reading.push(atMs(10), toBytes(content('A')));
    reading.push(atMs(20), toBytes(finish('stop').trimEnd()));
    expect(reading.end(atMs(500))).toMatchObject({ terminal: true });
    expect(toMs(reading.result().terminalAt)).toBe(20);
    expect(reading.result().fault).toBeNull();
  });

  it('what is cut after the end of the answer is no fault', () => {
    const { result } = read([[10, content('A') + finish('stop') + usage(9, 1).slice(0, 50)]]);
    expect(result).toMatchObject({ ...good, finishReason: 'stop' });
  });

  it('G-008: a byte order mark in three reads does not eat the first event', () => {
    const marks = [...BOM].map((byte) => [1, Uint8Array.of(byte)] as const);
    const { result } = read([...marks, [2, content('A') + finish('stop') + DONE]]);
    expect(result).toMatchObject({ ...good, text: 'A', nonconformingEvents: 0 });
  });
});

describe('the end of a stream', () => {
  it('G-010: a finish reason and an orderly end need no [DONE]', () => {
    const { result, progress } = read([
      [1, delta({ role: 'assistant', content: '' })],
      [2, content('A') + content('B') + finish('length')],
    ]);
    expect(result).toMatchObject({ ...good, finishReason: 'length', tokenChunks: 2 });
    expect(progress.at(-1)).toMatchObject({ terminal: true, complete: false });
  });

  it.each([
    ['trailing blanks', 'data: [DONE] \n\n', 0],
    ['a named event', 'event: done\ndata: [DONE]\n\n', 0],
    ['twice', DONE + DONE, 0],
    ['with a CR', 'data: [DONE]\r\n\r\n', 0],
    ['in quotes', 'data: "[DONE]"\n\n', 1],
  ])('G-019: [DONE] %s', (_, marker, nonconformingEvents) => {
    const { result } = read([
      [10, content('A')],
      [20, finish('stop')],
      [30, marker],
      [40, content('late') + usage(9, 99)],
    ]);
    expect(result).toMatchObject({ ...good, tokenChunks: 1, nonconformingEvents, text: 'A' });
    expect(toMs(result.terminalAt)).toBe(20);
    expect(toMs(result.lastTokenAt)).toBe(10);
  });

  it('G-019: nothing after [DONE] is read at all', () => {
    const { result } = read([
      [10, content('A') + finish('stop') + usage(9, 1) + DONE],
      [20, `${content('B') + usage(9, 50)}data: {"error":{"message":"late"}}\n\nerror: x\n\n`],
    ]);
    expect(result).toMatchObject({ ...good, outputTokens: 1, nonconformingEvents: 0, events: 4 });
  });

  it('G-020: NaN makes an event unreadable; usage still has the count', () => {
    const nan =
      'data: {"choices":[{"index":0,"delta":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":NaN}]}}]}\n\n';
    const { result } = read([
      [10, nan],
      [20, content('B')],
      [30, finish('stop') + usage(9, 2) + DONE],
    ]);
    expect(result).toMatchObject({ ...good, nonconformingEvents: 1, outputTokens: 2, tokenSource: 'usage' });
  });
});

describe('limits', () => {
  const limits = { eventBytes: 4096, streamBytes: 65_536 };
  const kilobyte = 'x'.repeat(1024);

  it.each([
    ['a line without end', kilobyte],
    ['data lines without a blank line', `data: ${kilobyte}\n`],
    ['a comment without end', `: ${kilobyte}`],
    ['an unknown field without end', `x: ${kilobyte}`],
  ])('G-011: %s ends in event_too_large before 8 KiB are held', (_, piece) => {
    const reading = openReading('chat', limits);
    let pushed = 0;
    while (!reading.push(atMs(pushed), toBytes(pushed === 0 ? `:\n\n${piece}` : piece)).failed) pushed += 1;
    expect(pushed).toBeLessThan(8);
    expect(reading.result()).toMatchObject({ fault: 'event_too_large', terminal: false });
    // A parser that gave up must not be fed again.
    expect(reading.push(atMs(100), toBytes(content('A'))).failed).toBe(true);
    expect(reading.end(atMs(101)).failed).toBe(true);
    expect(reading.result().tokenChunks).toBe(0);
  });

  it('G-011: an event that is too large is refused also when one read holds it whole', () => {
    const large = content('x'.repeat(5000));
    const result = readAll(content('A') + large + content('B'), 'chat', limits);
    expect(result).toMatchObject({ fault: 'event_too_large', text: 'A' });
  });

  it('an event of just the allowed size passes, whole or byte by byte', () => {
    const event = content('A');
    const eventBytes = event.trimEnd().length - 'data: '.length;
    expect(readAll(event, 'chat', { eventBytes })).toMatchObject({ fault: null, text: 'A' });
    const single = [...toBytes(event)].map((byte) => [1, Uint8Array.of(byte)] as const);
    expect(read(single, 'chat', { eventBytes }).result).toMatchObject({ fault: null, text: 'A' });
    expect(readAll(event, 'chat', { eventBytes: eventBytes - 1 }).fault).toBe('event_too_large');
  });

  it('G-011: more bytes than a stream may have end in stream_too_large, to the byte', () => {
    const a = toBytes(content('A'));
    const both = toBytes(content('A') + content('B'));
    expect(readAll(both, 'chat', { streamBytes: both.length })).toMatchObject({ fault: null, tokenChunks: 2 });
    for (const pieces of [[both], cut(both, [a.length - 3, a.length + 5])]) {
      const { result } = read(
        pieces.map((piece) => [1, piece] as const),
        'chat',
        { streamBytes: both.length - 1 },
      );
      expect(result).toMatchObject({ fault: 'stream_too_large', tokenChunks: 1 });
    }
  });

  it('a body of anything but events ends after a hundred lines, whole or in pieces', () => {
    const page = '<html>\n<p>502</p>\n'.repeat(5000);
    const whole = readAll(page);
    expect(whole).toMatchObject({ fault: 'not_a_stream', nonconformingEvents: 100, tokenChunks: 0, terminal: false });
    const pieces = cut(toBytes(page), [3, 700, 701, 1500, 40_000]);
    expect(read(pieces.map((piece) => [100, piece] as const)).result).toEqual(whole);
  });

  it('a field of its own in every event is passed over, however long the stream', () => {
    const events = Array.from({ length: 300 }, () => `x-trace: 1\n${content('A')}`).join('');
    expect(readAll(events + finish('stop'))).toMatchObject({ ...good, fault: null, tokenChunks: 300 });
  });

  it('endless keep-alives end by the limit of the stream', () => {
    const reading = openReading('chat', limits);
    let pushes = 0;
    while (!reading.push(atMs(pushes), toBytes(': keep-alive\n\n')).failed) pushes += 1;
    expect(pushes).toBeLessThan(65_536 / 14 + 1);
    expect(reading.result()).toMatchObject({ fault: 'stream_too_large', tokenChunks: 0 });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apiDialect } from '../../src/probe/apis/table.ts';
import { API_NAMES, type ApiName } from '../../src/probe/outcome.ts';
import type { ReadingResult } from '../../src/probe/reading.ts';
import {
  atMs,
  content,
  cut,
  DONE,
  delta,
  event,
  finish,
  openReading,
  toBytes,
  usage,
  usageOf,
} from '../support/streams.ts';

interface Write {
  readonly afterMs: number;
  readonly bytes: Uint8Array;
}

/** Reads the writes, each cut at its positions; all pieces of a write have its stamp. */
function readWrites(api: ApiName, writes: readonly Write[], cuts: readonly (readonly number[])[] = []): ReadingResult {
  const reading = openReading(api);
  let now = 0;
  writes.forEach(({ afterMs, bytes }, index) => {
    now += afterMs;
    const positions = (cuts[index] ?? []).map((position) => position % (bytes.length + 1));
    for (const piece of cut(bytes, positions)) reading.push(atMs(now), piece);
  });
  reading.end(atMs(now));
  return reading.result();
}

const token = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', ' ', '\n', '好🌍', '\r\n', '\u2028'),
);

/** Anything that a chat stream may hold, in any order. */
const chatEvent: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: token.map((text) => content(text)) },
  {
    weight: 2,
    arbitrary: fc.tuple(token, fc.nat(50)).map(([text, count]) => content(text, { usage: usageOf(9, count) })),
  },
  token.map((text) => delta({ reasoning_content: text, content: null })),
  fc.constant(delta({ role: 'assistant', content: '' })),
  fc.constant(': keep-alive\n\n'),
  fc.constant('data: : STILL WORKING\n\n'),
  fc.constant('id: 7\n\n'),
  fc.constant('retry: 100\n\n'),
  fc.constant('x-unknown: 1\n'),
  fc.constant(event({ choices: [{ index: 1, delta: { content: 'X' } }] })),
  fc.constant('data: {"choices":[{"ind\n\n'),
  fc.constantFrom('stop', 'length', 'abort', 'odd').map(finish),
  fc.nat(60).map((count) => usage(9, count)),
  fc.constant(DONE),
);
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const chatWrites: fc.Arbitrary<Write[]> = fc
  .tuple(
    lineEnd,
    fc.array(fc.tuple(fc.nat(2000), fc.array(chatEvent, { minLength: 1, maxLength: 4 })), { maxLength: 20 }),
  )
  .map(([end, writes]) =>
    writes.map(([afterMs, events]) => ({ afterMs, bytes: toBytes(events.join('').replaceAll('\n', end)) })),
  );
const manyCuts = fc.array(fc.array(fc.nat(5000), { maxLength: 6 }), { maxLength: 20 });

/** A stream of each native API, one event a token. */
function nativeStream(api: ApiName, texts: readonly string[]): string[] {
  const all = texts.map((_, index) => texts.slice(0, index + 1).join(''));
  const n = texts.length;
  switch (api) {
    case 'completions':
      return [...texts.map((text) => event({ choices: [{ index: 0, text }] })), usage(5, n), DONE];
    case 'chat':
    case 'azure':
      return [...texts.map((text) => content(text)), finish('stop'), usage(5, n), DONE];
    case 'responses':
      return [
        ...texts.map((text) => event({ type: 'response.output_text.delta', delta: text })),
        event({ type: 'response.completed', response: { usage: { input_tokens: 5, output_tokens: n } } }),
      ];
    case 'messages':
      return [
        ...texts.map((text) => event({ type: 'content_block_delta', delta: { type: 'text_delta', text } })),
        event({
          type: 'message_delta',
          delta: { stop_reason: 'end_turn' },
          usage: { input_tokens: 5, output_tokens: n },
        }),
        event({ type: 'message_stop' }),
      ];
    case 'sglang':
      return [
        ...all.map((text, index) => event({ text, meta_info: { prompt_tokens: 5, completion_tokens: index + 1 } })),
        DONE,
      ];
    case 'tgi':
      return texts.map((text, index) => {
        const last = index === n - 1;
        const details = { finish_reason: 'length', generated_tokens: n, input_length: 5 };
        return event({ index: index + 1, token: { text }, ...(last ? { generated_text: 'x', details } : {}) });
      });
    case 'llamacpp':
      return [
        ...texts.map((text, index) => event({ content: text, stop: false, tokens_predicted: index + 1 })),
        event({ content: '', stop: true, stop_type: 'eos', tokens_predicted: n, tokens_evaluated: 5 }),
      ];
    case 'ollama':
      return [
        ...texts.map((text) => `${JSON.stringify({ message: { content: text }, done: false })}\n`),
        `${JSON.stringify({ message: { content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 5, eval_count: n })}\n`,
      ];
  }
}

describe('any split', () => {
  it('of a chat stream gives the same result', () => {
    fc.assert(
      fc.property(chatWrites, manyCuts, (writes, cuts) => {
        expect(readWrites('chat', writes, cuts)).toEqual(readWrites('chat', writes));
      }),
      { numRuns: 120 },
    );
  });

  it('into single bytes gives the same result', () => {
    fc.assert(
      fc.property(chatWrites, (writes) => {
        const everywhere = writes.map(({ bytes }) => Array.from(bytes.keys()));
        expect(readWrites('chat', writes, everywhere)).toEqual(readWrites('chat', writes));
      }),
      { numRuns: 40 },
    );
  });

  it.each(API_NAMES)('of a %s stream gives the text, the count and the end that were sent', (api) => {
    const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(texts, manyCuts, (sent, cuts) => {
        const writes = nativeStream(api, sent).map((text) => ({ afterMs: 10, bytes: toBytes(text) }));
        const result = readWrites(api, writes, cuts);
        expect(result).toEqual(readWrites(api, writes));
        expect(result).toMatchObject({ outputTokens: sent.length, promptTokens: 5, terminal: true, error: null });
        expect(result).toMatchObject({ text: sent.join(''), tokenChunks: sent.length, nonconformingEvents: 0 });
        expect(result.tpotSeconds).toBeCloseTo(0.01, 9);
      }),
      { numRuns: 30 },
    );
  });
});

/** What must hold whatever arrives. */
function expectSane(result: ReadingResult): void {
  const { firstEventAt, firstTokenAt, firstContentAt, lastTokenAt, gapsSeconds, tpotSeconds } = result;
  const ordered = [0, firstEventAt, firstTokenAt, lastTokenAt].filter((value) => value !== null);
  expect([...ordered].sort((a, b) => a - b)).toEqual(ordered);
  if (firstContentAt !== null) expect(firstContentAt).toBeGreaterThanOrEqual(firstTokenAt ?? Number.POSITIVE_INFINITY);
  expect(gapsSeconds.every((gap) => gap >= 0)).toBe(true);
  expect(gapsSeconds).toHaveLength(Math.max(0, result.tokenChunks - 1));
  const sum = gapsSeconds.reduce((total, gap) => total + gap, 0);
  if (firstTokenAt !== null && lastTokenAt !== null) expect(sum).toBeCloseTo(lastTokenAt - firstTokenAt, 6);
  if (tpotSeconds !== null) {
    expect(tpotSeconds).toBeGreaterThan(0);
    expect(Number.isFinite(tpotSeconds)).toBe(true);
  }
  if (result.terminalAt !== null && lastTokenAt !== null) expect(lastTokenAt).toBeLessThanOrEqual(result.terminalAt);
  expect(result.terminal).toBe(result.terminalAt !== null);
  expect(result.tokenSource === null).toBe(result.outputTokens === null);
  expect(result.textHash === null).toBe(result.text === '');
}

describe('whatever arrives', () => {
  it('times are in order and never negative', () => {
    fc.assert(
      fc.property(chatWrites, (writes) => expectSane(readWrites('chat', writes))),
      { numRuns: 120 },
    );
  });

  it.each(API_NAMES)('%s survives arbitrary bytes', (api) => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (pieces) => {
        expectSane(
          readWrites(
            api,
            pieces.map((bytes) => ({ afterMs: 1, bytes })),
          ),
        );
      }),
      { numRuns: 40 },
    );
  });

  it.each(API_NAMES)('%s survives arbitrary JSON, also in the places of its own fields', (api) => {
    const names = [
      'choices',
      'delta',
      'content',
      'text',
      'usage',
      'message',
      'token',
      'details',
      'meta_info',
      'error',
      'type',
      'finish_reason',
      'index',
      'stop',
      'done',
      'response',
      'timings',
      'completion_tokens',
      'tool_calls',
      'generated_text',
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, tie('leaf'), tie('object'), fc.array(tie('any'), { maxLength: 3 })),
      leaf: fc.oneof(
        fc.constantFrom(null, true, false, 0, 1, -1, 1e308, '', 'x', 'stop', 'message_delta', 'response.completed'),
        fc.jsonValue({ maxDepth: 1 }),
      ),
      object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 6 }),
    })).object;
    const frame = (object: unknown): string =>
      api === 'ollama' ? `${JSON.stringify(object)}\n` : `data: ${JSON.stringify(object)}\n\n`;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), (objects) => {
        expectSane(
          readWrites(
            api,
            objects.map((object) => ({ afterMs: 5, bytes: toBytes(frame(object)) })),
          ),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('nothing after the last marker changes anything', () => {
    const ended: Write[] = [
      { afterMs: 10, bytes: toBytes(content('A')) },
      { afterMs: 10, bytes: toBytes(finish('stop') + usage(9, 1) + DONE) },
    ];
    const before = readWrites('chat', ended);
    fc.assert(
      fc.property(chatWrites, fc.uint8Array(), (writes, bytes) => {
        expect(readWrites('chat', [...ended, ...writes, { afterMs: 1, bytes }])).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });

  it('nothing without text after the first marker adds a token or moves a time', () => {
    const ended: Write[] = [
      { afterMs: 10, bytes: toBytes(content('A') + content('B')) },
      { afterMs: 10, bytes: toBytes(finish('stop')) },
    ];
    const before = readWrites('chat', ended);
    fc.assert(
      fc.property(chatWrites, (writes) => {
        fc.pre(readWrites('chat', writes).text === '');
        const after = readWrites('chat', [...ended, ...writes]);
        for (const key of ['firstTokenAt', 'terminalAt', 'finishReason', 'text', 'textHash'] as const) {
          expect(after[key]).toEqual(before[key]);
        }
        // Usage may come late and say that the finish frame was a token; nothing later than that counts.
        expect(after.lastTokenAt).toBeLessThanOrEqual(before.terminalAt ?? 0);
        expect(after.tokenChunks).toBeLessThanOrEqual(3);
      }),
      { numRuns: 40 },
    );
  });

  it('a finish reason that text follows was not the end', () => {
    const finished: Write = { afterMs: 1, bytes: toBytes(finish('stop')) };
    const tokens = fc.array(fc.tuple(fc.nat(500), fc.constantFrom('A', ' ', '好')), { minLength: 1 });
    fc.assert(
      fc.property(tokens, (paced) => {
        const text = [...paced.map(([afterMs, piece]) => ({ afterMs, bytes: toBytes(content(piece)) })), finished];
        const plain = readWrites('chat', [{ afterMs: 1, bytes: toBytes(': early\n\n') }, ...text]);
        const early = readWrites('chat', [finished, ...text]);
        for (const key of [
          'firstTokenAt',
          'lastTokenAt',
          'terminalAt',
          'gapsSeconds',
          'text',
          'finishReason',
        ] as const) {
          expect(early[key]).toEqual(plain[key]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('results may be asked for at any time and as often as one likes', () => {
    fc.assert(
      fc.property(chatWrites, (writes) => {
        const reading = openReading('chat');
        let now = 0;
        for (const { afterMs, bytes } of writes) {
          now += afterMs;
          reading.push(atMs(now), bytes);
          expect(reading.result()).toEqual(reading.result());
        }
        reading.end(atMs(now));
        expect(reading.result()).toEqual(readWrites('chat', writes));
      }),
      { numRuns: 40 },
    );
  });
});

describe('memory', () => {
  const MEBIBYTE = 1 << 20;

  /** Heap and buffers that are left after pushing `mebibytes` of repetitions of `piece`, in MiB. */
  function growth(api: ApiName, piece: string, mebibytes: number): { grownMebibytes: number; pushes: number } {
    const chunk = toBytes(piece.repeat(Math.ceil(65_536 / piece.length)));
    const reading = apiDialect(api).createReading({
      eventBytes: MEBIBYTE,
      streamBytes: 4 * MEBIBYTE,
      timelineEntries: 200,
    });
    const before = process.memoryUsage();
    let pushes = 0;
    for (let sent = 0; sent < mebibytes * MEBIBYTE; sent += chunk.length) {
      pushes += 1;
      if (reading.push(atMs(pushes), chunk).failed) break;
    }
    const after = process.memoryUsage();
    expect(reading.result().timeline.length).toBeLessThanOrEqual(200);
    const used = (usage_: NodeJS.MemoryUsage): number => usage_.heapTotal + usage_.external;
    return { grownMebibytes: (used(after) - used(before)) / MEBIBYTE, pushes };
  }

  it.each([
    ['G-011: no line end', 'x'],
    ['G-011: no blank line', `data: ${'x'.repeat(1000)}\n`],
    ['G-011: an endless comment', ' : x'],
  ])('%s: 256 MiB end within the limit of one event', (_, piece) => {
    const { grownMebibytes, pushes } = growth('chat', piece, 256);
    expect(pushes).toBeLessThanOrEqual(20);
    expect(grownMebibytes).toBeLessThan(50);
  });

  it.each([
    ['chat', content('x')],
    ['chat', content('')],
    ['chat', ': ping\n\n'],
    ['ollama', `${JSON.stringify({ message: { content: 'x' }, done: false })}\n`],
  ] as const)('%s: 256 MiB of %j end within the limit of the stream', (api, piece) => {
    const { grownMebibytes, pushes } = growth(api, piece, 256);
    expect(pushes).toBeLessThanOrEqual(65);
    expect(grownMebibytes).toBeLessThan(50);
  });
});

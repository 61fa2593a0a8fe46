import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createDecoder, isCompressed } from '../../../src/probe/decode.ts';
import { type MonotonicInstant, monotonicInstant } from '../../../src/units.ts';

interface Heard {
  readonly pieces: ReadonlyArray<readonly [at: number, text: string]>;
  readonly end: 'ended' | 'broken';
  readonly endAt: number;
}

/** Feeds `parts` with the stamps 1, 2, 3 ... and the end one later. */
function decode(encoding: string, parts: readonly Uint8Array[]): Promise<Heard> {
  return new Promise((resolve) => {
    const pieces: Array<readonly [number, string]> = [];
    const decoder = createDecoder(encoding, {
      data: (at, bytes) => void pieces.push([at, Buffer.from(bytes).toString()]),
      ended: (at) => resolve({ pieces, end: 'ended', endAt: at }),
      broken: (at) => resolve({ pieces, end: 'broken', endAt: at }),
    });
    if (decoder === null) throw new Error('unknown encoding');
    for (const [index, part] of parts.entries()) decoder.push(monotonicInstant(index + 1), part);
    decoder.end(monotonicInstant(parts.length + 1));
  });
}

const textOf = ({ pieces }: Heard): string => pieces.map(([, text]) => text).join('');

/** Two events, each flushed by the compressor on its own. */
async function flushedGzip(): Promise<Uint8Array[]> {
  const gzip = createGzip();
  const parts: Buffer[] = [];
  gzip.on('data', (part: Buffer) => parts.push(part));
  for (const text of ['first', 'second']) {
    gzip.write(text);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    parts.push(Buffer.from('|'));
  }
  return Buffer.concat(parts)
    .toString('latin1')
    .split('|')
    .filter(Boolean)
    .map((part) => Buffer.from(part, 'latin1'));
}

describe('the encoding of a body', () => {
  test.each([undefined, '', 'identity', ' Identity ', 'none', 'UTF-8', 'aws-chunked'])('%j is none', (encoding) => {
    expect(isCompressed(encoding)).toBe(false);
  });

  test.each(['gzip', ' BR ', 'deflate', 'zstd', 'gzip, br', 'constructor'])('%j is one', (encoding) => {
    expect(isCompressed(encoding)).toBe(true);
  });

  test.each([
    ['gzip', gzipSync('hello')],
    ['x-gzip', gzipSync('hello')],
    ['GZIP', gzipSync('hello')],
    ['deflate', deflateSync('hello')],
    ['deflate', deflateRawSync('hello')],
    ['br', brotliCompressSync('hello')],
  ])('%s is taken off, cut anywhere', async (encoding, bytes) => {
    for (let cut = 0; cut <= bytes.length; cut += 5) {
      const heard = await decode(encoding, [bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(textOf(heard)).toBe('hello');
      expect(heard).toMatchObject({ end: 'ended', endAt: 3 });
    }
  });

  test('leaves each event the stamp of the bytes that it came in', async () => {
    const parts = await flushedGzip();
    expect(parts.length).toBeGreaterThanOrEqual(2);
    const { pieces } = await decode('gzip', parts);
    expect(pieces.find(([, text]) => text.includes('first'))?.[0]).toBe(1);
    expect(pieces.find(([, text]) => text.includes('second'))?.[0]).toBe(2);
  });

  test('that is a lie is broken', async () => {
    expect((await decode('gzip', [Buffer.from('data: hello\n\n')])).end).toBe('broken');
  });

  test('that was cut ends with what could be read', async () => {
    const heard = await decode('gzip', [gzipSync('hello '.repeat(1000)).subarray(0, -8)]);
    expect(heard.end).toBe('ended');
    expect(textOf(heard)).toHaveLength(6000);
  });

  test.each(['zstd', 'compress', 'gzip, br', '__proto__', 'constructor'])('%j is not known', (encoding) => {
    expect(createDecoder(encoding, { data: () => {}, ended: () => {}, broken: () => {} })).toBeNull();
  });

  test('delivers nothing after it was destroyed', async () => {
    const heard: MonotonicInstant[] = [];
    const note = (at: MonotonicInstant): void => void heard.push(at);
    const decoder = createDecoder('gzip', { data: note, ended: note, broken: note });
    decoder?.push(monotonicInstant(1), gzipSync('hello'));
    decoder?.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toEqual([]);
  });
});

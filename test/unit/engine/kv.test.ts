import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  kvBytesPerToken,
  kvCapacityTokens,
  kvElementBytes,
  sequencesThatFit,
  shareOfOneMore,
} from '../../../src/engine/kv.ts';

// Llama 3.1 8B: 32 layers, 8 KV heads of 128, 2 bytes: 128 KiB a token.
const LLAMA = { layers: 32, kvHeads: 8, headDim: 128, bytesPerElement: 2 };
// The model of the recordings: 4 layers, 2 KV heads of 64, 4 bytes, in a pool of 1 GiB.
const TINY = { layers: 4, kvHeads: 2, headDim: 64, bytesPerElement: 4 };

describe('KV arithmetic', () => {
  it('counts a key and a value in every layer for every KV head', () => {
    expect(kvBytesPerToken(LLAMA)).toBe(131_072);
    expect(kvBytesPerToken({ ...LLAMA, bytesPerElement: 1 })).toBe(65_536);
  });

  it("agrees with what a real engine says: 1 GiB in blocks of 128 is 262144 tokens of the recordings' model", () => {
    expect(kvCapacityTokens(1024 ** 3, TINY, 128)).toBe(262_144);
  });

  it('counts whole blocks only', () => {
    expect(kvCapacityTokens(131_072 * 100, LLAMA, 16)).toBe(96);
    expect(sequencesThatFit(768, 33, 32)).toBe(12);
    expect(shareOfOneMore(768, 33, 32)).toBeCloseTo(2 / 24, 10);
  });

  it('says how many sequences fit, as the engine does for its longest', () => {
    // kv_cache_max_concurrency of the recording: 768 tokens for sequences of 512.
    expect(768 / 512).toBe(1.5);
    expect(sequencesThatFit(768, 512, 32)).toBe(1);
    expect(sequencesThatFit(262_144, 2_048, 128)).toBe(128);
  });

  it('has an answer where nothing fits or nothing is asked', () => {
    expect(sequencesThatFit(100, 200)).toBe(0);
    expect(shareOfOneMore(100, 200)).toBe(2);
    expect(sequencesThatFit(100, 0)).toBe(0);
    expect(shareOfOneMore(0, 10)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['bfloat16', 2],
    ['FP8_E4M3', 1],
    ['float32', 4],
    ['auto', null],
    ['toString', null],
  ])('knows the size of %s', (dtype, bytes) => {
    expect(kvElementBytes(dtype)).toBe(bytes);
  });

  it('never lets more in than the cache holds', () => {
    const size = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(size, size, fc.constantFrom(1, 16, 32, 128), (capacity, sequence, block) => {
        const fit = sequencesThatFit(capacity, sequence, block);
        const rounded = Math.ceil(sequence / block) * block;
        expect(fit * rounded).toBeLessThanOrEqual(capacity);
        expect((fit + 1) * rounded).toBeGreaterThan(Math.floor(capacity / block) * block);
      }),
      { numRuns: 200 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockPool, createBlockPool } from '../../../src/sim/blocks.ts';

const pool = (numBlocks: number, prefixCaching = true): BlockPool => createBlockPool({ numBlocks, prefixCaching });
const taken = (blocks: readonly number[] | null): readonly number[] => blocks ?? [];

describe('the simulated block pool', () => {
  it('has one block less than it is given: the null block is never handed out', () => {
    const blocks = pool(5);
    expect(blocks.usable).toBe(4);
    expect(taken(blocks.take(4))).not.toContain(0);
    expect(blocks.take(1)).toBeNull();
  });

  it('says 20 of 23 blocks as vLLM did with 24', () => {
    const blocks = pool(24);
    blocks.take(20);
    expect(blocks.usageRatio()).toBeCloseTo(0.8695652173913043, 12);
  });

  it('counts a cached block that nobody holds as free', () => {
    const blocks = pool(5);
    const held = taken(blocks.take(2));
    blocks.remember(held[0] ?? 0, 77);
    blocks.release(held);
    expect(blocks.usageRatio()).toBe(0);
    expect(blocks.find(77)).toBe(held[0]);
  });

  it('revives a cached block, and gives it two holders', () => {
    const blocks = pool(5);
    const held = taken(blocks.take(1));
    blocks.remember(held[0] ?? 0, 77);
    blocks.release(held);
    blocks.hold(held);
    blocks.hold(held);
    blocks.release(held);
    expect(blocks.free()).toBe(3);
    blocks.release(held);
    expect(blocks.free()).toBe(4);
  });

  it('forgets the block that has been free the longest first, and the end of a sequence before its beginning', () => {
    const blocks = pool(4);
    const held = taken(blocks.take(3));
    held.forEach((block, index) => {
      blocks.remember(block, 100 + index);
    });
    blocks.release(held);
    blocks.take(1);
    expect([100, 101, 102].map((key) => blocks.find(key) !== undefined)).toEqual([true, true, false]);
    blocks.take(1);
    expect([100, 101].map((key) => blocks.find(key) !== undefined)).toEqual([true, false]);
  });

  it('remembers nothing with prefix caching off', () => {
    const blocks = pool(5, false);
    const held = taken(blocks.take(1));
    blocks.remember(held[0] ?? 0, 77);
    expect(blocks.find(77)).toBeUndefined();
  });

  it('throws when a block is given back twice', () => {
    const blocks = pool(5);
    const held = taken(blocks.take(1));
    blocks.release(held);
    expect(() => blocks.release(held)).toThrow(/released while free/);
  });

  it('adds up after any order of taking, naming, sharing and giving back', () => {
    const step = fc.record({
      what: fc.constantFrom('take', 'share', 'release', 'clear'),
      size: fc.integer({ min: 0, max: 6 }),
      pick: fc.nat({ max: 50 }),
      key: fc.nat({ max: 12 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.array(step, { maxLength: 60 }), (numBlocks, steps) => {
        const blocks = pool(numBlocks);
        let holdings: (readonly number[])[] = [];
        for (const { what, size, pick, key } of steps) {
          if (what === 'take') {
            const got = blocks.take(size);
            if (got !== null) {
              if (got[0] !== undefined) blocks.remember(got[0], key);
              holdings.push(got);
            }
          } else if (what === 'share') {
            const found = blocks.find(key);
            if (found !== undefined) {
              blocks.hold([found]);
              holdings.push([found]);
            }
          } else if (what === 'release') {
            const [given] = holdings.splice(pick % Math.max(1, holdings.length), 1);
            if (given !== undefined) blocks.release(given);
          } else if (pick === 0) {
            blocks.clear();
            holdings = [];
          }
          blocks.audit();
          expect(blocks.free()).toBe(blocks.usable - new Set(holdings.flat()).size);
        }
      }),
    );
  });
});

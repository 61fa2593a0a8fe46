import { ProbeExporterError } from '../errors.ts';

export interface BlockPoolOptions {
  /** Blocks in all, with the null block that is never handed out. */
  readonly numBlocks: number;
  readonly prefixCaching: boolean;
}

/**
 * The paged KV cache as a ledger of block numbers. A block is held by one or more sequences, or free. A free block may
 * still carry content that is known by its key: it can be revived, and is lost only when its turn at the old end of the
 * free list comes (least recently used first).
 */
export interface BlockPool {
  /** Blocks that can be handed out: all but the null block. */
  readonly usable: number;
  /** Blocks that no sequence holds, with known content or not. */
  free(): number;
  /** 1 - free / (blocks - 1): pressure, not fill, since cached blocks count as free. */
  usageRatio(): number;
  /** The block with this content, if it is still there. Always undefined with prefix caching off. */
  find(key: number): number | undefined;
  /** True when no sequence holds the block. */
  isFree(block: number): boolean;
  /** Takes `count` blocks from the old end of the free list, forgetting what they held; null when there are too few. */
  take(count: number): readonly number[] | null;
  /** One more holder for each block; free ones leave the free list. */
  hold(blocks: readonly number[]): void;
  /** One holder less for each block; those without any go to the young end, the last of the sequence first. */
  release(blocks: readonly number[]): void;
  /** Says what a held block contains. A second block with the same content stays unnamed. */
  remember(block: number, key: number): void;
  /** Everything free and forgotten: the engine started anew. */
  clear(): void;
  /** Throws INVARIANT when the ledger does not add up. For tests; takes time in proportion to the blocks. */
  audit(): void;
}

// Block 0 is the null block: never handed out, so its links can be the two ends of the free list.
const ENDS = 0;
const UNKNOWN = -1;

/** The free blocks from the old end to the young one, as a ring of links through the null block. */
function createFreeList(numBlocks: number) {
  const next = new Int32Array(numBlocks);
  const previous = new Int32Array(numBlocks);
  const at = (links: Int32Array, block: number): number => links[block] ?? ENDS;
  let size = 0;
  const append = (block: number): void => {
    const last = at(previous, ENDS);
    next[last] = block;
    previous[block] = last;
    next[block] = ENDS;
    previous[ENDS] = block;
    size += 1;
  };
  const remove = (block: number): void => {
    const before = at(previous, block);
    const following = at(next, block);
    next[before] = following;
    previous[following] = before;
    size -= 1;
  };
  return {
    append,
    remove,
    size: () => size,
    oldest: () => at(next, ENDS),
    after: (block: number) => at(next, block),
    clear(): void {
      next[ENDS] = ENDS;
      previous[ENDS] = ENDS;
      size = 0;
      for (let block = 1; block < numBlocks; block += 1) append(block);
    },
  };
}

const broken = (message: string): never => {
  throw new ProbeExporterError('INVARIANT', `simulated KV cache: ${message}`);
};

export function createBlockPool(options: BlockPoolOptions): BlockPool {
  const { numBlocks, prefixCaching } = options;
  const freeList = createFreeList(numBlocks);
  const holders = new Int32Array(numBlocks);
  const keys = new Float64Array(numBlocks).fill(UNKNOWN);
  const byKey = new Map<number, number>();
  const usable = numBlocks - 1;
  freeList.clear();

  const held = (block: number): number => holders[block] ?? 0;
  const forget = (block: number): void => {
    const key = keys[block] ?? UNKNOWN;
    if (key === UNKNOWN) return;
    byKey.delete(key);
    keys[block] = UNKNOWN;
  };

  return {
    usable,
    free: freeList.size,
    usageRatio: () => 1 - freeList.size() / usable,
    find: (key) => byKey.get(key),
    isFree: (block) => held(block) === 0,
    take(count) {
      if (count > freeList.size()) return null;
      const taken: number[] = [];
      while (taken.length < count) {
        const block = freeList.oldest();
        freeList.remove(block);
        forget(block);
        holders[block] = 1;
        taken.push(block);
      }
      return taken;
    },
    hold(blocks) {
      for (const block of blocks) {
        if (held(block) === 0) freeList.remove(block);
        holders[block] = held(block) + 1;
      }
    },
    release(blocks) {
      for (let at = blocks.length - 1; at >= 0; at -= 1) {
        const block = blocks[at] ?? ENDS;
        if (held(block) === 0) broken(`block ${block} released while free`);
        holders[block] = held(block) - 1;
        if (held(block) === 0) freeList.append(block);
      }
    },
    remember(block, key) {
      if (!prefixCaching || byKey.has(key)) return;
      forget(block);
      keys[block] = key;
      byKey.set(key, block);
    },
    clear() {
      freeList.clear();
      holders.fill(0);
      keys.fill(UNKNOWN);
      byKey.clear();
    },
    audit() {
      let listed = 0;
      for (let block = freeList.oldest(); block !== ENDS; block = freeList.after(block)) {
        if (held(block) !== 0) broken(`block ${block} is free and held`);
        listed += 1;
      }
      let holding = 0;
      for (let block = 1; block < numBlocks; block += 1) {
        if (held(block) < 0) broken(`block ${block} has ${held(block)} holders`);
        if (held(block) > 0) holding += 1;
      }
      if (listed !== freeList.size() || listed + holding !== usable)
        broken(`${listed} free + ${holding} held != ${usable}`);
      for (const [key, block] of byKey) if (keys[block] !== key) broken(`key ${key} points to block ${block}`);
    },
  };
}

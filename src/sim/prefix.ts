const TWO_TO_32 = 0x1_0000_0000;
const HIGH_MASK = 0x001f_ffff;

/** What the first block of every sequence has for a parent. */
export const NO_PARENT = 0;

/**
 * Names a full block by its tokens and all tokens before it: a chain of hashes, 53 bits wide so that it is a plain
 * number. Two different prefixes with one name are possible and not looked for; at these sizes they do not happen.
 */
export function blockKey(parent: number, tokenAt: (position: number) => number, from: number, to: number): number {
  let low = parent | 0;
  let high = Math.floor(parent / TWO_TO_32) | 0;
  for (let position = from; position < to; position += 1) {
    const id = tokenAt(position);
    low = Math.imul(low ^ id, 0x85ebca6b);
    low ^= low >>> 15;
    high = Math.imul(high ^ (id + low), 0xc2b2ae35);
    high ^= high >>> 13;
  }
  return (high & HIGH_MASK) * TWO_TO_32 + (low >>> 0);
}

import { createHash } from 'node:crypto';

const TWO_TO_32 = 0x1_0000_0000;

/**
 * Numbers in [0, 1), the same sequence for the same seed. Everything of an experiment that is left to chance comes from
 * here, so that somebody else gets the same order, the same prompts and the same arrivals.
 */
export function createRandom(seed: string): () => number {
  const digest = createHash('sha256').update(seed).digest();
  let [a, b, c] = [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8)];
  let counter = 1;
  // sfc32 (Chris Doty-Humphrey): small, fast, passes PractRand; its state is filled by the hash.
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / TWO_TO_32;
  };
}

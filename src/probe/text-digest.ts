import { createHash, type Hash } from 'node:crypto';

/** Characters of the text that are kept for expectations. */
const KEPT_CHARACTERS = 65_536;
/** Hashing each token by itself would cost more than parsing it. */
const HASH_CHARACTERS = 4096;

/** A text that is hashed whole and kept in part. */
export interface TextDigest {
  add(piece: string): void;
  readonly empty: boolean;
  /** The beginning of the text. */
  text(): string;
  /** First 16 hexadecimal digits of the SHA-256 of the whole text; null when it is empty. */
  hash(): string | null;
}

const endsInHalfPair = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
};

export function createTextDigest(): TextDigest {
  let kept = '';
  // Null while everything is still in `kept`, which is the rule for a probe.
  let hash: Hash | null = null;
  let unhashed = '';
  let empty = true;

  function overflow(piece: string): void {
    if (hash === null) {
      hash = createHash('sha256');
      unhashed = kept;
    }
    unhashed += piece;
    // A surrogate pair may lie in two chunks; its halves must be hashed together.
    if (unhashed.length < HASH_CHARACTERS || endsInHalfPair(unhashed)) return;
    hash.update(unhashed, 'utf8');
    unhashed = '';
  }

  return {
    add(piece) {
      empty = false;
      if (hash === null && kept.length + piece.length <= KEPT_CHARACTERS) {
        kept += piece;
        return;
      }
      overflow(piece);
    },
    get empty() {
      return empty;
    },
    text: () => kept,
    hash() {
      if (empty) return null;
      const whole = hash === null ? createHash('sha256').update(kept, 'utf8') : hash.copy().update(unhashed, 'utf8');
      return whole.digest('hex').slice(0, 16);
    },
  };
}

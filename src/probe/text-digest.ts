import { createHash, type Hash, hash as hashOnce } from 'node:crypto';

/** Characters of the text that are kept for expectations. */
const KEPT_CHARACTERS = 65_536;
/** Hashing each token by itself would cost more than parsing it. */
const HASH_CHARACTERS = 4096;
const HASH_DIGITS = 16;

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

/** A class, as two are made for each stream: its methods are compiled once, not bound anew each time. */
class Digest implements TextDigest {
  empty = true;
  private kept = '';
  // Null while everything is still in `kept`, which is the rule for a probe.
  private running: Hash | null = null;
  private unhashed = '';

  add(piece: string): void {
    this.empty = false;
    if (this.running === null && this.kept.length + piece.length <= KEPT_CHARACTERS) this.kept += piece;
    else this.overflow(piece);
  }

  text(): string {
    return this.kept;
  }

  hash(): string | null {
    if (this.empty) return null;
    const { running, unhashed } = this;
    const whole =
      running === null ? hashOnce('sha256', this.kept, 'hex') : running.copy().update(unhashed, 'utf8').digest('hex');
    return whole.slice(0, HASH_DIGITS);
  }

  private overflow(piece: string): void {
    if (this.running === null) {
      this.running = createHash('sha256');
      this.unhashed = this.kept;
    }
    this.unhashed += piece;
    // A surrogate pair may lie in two chunks; its halves must be hashed together.
    if (this.unhashed.length < HASH_CHARACTERS || endsInHalfPair(this.unhashed)) return;
    this.running.update(this.unhashed, 'utf8');
    this.unhashed = '';
  }
}

export const createTextDigest = (): TextDigest => new Digest();

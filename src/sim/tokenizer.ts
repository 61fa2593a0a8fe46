import { mix } from './random.ts';

/**
 * The rule, whole: read from the left, a token is
 * - up to 8 letters, together with one space before them;
 * - else up to 3 digits, together with one space before them;
 * - else one character of any other kind (a space that belongs to no word, a newline, a punctuation mark, an emoji).
 *
 * So common English is about one token a word, the pieces put together are always the text again, and the count of a
 * text never changes. A real tokenizer's merges are not modelled.
 */
const PIECE = / ?[\p{L}\p{M}]{1,8}| ?\p{N}{1,3}|[\s\S]/gu;

// Ids stay below 2^30: numbers of that size are stored without a heap object.
const ID_MASK = 0x3fff_ffff;

/** Ids of the marks that a chat template puts around messages, and of the end of an answer. No text has them. */
const MARK_IDS = { messageStart: 1, messageEnd: 2, endOfText: 3 } as const;

/** The id of one piece: a hash of its text, so the vocabulary needs no table. */
function pieceId(piece: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < piece.length; at += 1) hash = Math.imul(hash ^ piece.charCodeAt(at), 0x01000193);
  // The first ids are kept for the marks.
  return Math.max(16, (hash >>> 0) & ID_MASK);
}

/** The pieces of a text, in order; joined they are the text. */
export function pieces(text: string): readonly string[] {
  return text.match(PIECE) ?? [];
}

export function encode(text: string): readonly number[] {
  return pieces(text).map(pieceId);
}

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/**
 * The chat template: each message is a start mark, its role, a newline, its content and an end mark; the answer is
 * opened by a start mark, "assistant" and a newline. Costs 4 tokens a message and 4 for the opening ("assistant" is two).
 */
export function encodeChat(messages: readonly ChatMessage[]): readonly number[] {
  const ids: number[] = [];
  const open = (role: string): void => void ids.push(MARK_IDS.messageStart, ...encode(role), ...encode('\n'));
  for (const message of messages) {
    open(message.role);
    for (const id of encode(message.content)) ids.push(id);
    ids.push(MARK_IDS.messageEnd);
  }
  open('assistant');
  return ids;
}

const CONSONANTS = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'];
const VOWELS = ['a', 'e', 'i', 'o', 'u'];

/** All words the simulated model knows: two syllables, a space before. Each is exactly one token for `encode`. */
const WORDS: readonly string[] = CONSONANTS.flatMap((first) =>
  VOWELS.flatMap((second) =>
    CONSONANTS.flatMap((third) => VOWELS.map((fourth) => ` ${first}${second}${third}${fourth}`)),
  ),
);
const WORD_IDS: readonly number[] = WORDS.map(pieceId);

const wordIndex = (answerSeed: number, position: number): number => mix(answerSeed, position) % WORDS.length;

/** Text of token `position` of the answer with this seed. The same prompt always gets the same answer. */
export function answerText(answerSeed: number, position: number): string {
  return WORDS[wordIndex(answerSeed, position)] ?? '';
}

/** Id of the same token: what a later prompt that quotes the answer is encoded to, so its blocks are found again. */
export function answerId(answerSeed: number, position: number): number {
  return WORD_IDS[wordIndex(answerSeed, position)] ?? 0;
}

/** Seed of the answer to a prompt. */
export function answerSeed(promptTokenIds: readonly number[], seed: number): number {
  let hash = mix(seed, promptTokenIds.length);
  for (const id of promptTokenIds) hash = mix(hash, id);
  return hash;
}

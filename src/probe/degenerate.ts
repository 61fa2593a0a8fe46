/** Garbage of these kinds comes from broken weights, kernels or quantisation, not from a model that writes badly. */
export type Degeneration = 'repeated_unit' | 'replacement_characters';

/** Shorter answers say nothing. */
const LEAST_CHARACTERS = 8;
/** The end of a long answer is where it would have collapsed. */
const LOOKED_AT_CHARACTERS = 4096;
const LONGEST_UNIT_CHARACTERS = 32;
const LEAST_REPEATS = 8;
/** The repeated part must be most of the answer: rules of dashes and the like stand in healthy answers too. */
const LEAST_REPEATED_SHARE = 0.6;
/** Single replacement characters are ordinary with byte-level tokenizers: a token may end inside a character. */
const LEAST_REPLACEMENT_SHARE = 0.5;

const REPLACEMENT = /\ufffd/g;

/** How many characters at the end of `text` repeat those `unit` before them. */
function repeatedTail(text: string, unit: number): number {
  let index = text.length - 1;
  while (index >= unit && text.charCodeAt(index) === text.charCodeAt(index - unit)) index -= 1;
  return text.length - 1 - index;
}

/**
 * Whether the answer ends in one short unit over and over: a single token ("!" for logits that are not a number), or
 * a loop of a few. The repeats must be exact, so that counting and lists do not look like it.
 */
function endsInRepeats(text: string): boolean {
  for (let unit = 1; unit <= LONGEST_UNIT_CHARACTERS; unit += 1) {
    const repeated = repeatedTail(text, unit) + unit;
    const enough = repeated >= LEAST_REPEATS * unit && repeated >= LEAST_REPEATED_SHARE * text.length;
    if (enough && text.slice(-unit).trim() !== '') return true;
  }
  return false;
}

/** The kind of garbage that `answer` is; null for everything else, an answer of blanks included. */
export function findDegeneration(answer: string): Degeneration | null {
  const text = answer.slice(-LOOKED_AT_CHARACTERS);
  if (text.length < LEAST_CHARACTERS || text.trim() === '') return null;
  const replaced = text.match(REPLACEMENT)?.length ?? 0;
  if (replaced >= LEAST_REPLACEMENT_SHARE * text.replace(/\s/g, '').length) return 'replacement_characters';
  return endsInRepeats(text) ? 'repeated_unit' : null;
}

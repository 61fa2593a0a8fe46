/** One prompt that was sent: how many filler words it had, and how many tokens the engine counted. */
interface Observation {
  readonly words: number;
  readonly tokens: number;
}

/**
 * Finds how many filler words make a prompt of the wanted size. No tokenizer is at hand, so the engine's own count of
 * each prompt is the measure: a constant for the chat template and the fixed parts, plus so many tokens a word.
 */
export interface PromptSize {
  /** Filler words of the next prompt. */
  readonly words: number;
  /** True once no other number of words comes closer; from then on `words` stays. */
  readonly settled: boolean;
  /** The engine counted `tokens` for a prompt with `words` filler words. */
  observe(words: number, tokens: number): void;
}

/** Steps after which the closest size so far is kept: a tokenizer may have no prompt of exactly the wanted size. */
const MOST_STEPS = 8;
/** A settled prompt that is counted this differently is read by another tokenizer. */
const CHANGED_SHARE = 0.05;

export function createPromptSize(wantedTokens: number, fixedTokens: number): PromptSize {
  const clamp = (value: number): number => Math.min(Math.max(Math.round(value), 0), wantedTokens);
  let words = clamp(wantedTokens - fixedTokens);
  let seen: Observation[] = [];
  let settledTokens: number | null = null;

  const miss = ({ tokens }: Observation): number => Math.abs(wantedTokens - tokens);

  /** From one size and the guess of what is fixed. Near 1 it is 1, and the difference an unknown template. */
  function firstGuess(latest: Observation): number {
    const slope = (latest.tokens - fixedTokens) / Math.max(latest.words, 1);
    return slope > 1.4 ? slope : 1;
  }

  /** Tokens a word: from two sizes where there are two. */
  function tokensPerWord(latest: Observation): number {
    const other = seen.findLast((observation) => observation.words !== latest.words);
    if (other === undefined) return firstGuess(latest);
    const slope = (latest.tokens - other.tokens) / (latest.words - other.words);
    return slope >= 0.5 ? slope : 1;
  }

  function settle(): void {
    const best = seen.reduce((a, b) => (miss(b) < miss(a) ? b : a));
    words = best.words;
    settledTokens = best.tokens;
  }

  function step(latest: Observation): void {
    const next = clamp(latest.words + (wantedTokens - latest.tokens) / tokensPerWord(latest));
    const known = seen.some((observation) => observation.words === next);
    if (known || seen.length >= MOST_STEPS) settle();
    else words = next;
  }

  function observe(observedWords: number, tokens: number): void {
    if (!Number.isFinite(tokens) || tokens <= 0) return;
    if (settledTokens !== null) {
      if (Math.abs(tokens - settledTokens) <= Math.max(2, CHANGED_SHARE * settledTokens)) return;
      settledTokens = null;
      seen = [];
    }
    const latest = { words: observedWords, tokens };
    seen.push(latest);
    step(latest);
  }

  return {
    observe,
    get words() {
      return words;
    },
    get settled() {
      return settledTokens !== null;
    },
  };
}

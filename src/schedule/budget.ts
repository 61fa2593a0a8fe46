import type { Clock } from '../clock.ts';

export interface BudgetOptions {
  readonly tokensPerHour: number;
  readonly tokensPerDay: number;
}

/** Tokens that may still be spent; what is reserved for a probe in flight counts as spent. */
interface RemainingTokens {
  readonly hour: number;
  readonly day: number;
}

/** Tokens set aside for one probe. */
export interface Reservation {
  /** The probe is over and has cost this; the rest is free again. Only the first call counts. */
  settle(actualTokens: number): void;
}

/** A hard stop on what probes may cost: nothing is sent that might pass a limit, in any hour and in any day. */
export interface TokenBudget {
  /** Sets `worstCaseTokens` aside; null when they might pass a limit. */
  reserve(worstCaseTokens: number): Reservation | null;
  remaining(): RemainingTokens;
  /** New limits; what has been spent stays spent. */
  configure(options: BudgetOptions): void;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;
const PARTS = 60;

/**
 * Sum over the last `spanSeconds`, held in 60 parts and on the monotonic clock. Rolling, so that a limit holds for any
 * hour and not twice around each full one. A part is let go only when all of it is too old: never too early.
 */
function rollingSum(spanSeconds: number, clock: Clock): { add(amount: number): void; total(): number } {
  const partSeconds = spanSeconds / PARTS;
  const parts: { readonly index: number; amount: number }[] = [];
  const current = (): number => {
    const index = Math.floor(clock.monotonic() / partSeconds);
    while (parts[0] !== undefined && parts[0].index < index - PARTS) parts.shift();
    return index;
  };
  return {
    add(amount) {
      const index = current();
      const last = parts.at(-1);
      if (last?.index === index) last.amount += amount;
      else parts.push({ index, amount });
    },
    total() {
      current();
      return parts.reduce((sum, part) => sum + part.amount, 0);
    },
  };
}

const usable = (tokens: number): number => (Number.isFinite(tokens) && tokens > 0 ? tokens : 0);

/** The token budget of one target. Starts full with the process. */
export function createTokenBudget(initial: BudgetOptions, deps: { readonly clock: Clock }): TokenBudget {
  const hour = rollingSum(HOUR_SECONDS, deps.clock);
  const day = rollingSum(DAY_SECONDS, deps.clock);
  let limits = initial;
  let reserved = 0;

  const remaining = (): RemainingTokens => ({
    hour: Math.max(0, limits.tokensPerHour - hour.total() - reserved),
    day: Math.max(0, limits.tokensPerDay - day.total() - reserved),
  });

  return {
    remaining,
    configure(options) {
      limits = options;
    },
    reserve(worstCaseTokens) {
      const { hour: hourLeft, day: dayLeft } = remaining();
      const wanted = usable(worstCaseTokens);
      if (wanted > hourLeft || wanted > dayLeft) return null;
      reserved += wanted;
      let settled = false;
      return {
        settle(actualTokens) {
          if (settled) return;
          settled = true;
          reserved -= wanted;
          hour.add(usable(actualTokens));
          day.add(usable(actualTokens));
        },
      };
    },
  };
}

/** What a probe might cost at the most, before anything is known of it. */
export interface ProbeCost {
  readonly promptTokens: number;
  /** A fixed prompt of the operator's; null when it is generated to `promptTokens`. */
  readonly prompt: string | null;
  readonly maxTokens: number;
  /** What the endpoint counted for the last prompt of this profile; null before the first answer. */
  readonly lastPromptTokens: number | null;
}

// Chat templates put a few dozen tokens around the prompt.
const TEMPLATE_TOKENS = 64;
// Generated prompts are sized for a common tokenizer; others make up to half as many tokens more of them.
const TOKENIZER_MARGIN = 1.5;

/** Upper bound of prompt and output tokens together. */
export function worstCaseTokens(cost: ProbeCost): number {
  // No tokenizer makes more tokens than bytes of a text.
  const asked = cost.prompt === null ? cost.promptTokens * TOKENIZER_MARGIN : Buffer.byteLength(cost.prompt);
  const prompt = cost.lastPromptTokens ?? asked;
  return Math.ceil(prompt + TEMPLATE_TOKENS + cost.maxTokens);
}

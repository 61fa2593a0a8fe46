/** A source of numbers that gives the same sequence for the same seed. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Exponential with this mean: the gap between two arrivals of a Poisson process. */
  exponential(mean: number): number;
  /** Log-normal: half of the values below `median`, spread by `sigma` (of the logarithm). */
  logNormal(median: number, sigma: number): number;
}

const GOLDEN_GAMMA = 0x9e3779b9;
const TWO_TO_32 = 0x1_0000_0000;

/** Mixes two 32-bit numbers into one: stateless, so that token n of an answer does not depend on what came before. */
export function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ (right + GOLDEN_GAMMA + (left << 6) + (left >>> 2)), 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  return hash >>> 0;
}

/** A counter put through a mixing function (the splitmix construction): fast, and good enough for arrivals and lengths. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + GOLDEN_GAMMA) >>> 0;
    return mix(state, seed) / TWO_TO_32;
  };
  return {
    next,
    exponential: (mean) => -Math.log(1 - next()) * mean,
    logNormal: (median, sigma) => {
      // Box-Muller; 1 - next() keeps the logarithm finite.
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return median * Math.exp(sigma * normal);
    },
  };
}

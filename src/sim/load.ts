import type { Clock, Timer } from '../clock.ts';
import { elapsed, type MonotonicInstant, seconds } from '../units.ts';
import type { SimulatedEngine } from './engine.ts';
import type { SimLoadOptions } from './options.ts';
import { createRandom, mix, type Random } from './random.ts';
import type { SimHandle } from './types.ts';

interface SimLoadState {
  /** Arrivals a second that the shape asks for now. */
  readonly ratePerSecond: number;
  readonly active: number;
  readonly arrived: number;
  readonly finished: number;
  /** Left without a token when their patience ended. */
  readonly gaveUp: number;
  /** Turned away because `maxClients` were there, or lost with the engine. */
  readonly lost: number;
}

/** Requests that arrive by themselves, put straight into the engine. */
export interface SimLoad {
  start(): void;
  /** No arrivals any more; those inside stay. */
  stop(): void;
  state(): SimLoadState;
}

/**
 * Arrivals a second, `elapsedSeconds` after the start. The wave is a cosine from the lowest rate up to the peak and
 * back, so that every period passes slowly through an idle engine, its knee and an overloaded one.
 */
export function loadRate(options: SimLoadOptions, elapsedSeconds: number): number {
  if (options.shape === 'none') return 0;
  if (options.shape === 'steady') return options.ratePerSecond;
  const height = (1 - Math.cos((2 * Math.PI * elapsedSeconds) / options.periodSeconds)) / 2;
  return options.ratePerSecond + (options.peakRatePerSecond - options.ratePerSecond) * height;
}

const clampedInteger = (value: number, low: number, high: number): number =>
  Math.min(Math.max(Math.round(value), low), high);

interface Shape {
  readonly promptTokenIds: readonly number[];
  readonly outputTokens: number;
}

function drawRequest(options: SimLoadOptions, random: Random, maxModelLen: number): Shape {
  const shared = random.next() < options.sharedPrefixRatio;
  const prefix = shared ? 1 + Math.floor(random.next() * options.sharedPrefixes) : 0;
  const own = clampedInteger(random.logNormal(options.promptTokens, options.promptSigma), 1, maxModelLen / 2);
  const common = shared ? Math.min(options.sharedPrefixTokens, own) : 0;
  const personal = Math.floor(random.next() * 2 ** 30);
  const promptTokenIds = Array.from(
    { length: own },
    (_, position) =>
      // Ids of the same range as the tokenizer's.
      16 + (mix(position < common ? prefix : personal, position) & 0x1fff_ffff),
  );
  const outputTokens = clampedInteger(
    random.logNormal(options.outputTokens, options.outputSigma),
    1,
    maxModelLen - own,
  );
  return { promptTokenIds, outputTokens };
}

export function createLoad(
  options: SimLoadOptions,
  deps: { readonly engine: SimulatedEngine; readonly clock: Clock },
): SimLoad {
  const { engine, clock } = deps;
  const random = createRandom(options.seed);
  const peak =
    options.shape === 'wave' ? Math.max(options.ratePerSecond, options.peakRatePerSecond) : options.ratePerSecond;
  const count = { active: 0, arrived: 0, finished: 0, gaveUp: 0, lost: 0 };
  let startedAt: MonotonicInstant | null = null;
  let timer: Timer | null = null;

  const rateNow = (): number => (startedAt === null ? 0 : loadRate(options, elapsed(startedAt, clock.monotonic())));

  const arrive = (): void => {
    const { promptTokenIds, outputTokens } = drawRequest(options, random, engine.options.maxModelLen);
    count.arrived += 1;
    if (count.active >= options.maxClients) {
      count.lost += 1;
      return;
    }
    count.active += 1;
    let patience: Timer | null = null;
    const handle: SimHandle = engine.submit(
      { promptTokenIds, maxTokens: outputTokens, ignoreEos: true, minTokens: 0, seed: 0 },
      {
        onToken: () => {
          patience?.cancel();
          patience = null;
        },
        onEnd: (result) => {
          patience?.cancel();
          count.active -= 1;
          if (result.finishReason === 'length') count.finished += 1;
          else count.lost += 1;
        },
      },
    );
    patience = clock.setTimer(options.patienceSeconds, () => {
      handle.abort();
      count.active -= 1;
      count.gaveUp += 1;
    });
  };

  /** Candidates come at the peak rate; each becomes an arrival with the chance that the present rate gives it. */
  const awaitNext = (): void => {
    timer = clock.setTimer(seconds(random.exponential(1 / peak)), () => {
      if (random.next() * peak < rateNow()) arrive();
      awaitNext();
    });
  };

  return {
    start() {
      if (timer !== null || options.shape === 'none' || !(peak > 0)) return;
      startedAt ??= clock.monotonic();
      awaitNext();
    },
    stop() {
      timer?.cancel();
      timer = null;
    },
    state: () => ({ ...count, ratePerSecond: timer === null ? 0 : rateNow() }),
  };
}

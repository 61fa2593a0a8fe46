/** A histogram as the engine keeps it: `counts[i]` of values up to `bounds[i]` and above the bound before; one more for the rest. */
export interface Histogram {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

interface OpenHistogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum: number;
  count: number;
}

// vLLM's own bounds: what reads the page is tested against the edges it will meet.
const TOKEN_COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const STEP_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const FIRST_TOKEN = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const TOKEN_GAP = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const REQUEST = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const PREEMPTIONS = [1, 2, 3, 4, 5, 10, 20];

/** Every histogram of the engine, with its bounds. */
const HISTOGRAM_BOUNDS = {
  requestPromptTokens: TOKEN_COUNTS,
  requestGenerationTokens: TOKEN_COUNTS,
  requestMaxTokens: TOKEN_COUNTS,
  requestComputedPrefillTokens: TOKEN_COUNTS,
  iterationTokens: STEP_TOKENS,
  ttftSeconds: FIRST_TOKEN,
  interTokenSeconds: TOKEN_GAP,
  requestTpotSeconds: TOKEN_GAP,
  e2eSeconds: REQUEST,
  queueSeconds: REQUEST,
  inferenceSeconds: REQUEST,
  prefillSeconds: REQUEST,
  decodeSeconds: REQUEST,
  requestPreemptions: PREEMPTIONS,
} as const satisfies Record<string, readonly number[]>;
export type HistogramName = keyof typeof HISTOGRAM_BOUNDS;
const HISTOGRAM_NAMES = Object.keys(HISTOGRAM_BOUNDS) as HistogramName[];

const COUNTER_NAMES = [
  'preemptions',
  'prefixCacheQueries',
  'prefixCacheHits',
  'promptTokens',
  'cachedPromptTokens',
  'generationTokens',
  'finishedStop',
  'finishedLength',
  'finishedAbort',
] as const;
type CounterName = (typeof COUNTER_NAMES)[number];

/** Counters and histograms since the engine started. */
export interface Statistics {
  readonly counters: Readonly<Record<CounterName, number>>;
  readonly histograms: Readonly<Record<HistogramName, Histogram>>;
}

export interface StatisticsRecorder {
  add(name: CounterName, amount: number): void;
  observe(name: HistogramName, value: number): void;
  /** A live view, not a copy. */
  read(): Statistics;
}

/** A recorder at 0. A restart of the engine takes a new one. */
export function createStatistics(): StatisticsRecorder {
  const counters = Object.fromEntries(COUNTER_NAMES.map((name) => [name, 0])) as Record<CounterName, number>;
  const histograms = Object.fromEntries(
    HISTOGRAM_NAMES.map((name) => {
      const bounds = HISTOGRAM_BOUNDS[name];
      const histogram: OpenHistogram = {
        bounds,
        counts: new Array<number>(bounds.length + 1).fill(0),
        sum: 0,
        count: 0,
      };
      return [name, histogram];
    }),
  ) as unknown as Record<HistogramName, OpenHistogram>;
  return {
    add: (name, amount) => {
      counters[name] += amount;
    },
    observe(name, value) {
      const histogram = histograms[name];
      let at = 0;
      while (at < histogram.bounds.length && value > (histogram.bounds[at] ?? 0)) at += 1;
      histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
      histogram.sum += value;
      histogram.count += 1;
    },
    read: () => ({ counters, histograms }),
  };
}

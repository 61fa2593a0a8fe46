import { ProbeExporterError } from '../errors.ts';
import { type Seconds, seconds } from '../units.ts';
import { type CostModel, DEFAULT_COST } from './cost.ts';
import type { SimFault } from './fault-types.ts';

export interface SimEngineOptions {
  /** Everything random follows from it. */
  readonly seed: number;
  /** Prompt and answer together. */
  readonly maxModelLen: number;
  /** Sequences in a batch at most. */
  readonly maxNumSeqs: number;
  /** Tokens a step computes at most; without chunked prefill never less than `maxModelLen`. */
  readonly maxNumBatchedTokens: number;
  /** False: a prompt is computed whole in one step, however long. */
  readonly chunkedPrefill: boolean;
  /** Tokens a KV block holds. */
  readonly blockSize: number;
  /** KV blocks, one of which (the null block) is never used. */
  readonly numGpuBlocks: number;
  readonly prefixCaching: boolean;
  readonly cost: CostModel;
  /** Median length of an answer that the model ends itself, and the spread of the logarithm (log-normal). */
  readonly naturalOutputTokens: number;
  readonly naturalOutputSigma: number;
}

export const LOAD_SHAPES = ['none', 'steady', 'wave'] as const;
type LoadShape = (typeof LOAD_SHAPES)[number];

/** Virtual clients inside the simulator: no sockets, so they cost the machine next to nothing. */
export interface SimLoadOptions {
  readonly shape: LoadShape;
  readonly seed: number;
  /** Arrivals a second (Poisson); with `wave` the lowest rate. */
  readonly ratePerSecond: number;
  /** Highest rate of the wave. */
  readonly peakRatePerSecond: number;
  /** From one lowest point of the wave to the next. */
  readonly periodSeconds: Seconds;
  /** Median and spread (log-normal) of prompt and answer lengths. */
  readonly promptTokens: number;
  readonly promptSigma: number;
  readonly outputTokens: number;
  readonly outputSigma: number;
  /** Share of the requests whose prompt begins with one of a few common prefixes. */
  readonly sharedPrefixRatio: number;
  readonly sharedPrefixTokens: number;
  readonly sharedPrefixes: number;
  /** A client that has no token after this long gives up. */
  readonly patienceSeconds: Seconds;
  /** Clients at one time; arrivals beyond are turned away and counted. */
  readonly maxClients: number;
}

export interface SimulatorOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly model: string;
  /** What `/version` says. */
  readonly version: string;
  /** When set, `/v1` wants it as a bearer token. Never logged. */
  readonly apiKey: string | null;
  /** Tokens a chunk after the first one, as vLLM's --stream-interval. */
  readonly streamInterval: number;
  /** Whether usage says how much of the prompt was cached, as vLLM's --enable-prompt-tokens-details. */
  readonly promptTokensDetails: boolean;
  readonly engine: SimEngineOptions;
  readonly load: SimLoadOptions;
  /** Faults in force from the start. */
  readonly faults: readonly SimFault[];
}

export const DEFAULT_ENGINE: SimEngineOptions = {
  seed: 1,
  maxModelLen: 8192,
  maxNumSeqs: 48,
  maxNumBatchedTokens: 2048,
  chunkedPrefill: true,
  blockSize: 16,
  numGpuBlocks: 1537,
  prefixCaching: true,
  cost: DEFAULT_COST,
  naturalOutputTokens: 120,
  naturalOutputSigma: 0.6,
};

/** No load: what the tests of other parts want. `simulate` and `demo` choose a shape. */
export const DEFAULT_LOAD: SimLoadOptions = {
  shape: 'none',
  seed: 1,
  ratePerSecond: 1,
  peakRatePerSecond: 7.5,
  periodSeconds: seconds(240),
  promptTokens: 350,
  promptSigma: 0.6,
  outputTokens: 140,
  outputSigma: 0.5,
  sharedPrefixRatio: 0.3,
  sharedPrefixTokens: 256,
  sharedPrefixes: 4,
  patienceSeconds: seconds(30),
  maxClients: 256,
};

export const DEFAULT_SIMULATOR: SimulatorOptions = {
  host: '127.0.0.1',
  port: 8000,
  model: 'simulated-8b',
  version: '0.32.0+simulated',
  apiKey: null,
  streamInterval: 1,
  promptTokensDetails: true,
  engine: DEFAULT_ENGINE,
  load: DEFAULT_LOAD,
  faults: [],
};

const invalid = (message: string): never => {
  throw new ProbeExporterError('CONFIG_INVALID', `simulated engine: ${message}`);
};

/** Throws CONFIG_INVALID when the engine could not serve a request of the full length it promises. */
export function checkEngineOptions(options: SimEngineOptions): void {
  const counts = ['maxModelLen', 'maxNumSeqs', 'maxNumBatchedTokens', 'blockSize', 'numGpuBlocks'] as const;
  for (const name of counts) {
    if (!Number.isInteger(options[name]) || options[name] < 1) invalid(`${name} must be a whole number above 0`);
  }
  const capacity = (options.numGpuBlocks - 1) * options.blockSize;
  if (capacity < options.maxModelLen) {
    const wanted = Math.ceil(options.maxModelLen / options.blockSize) + 1;
    invalid(
      `${options.numGpuBlocks} KV blocks hold ${capacity} tokens, one request may have ${options.maxModelLen}; use at least ${wanted} blocks or a smaller maxModelLen`,
    );
  }
  if (Object.values(options.cost).some((term) => !(term >= 0)) || !(options.cost.stepSeconds > 0)) {
    invalid('the cost of a step must be above 0 and no term of the cost model below 0');
  }
  if (!(options.naturalOutputTokens >= 1)) invalid('naturalOutputTokens must be at least 1');
}

import { ProbeExporterError } from '../errors.ts';
import { parseFaultText } from './fault-parse.ts';
import { DEFAULT_SIMULATOR, LOAD_SHAPES, type SimulatorOptions } from './options.ts';

/** Part of the options that a flag belongs to. */
type Section = 'server' | 'engine' | 'cost' | 'load';
type ValueKind = 'text' | 'count' | 'number' | 'ratio' | 'boolean' | 'shape' | 'faults';

/** One option of the simulator, for a command line and for the documentation. */
export interface SimFlag {
  /** Without dashes: `max-num-seqs`. */
  readonly name: string;
  /** What stands for the value in a usage text. */
  readonly argument: string;
  readonly meaning: string;
  /** As it would be typed; empty: none. */
  readonly defaultText: string;
  readonly section: Section;
  readonly key: string;
  readonly kind: ValueKind;
}

const SECTION_DEFAULTS: Readonly<Record<Section, object>> = {
  server: DEFAULT_SIMULATOR,
  engine: DEFAULT_SIMULATOR.engine,
  cost: DEFAULT_SIMULATOR.engine.cost,
  load: DEFAULT_SIMULATOR.load,
};

const ARGUMENTS: Readonly<Record<ValueKind, string>> = {
  text: '<text>',
  count: '<n>',
  number: '<number>',
  ratio: '<0..1>',
  boolean: '<true|false>',
  shape: `<${LOAD_SHAPES.join('|')}>`,
  faults: '<kind[,name=value...][;...]>',
};

function flag(section: Section, key: string, name: string, kind: ValueKind, meaning: string): SimFlag {
  const fallback = (SECTION_DEFAULTS[section] as Readonly<Record<string, unknown>>)[key];
  const defaultText = fallback === null || kind === 'faults' ? '' : String(fallback);
  return { name, argument: ARGUMENTS[kind], meaning, defaultText, section, key, kind };
}

/** Every option of the simulator. Lengths of time are in seconds. */
export const SIM_FLAGS: readonly SimFlag[] = [
  flag('server', 'host', 'host', 'text', 'Address to listen on.'),
  flag('server', 'port', 'port', 'count', 'Port to listen on; 0 takes a free one.'),
  flag('server', 'model', 'model', 'text', 'Name of the model that is served.'),
  flag('server', 'version', 'engine-version', 'text', 'What /version says.'),
  flag('server', 'apiKey', 'api-key', 'text', 'Bearer token that /v1 wants; none: open.'),
  flag('server', 'streamInterval', 'stream-interval', 'count', 'Tokens a chunk after the first one.'),
  flag(
    'server',
    'promptTokensDetails',
    'prompt-tokens-details',
    'boolean',
    'Usage says how much of the prompt was cached.',
  ),
  flag('server', 'faults', 'fault', 'faults', 'Faults in force from the start.'),
  flag('engine', 'seed', 'seed', 'count', 'Everything random in the engine follows from it.'),
  flag('engine', 'maxModelLen', 'max-model-len', 'count', 'Tokens of prompt and answer together.'),
  flag('engine', 'maxNumSeqs', 'max-num-seqs', 'count', 'Sequences in a batch at most.'),
  flag('engine', 'maxNumBatchedTokens', 'max-num-batched-tokens', 'count', 'Tokens that a step computes at most.'),
  flag('engine', 'chunkedPrefill', 'chunked-prefill', 'boolean', 'Long prompts are computed in pieces.'),
  flag('engine', 'blockSize', 'block-size', 'count', 'Tokens that a KV block holds.'),
  flag('engine', 'numGpuBlocks', 'num-gpu-blocks', 'count', 'KV blocks, with the null block.'),
  flag('engine', 'prefixCaching', 'prefix-caching', 'boolean', 'Known blocks of a prompt are used again.'),
  flag(
    'engine',
    'naturalOutputTokens',
    'natural-output-tokens',
    'count',
    'Median length of an answer without ignore_eos.',
  ),
  flag('engine', 'naturalOutputSigma', 'natural-output-sigma', 'number', 'Spread of that length (log-normal).'),
  flag('cost', 'stepSeconds', 'step-seconds', 'number', 'Cost of any step.'),
  flag('cost', 'prefillTokenSeconds', 'prefill-token-seconds', 'number', 'Cost of a prompt token computed.'),
  flag('cost', 'decodeSequenceSeconds', 'decode-sequence-seconds', 'number', 'Cost of a sequence that decodes.'),
  flag('cost', 'kvTokenSeconds', 'kv-token-seconds', 'number', 'Cost of a token of context that is read.'),
  flag('load', 'shape', 'load', 'shape', 'Background load.'),
  flag('load', 'seed', 'load-seed', 'count', 'Arrivals and lengths follow from it.'),
  flag('load', 'ratePerSecond', 'load-rate', 'number', 'Arrivals a second; of a wave, the lowest.'),
  flag('load', 'peakRatePerSecond', 'load-peak-rate', 'number', 'Highest arrivals a second of a wave.'),
  flag('load', 'periodSeconds', 'load-period', 'number', 'Length of a wave.'),
  flag('load', 'promptTokens', 'load-prompt-tokens', 'count', 'Median prompt length.'),
  flag('load', 'promptSigma', 'load-prompt-sigma', 'number', 'Spread of prompt lengths (log-normal).'),
  flag('load', 'outputTokens', 'load-output-tokens', 'count', 'Median answer length.'),
  flag('load', 'outputSigma', 'load-output-sigma', 'number', 'Spread of answer lengths (log-normal).'),
  flag('load', 'sharedPrefixRatio', 'load-shared-ratio', 'ratio', 'Share of requests that begin with a common prefix.'),
  flag('load', 'sharedPrefixTokens', 'load-shared-tokens', 'count', 'Length of the common prefixes.'),
  flag('load', 'sharedPrefixes', 'load-shared-prefixes', 'count', 'Number of different common prefixes.'),
  flag('load', 'patienceSeconds', 'load-patience', 'number', 'A client without a token gives up after this long.'),
  flag('load', 'maxClients', 'load-max-clients', 'count', 'Clients at one time at most.'),
];

const misuse = (entry: SimFlag, wanted: string, text: string): never => {
  throw new ProbeExporterError('USAGE', `--${entry.name} must be ${wanted}, not "${text}"`);
};

function parsedNumber(entry: SimFlag, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value) || value < 0) return misuse(entry, 'a number of at least 0', text);
  if (entry.kind === 'count' && !Number.isInteger(value)) return misuse(entry, 'a whole number', text);
  if (entry.kind === 'ratio' && value > 1) return misuse(entry, 'between 0 and 1', text);
  return value;
}

function parsedValue(entry: SimFlag, text: string): unknown {
  switch (entry.kind) {
    case 'text':
      return text === '' ? misuse(entry, 'a text', text) : text;
    case 'boolean':
      return text === 'true' || (text !== 'false' && misuse(entry, 'true or false', text));
    case 'shape':
      return LOAD_SHAPES.find((shape) => shape === text) ?? misuse(entry, `one of ${LOAD_SHAPES.join(', ')}`, text);
    case 'faults':
      return text.split(';').map(parseFaultText);
    default:
      return parsedNumber(entry, text);
  }
}

/**
 * The options that a command line asks for: values by flag name, as they were typed; what is missing keeps the default
 * of `base`. Throws USAGE, naming the flag. The options are not checked against each other: starting the simulator does.
 */
export function simulatorOptions(
  values: Readonly<Record<string, string | undefined>>,
  base: SimulatorOptions = DEFAULT_SIMULATOR,
): SimulatorOptions {
  const given: Record<Section, Record<string, unknown>> = { server: {}, engine: {}, cost: {}, load: {} };
  for (const entry of SIM_FLAGS) {
    const text = values[entry.name];
    if (text !== undefined) given[entry.section][entry.key] = parsedValue(entry, text);
  }
  const cost = { ...base.engine.cost, ...given.cost };
  const engine = { ...base.engine, ...given.engine, cost };
  // The table's keys are those of the options: a test holds every flag against its default.
  return { ...base, ...given.server, engine, load: { ...base.load, ...given.load } };
}

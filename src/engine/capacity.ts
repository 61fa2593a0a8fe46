import type { CapacityFactor, Dialect } from './dialects/dialect.ts';
import type { Sample } from './exposition-line.ts';
import { keyOf, keyText, matches, type SeriesKey } from './join.ts';

type SamplesOf = (name: string) => readonly Sample[];

export interface Capacity {
  /** Name of the sample that it is read from. */
  readonly name: string;
  /** The series that the page itself names. */
  readonly named: readonly SeriesKey[];
  /** Tokens that fit into the KV cache of a series; null when the page does not say. */
  of(series: SeriesKey): number | null;
}

// Worth showing to people; the label set of the info metric changes with every release.
const SHOWN_LABELS = [
  'block_size',
  'num_gpu_blocks',
  'num_gpu_blocks_override',
  'num_cpu_blocks',
  'cache_dtype',
  'enable_prefix_caching',
  'prefix_caching_hash_algo',
  'gpu_memory_utilization',
  'kv_cache_memory_bytes',
  'kv_cache_size_tokens',
  'kv_cache_max_concurrency',
  'sliding_window',
  'page_size',
  'num_pages',
  'tokens_per_block',
  'max_blocks',
] as const;
const MAX_LABEL_LENGTH = 64;

/** What the engine's configuration metrics say; values that mean "not set" are left out. */
export function cacheConfigOf(dialect: Dialect, samplesOf: SamplesOf): Readonly<Record<string, string>> {
  const info = dialect.cacheInfo === null ? undefined : samplesOf(dialect.cacheInfo)[0];
  const labels = info?.labels ?? new Map<string, string>();
  const shown: Record<string, string> = {};
  for (const name of dialect.cacheGauges) {
    const value = samplesOf(name)[0]?.value;
    if (value !== undefined && Number.isFinite(value)) shown[name] = String(value);
  }
  for (const name of SHOWN_LABELS) {
    const value = labels.get(name) ?? '';
    if (value !== '' && value !== 'None' && value.length <= MAX_LABEL_LENGTH) shown[name] = value;
  }
  return shown;
}

// Label values are Python's words: "None" is no number, "24" and "24.0" are.
function factorValue(sample: Sample, factor: CapacityFactor): number | null {
  const value = factor.label === undefined ? sample.value : Number(sample.labels.get(factor.label) || 'None');
  return Number.isFinite(value) && value > 0 ? value : null;
}

function product(dialect: Dialect, factors: readonly CapacityFactor[], samplesOf: SamplesOf): Map<string, number> {
  let result: Map<string, number> | null = null;
  for (const factor of factors) {
    const values = new Map<string, number>();
    for (const sample of samplesOf(factor.name)) {
      const value = matches(sample, factor.where) ? factorValue(sample, factor) : null;
      const key = keyText(keyOf(sample, dialect));
      if (value !== null) values.set(key, Math.max(values.get(key) ?? 0, value));
    }
    const before: Map<string, number> | null = result;
    result = before === null ? values : multiply(before, values);
  }
  return result ?? new Map();
}

const multiply = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...a].flatMap(([key, value]) => (b.has(key) ? [[key, value * (b.get(key) ?? 0)] as const] : [])));

/** Capacity by the dialect's first complete list of factors; null when none is. */
export function capacityOf(dialect: Dialect, samplesOf: SamplesOf): Capacity | null {
  for (const factors of dialect.capacity) {
    const values = product(dialect, factors, samplesOf);
    if (values.size === 0) continue;
    return {
      name: factors[0]?.name ?? '',
      named: (factors[0] === undefined ? [] : samplesOf(factors[0].name))
        .map((sample) => keyOf(sample, dialect))
        .filter(({ model }) => model !== ''),
      // The configuration metric often names no model, and in old versions no rank either.
      of: ({ model, dpRank }) =>
        values.get(keyText({ model, dpRank })) ??
        values.get(keyText({ model: '', dpRank })) ??
        values.get(keyText({ model, dpRank: '' })) ??
        values.get(keyText({ model: '', dpRank: '' })) ??
        null,
    };
  }
  return null;
}

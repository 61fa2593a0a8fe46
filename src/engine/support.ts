import type { PageSamples } from './page-samples.ts';
import { COUNTER_ROLES, type EngineRole, GAUGE_ROLES, HISTOGRAM_ROLES } from './types.ts';

type Named = readonly { readonly name: string }[];

export type Supported = Partial<Readonly<Record<EngineRole, boolean>>>;
export type Sources = Partial<Readonly<Record<EngineRole, string>>>;

const rolesOf = (histograms: boolean): readonly EngineRole[] => [
  ...GAUGE_ROLES,
  ...COUNTER_ROLES,
  ...(histograms ? HISTOGRAM_ROLES : []),
  'kv_cache_capacity_tokens',
];

/**
 * Which roles the engine offers. Found or declared: offered. Neither, on a page that is filled: not offered, unless such
 * series are born late. Otherwise undecided, and missing here.
 */
export function supportedRoles(page: PageSamples, found: Sources, filled: boolean, histograms: boolean): Supported {
  const { gauges, counters, histograms: families, capacity, lazy, provisional } = page.dialect;
  const tables: Partial<Record<EngineRole, Named>> = { ...gauges, ...counters, ...families };
  const result: Partial<Record<EngineRole, boolean>> = {};
  for (const role of rolesOf(histograms)) {
    // An info metric that is declared does not promise the label that capacity is read from.
    const isCapacity = role === 'kv_cache_capacity_tokens';
    const sources = isCapacity ? capacity.flat() : (tables[role] ?? []);
    if (found[role] !== undefined || (!isCapacity && page.declares(sources))) result[role] = true;
    else if (!provisional && (sources.length === 0 || (filled && !lazy.includes(role)))) result[role] = false;
  }
  return result;
}

import type { Dialect, Source } from './dialect.ts';
import { DIALECTS } from './table.ts';

const PROCESS_START = 'process_start_time_seconds';
const HISTOGRAM_PARTS = ['_bucket', '_sum', '_count'] as const;

const sourceNames = (source: Source): readonly string[] => [
  source.name,
  ...(source.plus ?? []),
  ...(source.per === undefined ? [] : [source.per]),
  ...(source.unless === undefined ? [] : [source.unless]),
];

/** Every sample name that a dialect may read, without prefix. */
function bareNames(dialect: Dialect, histograms: boolean): readonly string[] {
  const { gauges, counters, progress, progressFallback } = dialect;
  const sources = [...Object.values(gauges), ...Object.values(counters), progress, progressFallback].flat();
  const names = sources.flatMap(sourceNames);
  names.push(...dialect.capacity.flat().map((factor) => factor.name), ...dialect.cacheGauges);
  for (const named of [dialect.waitingByReason, dialect.sleep]) if (named !== null) names.push(named.name);
  for (const name of [dialect.cacheInfo, dialect.anchor]) if (name !== null) names.push(name);
  if (histograms) {
    const families = Object.values(dialect.histograms).flat();
    names.push(...families.flatMap((family) => HISTOGRAM_PARTS.map((part) => `${family.name}${part}`)));
  }
  return names;
}

function allNames(histograms: boolean): ReadonlySet<string> {
  const names = new Set<string>([PROCESS_START]);
  for (const dialect of DIALECTS) {
    for (const name of bareNames(dialect, histograms)) {
      for (const prefix of dialect.prefixes) names.add(`${prefix}${name}`);
    }
  }
  return names;
}

// One set for all targets of a process.
const NAMES = allNames(false);
const NAMES_AND_HISTOGRAMS = allNames(true);

/** A filter for the parser that holds what any dialect reads, so that an engine of another kind is noticed too. */
export function wantedNames(histograms: boolean): (name: string) => boolean {
  const names = histograms ? NAMES_AND_HISTOGRAMS : NAMES;
  return (name) => names.has(name);
}

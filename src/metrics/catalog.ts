import type { FamilyDefinition } from './definition.ts';
import { ENGINE_FAMILIES } from './engine-families.ts';
import { EXPORTER_FAMILIES, PROCESS_FAMILIES } from './exporter-families.ts';
import { PROBE_FAMILIES } from './probe-families.ts';

/** A chapter of the catalogue. */
export interface CatalogDomain {
  readonly title: string;
  readonly families: readonly FamilyDefinition[];
}

/** Every metric family that `/metrics` can carry: what the reference is made from and what contract tests check. */
export const CATALOG: readonly CatalogDomain[] = [
  { title: 'Probe: what a client sees', families: Object.values(PROBE_FAMILIES) },
  { title: 'Engine: what the engine says', families: Object.values(ENGINE_FAMILIES) },
  { title: 'Exporter: the exporter about itself', families: Object.values(EXPORTER_FAMILIES) },
  { title: 'Process', families: Object.values(PROCESS_FAMILIES) },
];

const HISTOGRAM_SUFFIXES = ['_bucket', '_sum', '_count'];
const SUMMARY_SUFFIXES = ['_sum', '_count'];

/** Names of the samples of a family in the text format, for queries: histograms and summaries have several. */
export function sampleNames(family: FamilyDefinition): readonly string[] {
  if (family.type === 'histogram') return HISTOGRAM_SUFFIXES.map((suffix) => family.name + suffix);
  if (family.type === 'summary') return SUMMARY_SUFFIXES.map((suffix) => family.name + suffix);
  return [family.name];
}

import { join } from 'node:path';
import { ProbeExporterError } from '../errors.ts';
import { buildVersion } from '../version.ts';
import { readComparison } from './compare-read.ts';
import type { ComparePlan } from './compare-types.ts';
import { readManifest, readNotes, writeWhole } from './experiment-folder.ts';
import { readRun } from './read-run.ts';
import { compareDocument } from './report-compare.ts';
import type { ReportDocument } from './report-document.ts';
import { reportHtml } from './report-html.ts';
import { reportMarkdown } from './report-markdown.ts';
import { runDocument } from './report-run.ts';
import { sweepDocument } from './report-sweep.ts';
import { freeReserve } from './run-folder.ts';
import { summarise } from './summary.ts';
import type { Summary } from './summary-types.ts';
import { readSweep } from './sweep-read.ts';
import type { SweepPlan } from './sweep-types.ts';

function footer(): string {
  const { version, revision } = buildVersion();
  return `Written by inference-probe ${version} (${revision}) from the records in this folder; "inference-probe report DIR" writes it anew.`;
}

function write(folder: string, document: ReportDocument): void {
  writeWhole(join(folder, 'report.md'), reportMarkdown(document, footer()));
  writeWhole(join(folder, 'report.html'), reportHtml(document, footer()));
}

/** The figures of a run, computed from its records. @throws ProbeExporterError USAGE when it is no run folder */
export const summaryOf = (folder: string): Summary => summarise(readRun(folder));

/**
 * Computes every figure of a run anew from its records, and writes summary.json, report.md and report.html.
 *
 * @throws ProbeExporterError USAGE when it is no run folder, or cannot be written
 */
export function writeRunReport(folder: string): Summary {
  const run = readRun(folder);
  freeReserve(folder);
  const computed = summarise(run);
  const damaged = run.damagedLines === 0 ? [] : [`${run.damagedLines} damaged lines of the records were passed over`];
  const summary: Summary = { ...computed, notes: [...computed.notes, ...damaged] };
  writeWhole(join(folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  write(folder, runDocument({ ...run, summary }));
  return summary;
}

export function writeSweepReport(folder: string, plan: SweepPlan): void {
  const sweep = readSweep(folder, plan);
  writeWhole(join(folder, 'summary.json'), `${JSON.stringify({ format: 1, prompts: sweep.prompts }, null, 2)}\n`);
  write(folder, sweepDocument(sweep, readNotes(folder)));
}

export function writeCompareReport(folder: string, plan: ComparePlan): void {
  const comparison = readComparison(folder, plan);
  writeWhole(join(folder, 'summary.json'), `${JSON.stringify({ format: 1, levels: comparison.levels }, null, 2)}\n`);
  write(folder, compareDocument(comparison, readNotes(folder)));
}

/** What kind of experiment a folder holds. */
const kindOf = (manifest: unknown): unknown =>
  typeof manifest === 'object' && manifest !== null && 'kind' in manifest ? manifest.kind : null;

/**
 * Writes the report of whatever the folder holds: a run, a sweep or a comparison.
 *
 * @throws ProbeExporterError USAGE when it holds none of them
 */
export function writeReport(folder: string): void {
  const manifest = readManifest(folder);
  if (manifest === null) writeRunReport(folder);
  else if (kindOf(manifest) === 'sweep') writeSweepReport(folder, manifest as SweepPlan);
  else if (kindOf(manifest) === 'compare') writeCompareReport(folder, manifest as ComparePlan);
  else throw new ProbeExporterError('USAGE', `${folder}/experiment.json is of a kind that this version does not know`);
}

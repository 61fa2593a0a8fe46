import { writeReport } from '../experiment/report-write.ts';
import { type CliContext, EXIT, type ExitCode } from './context.ts';

/** Writes the reports of a run, a sweep or a comparison anew, from its records alone. */
export function report(folder: string, context: CliContext): Promise<ExitCode> {
  writeReport(folder);
  context.out(`${folder}/report.md\n${folder}/report.html`);
  return Promise.resolve(EXIT.ok);
}

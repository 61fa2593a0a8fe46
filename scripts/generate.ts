/**
 * Writes every file that is made from sources: `npm run generate`. With `--check` nothing is written, and the exit code
 * is 1 when a file differs from what its source gives.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { generateConfiguration } from './generate/configuration.ts';
import { generateDashboards } from './generate/dashboards.ts';
import { generateMetricsReference } from './generate/metrics-reference.ts';
import { generateRules } from './generate/rules.ts';

interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly content: string;
}

const GENERATORS: readonly (() => readonly GeneratedFile[])[] = [
  generateConfiguration,
  generateDashboards,
  generateMetricsReference,
  generateRules,
];

function currentContent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

process.chdir(new URL('..', import.meta.url).pathname);
const check = process.argv.includes('--check');
const stale = GENERATORS.flatMap((generate) => generate()).filter(
  ({ path, content }) => currentContent(path) !== content,
);
for (const { path, content } of stale) {
  console.log(check ? `${path} is not what its source gives; run npm run generate` : `wrote ${path}`);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
process.exitCode = check && stale.length > 0 ? 1 : 0;

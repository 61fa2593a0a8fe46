import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfigFile } from '../../../src/config/load.ts';
import { ConfigurationError, formatIssue } from '../../../src/config/report.ts';
import { INVALID_FILES } from './invalid-table.ts';

const DIRECTORY = 'test/fixtures/config';
const prefix = (id: string): string => `${DIRECTORY}/invalid-${id}.yml`;

function errorsOf(id: string): readonly string[] {
  try {
    loadConfigFile(prefix(id), { environment: {} });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.issues
      .filter((issue) => issue.severity === 'error')
      .map((issue) =>
        formatIssue(issue).slice(prefix(id).length).replace(/^: ?/, '').replaceAll(resolve(DIRECTORY), '<dir>'),
      );
  }
  throw new Error(`invalid-${id}.yml loads`);
}

describe('files that cannot be used', () => {
  it.each(INVALID_FILES)('refuses $id with its place, key and what to do', ({ id, errors }) => {
    expect(errorsOf(id)).toEqual(errors);
  });

  it('has a row for every file and a file for every row', () => {
    const files = readdirSync(DIRECTORY).filter((file) => file.startsWith('invalid-'));
    expect(files.sort()).toEqual(INVALID_FILES.map(({ id }) => `invalid-${id}.yml`).sort());
  });

  it('never repeats a secret that stands in the wrong place', () => {
    const told = [
      'url-userinfo',
      'url-query',
      'metrics-url-userinfo',
      'key-in-the-file',
      'key-with-smart-quotes',
      'key-with-two-lines',
    ]
      .flatMap(errorsOf)
      .join('\n');
    expect(told).not.toMatch(/pw-9|qk-7|not-a-real-key|sk-test/);
  });
});

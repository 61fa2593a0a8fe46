import { join } from 'node:path';

type Reporter = 'default' | ['json', { outputFile: string }];

/**
 * Reporters of a suite: the usual one, and where PROBE_TEST_RESULTS names a folder a JSON file in it as well, so
 * that whoever runs several suites can add up what ran.
 */
export function reporters(suite: string): Reporter[] {
  const folder = process.env.PROBE_TEST_RESULTS;
  if (folder === undefined || folder === '') return ['default'];
  return ['default', ['json', { outputFile: join(folder, `${suite}.${process.pid}.json`) }]];
}

import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** A real API server and command-line tools: a minute or two, one file after another. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: reporters('cluster'),
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

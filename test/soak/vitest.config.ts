import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Minutes (SOAK_MINUTES) of a hundred times the usual rate. */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: reporters('soak'),
    testTimeout: 24 * 3_600_000,
    hookTimeout: 90_000,
  },
});

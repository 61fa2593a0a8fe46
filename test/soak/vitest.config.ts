import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Minutes (SOAK_MINUTES) of 75 times the usual rate, the most that a configuration may ask for. */
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

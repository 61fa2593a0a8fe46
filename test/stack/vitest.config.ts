import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Real programs and real time: minutes, one file after another. */
export default defineConfig({
  test: {
    include: ['test/stack/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: reporters('stack'),
    testTimeout: 900_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
});

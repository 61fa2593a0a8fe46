import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Experiments with windows of real length, and on real engines: minutes, one after another. */
export default defineConfig({
  test: {
    include: ['test/experiment/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { concurrent: false },
    reporters: reporters('experiment'),
    testTimeout: 900_000,
    hookTimeout: 400_000,
    teardownTimeout: 60_000,
  },
});

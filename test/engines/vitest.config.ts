import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Real engines: minutes long, one after another, since each wants the whole machine and its time is measured. */
export default defineConfig({
  test: {
    include: ['test/engines/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    sequence: { concurrent: false },
    reporters: reporters('engines'),
    testTimeout: 180_000,
    hookTimeout: 800_000,
    teardownTimeout: 60_000,
  },
});

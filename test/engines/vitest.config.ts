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
    // Programs that share two cores: in CI a test that fails gets a second chance, and the reporter shows that it took it.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 180_000,
    hookTimeout: 800_000,
    teardownTimeout: 60_000,
  },
});

import { defineConfig } from 'vitest/config';
import { reporters } from '../support/reporters.ts';

/** Real processes and real time: some minutes, one file after another. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: reporters('faults'),
    // Programs that share two cores: in CI a test that fails gets a second chance, and the reporter shows that it took it.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 150_000,
    hookTimeout: 90_000,
  },
});

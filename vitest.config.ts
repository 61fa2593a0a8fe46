import { defineConfig } from 'vitest/config';
import { reporters } from './test/support/reporters.ts';

/** Real engines, a real Prometheus and other programs run in suites of their own, on their own npm scripts. */
export default defineConfig({
  test: {
    reporters: reporters('tests'),
    // Tests measure time; with more workers than cores they would measure each other.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts', 'test/contract/**/*.test.ts'],
          // They leave nothing behind, and loading the program anew for each file would take most of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'integration', include: ['test/integration/**/*.test.ts'] },
      },
    ],
    // Far beyond what any takes: waits inside a test have limits of their own, and these must be the ones that speak.
    testTimeout: 30_000,
    // What is polled for is there at once on a free machine; a busy one gets this long.
    expect: { poll: { timeout: 6000 } },
  },
});

import { defineConfig } from 'vitest/config';
import { reporters } from './test/support/reporters.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real engines, a real Prometheus and other programs run in suites of their own, on their own npm scripts.
    exclude: [
      'test/engines/**',
      'test/experiment/**',
      'test/stack/**',
      'test/cluster/**',
      'test/faults/**',
      'test/soak/**',
      'node_modules/**',
    ],
    reporters: reporters('tests'),
    // Far beyond what any takes: waits inside a test have limits of their own, and these must be the ones that speak.
    testTimeout: 30_000,
    // What is polled for is there at once on a free machine; a busy one gets this long.
    expect: { poll: { timeout: 6000 } },
    // Tests measure time; with more workers than cores they would measure each other.
    maxWorkers: 2,
  },
});

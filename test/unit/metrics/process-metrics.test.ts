import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';

describe('figures of the process', () => {
  it.skipIf(!existsSync('/proc/self/stat'))('have the virtual size that the kernel says', () => {
    const { virtual = Number.NaN } = createProcessMetrics(1)();
    const kilobytes = Number(/^VmSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
    // Memory may be mapped between the two looks.
    expect(virtual / (kilobytes * 1024)).toBeGreaterThan(0.98);
    expect(virtual / (kilobytes * 1024)).toBeLessThan(1.02);
  });

  it('have the start as it was given, CPU seconds and heap', () => {
    const reading = createProcessMetrics(1_700_000_000)();
    expect(reading.startTime).toBe(1_700_000_000);
    expect(reading.cpu).toBeGreaterThan(0);
    expect(reading.heapTotal).toBeGreaterThanOrEqual(reading.heapUsed ?? Number.NaN);
  });
});

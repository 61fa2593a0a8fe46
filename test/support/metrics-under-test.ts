import type { Config } from '../../src/config/types.ts';
import { silentLogger } from '../../src/log.ts';
import { createMetrics, type Metrics, type MetricsDependencies } from '../../src/metrics/create-metrics.ts';
import { manualClock } from './manual-clock.ts';
import { sampleConfig } from './sample-config.ts';

/** Metrics of a configuration on a clock that stands still. */
export function metricsUnderTest(
  config: Config = sampleConfig(),
  deps: Partial<MetricsDependencies> = {},
): Metrics & { readonly page: (accept?: string) => Promise<string> } {
  const metrics = createMetrics(
    { config, version: '1.2.3', revision: 'abcdef' },
    { clock: manualClock(), log: silentLogger(), readCpuThrottling: () => null, processMetrics: () => ({}), ...deps },
  );
  return { ...metrics, page: async (accept = '') => (await metrics.render(accept)).body };
}

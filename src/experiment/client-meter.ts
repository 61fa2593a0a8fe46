import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** How one event loop fared since it was last asked. */
export interface ClientMeter {
  take(): { readonly loopDelayP99Seconds: number; readonly cpuRatio: number };
  close(): void;
}

const RESOLUTION_MS = 10;

/**
 * Of the thread that it is created in. `cpuRatio` is the share of the time in which the event loop had work: its own
 * use of the processor, and its waiting for one that others have.
 */
export function createClientMeter(): ClientMeter {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let before = performance.eventLoopUtilization();
  return {
    take() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      // The histogram holds the time between two of its timers, so an idle loop shows their interval.
      const late = delay.count === 0 ? 0 : delay.percentile(99) / 1e9 - RESOLUTION_MS / 1000;
      delay.reset();
      return { loopDelayP99Seconds: Math.max(0, late), cpuRatio: utilization };
    },
    close: () => void delay.disable(),
  };
}

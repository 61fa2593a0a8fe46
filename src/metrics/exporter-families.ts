import type { FamilyDefinition } from './definition.ts';

const exporter = { scope: 'exporter', labels: [] } as const;
const process = { ...exporter, type: 'gauge', born: 'start' } as const;
const processCounter = { ...process, type: 'counter' } as const;

/** The exporter about itself: whether its own figures can be trusted. */
export const EXPORTER_FAMILIES = {
  buildInfo: {
    ...exporter,
    type: 'info',
    born: 'start',
    name: 'inference_probe_exporter_build_info',
    labels: ['version', 'revision', 'node_version'],
    help: 'Version and commit of the exporter and version of Node.js.',
  },
  targets: {
    ...exporter,
    type: 'gauge',
    born: 'start',
    name: 'inference_probe_exporter_targets',
    help: 'Targets in the configuration that is in force.',
  },
  reloadSuccessful: {
    ...exporter,
    type: 'gauge',
    born: 'start',
    name: 'inference_probe_exporter_config_last_reload_successful',
    help: 'Whether the last attempt to load the configuration succeeded; a bad file leaves the old configuration in force.',
  },
  reloadSuccessTime: {
    ...exporter,
    type: 'gauge',
    born: 'start',
    name: 'inference_probe_exporter_config_last_reload_success_timestamp_seconds',
    help: 'When the configuration in force was loaded, in seconds since 1970.',
  },
  eventLoopDelay: {
    ...exporter,
    type: 'histogram',
    born: 'start',
    name: 'inference_probe_exporter_event_loop_delay_seconds',
    bounds: [0.001, 0.005, 0.02, 0.05, 0.2, 1],
    boundsReason: '20 ms is the bound beyond which a sample is marked as disturbed; the rest shows how far from it',
    help: "Longest delay of the exporter's event loop during a probe, one sample a probe: an upper bound of the exporter's own error.",
  },
  invalidSamples: {
    ...exporter,
    type: 'counter',
    born: 'start',
    name: 'inference_probe_exporter_invalid_samples_total',
    help: 'Values that are not a number, negative or of an unknown label and were dropped instead of recorded. Anything but 0 is a fault of the exporter.',
  },
  throttledPeriods: {
    ...exporter,
    type: 'counter',
    born: 'later',
    name: 'inference_probe_exporter_cpu_throttled_periods_total',
    help: 'Scheduling periods in which the CPU limit stopped the container (cgroup cpu.stat nr_throttled); absent without a cgroup.',
  },
  throttledSeconds: {
    ...exporter,
    type: 'counter',
    born: 'later',
    name: 'inference_probe_exporter_cpu_throttled_seconds_total',
    help: 'Time for which the CPU limit stopped the container (cgroup cpu.stat); absent without a cgroup.',
  },
} as const satisfies Record<string, FamilyDefinition>;

export type ExporterFamily = keyof typeof EXPORTER_FAMILIES;

/** The process metrics that every Prometheus client has, under their usual names. */
export const PROCESS_FAMILIES = {
  cpu: { ...processCounter, name: 'process_cpu_seconds_total', help: 'User and system CPU time spent in seconds.' },
  startTime: { ...process, name: 'process_start_time_seconds', help: 'Start of the process in seconds since 1970.' },
  resident: { ...process, name: 'process_resident_memory_bytes', help: 'Resident memory in bytes.' },
  virtual: { ...process, born: 'later', name: 'process_virtual_memory_bytes', help: 'Virtual memory in bytes.' },
  openFds: { ...process, born: 'later', name: 'process_open_fds', help: 'Open file descriptors.' },
  maxFds: {
    ...process,
    born: 'later',
    name: 'process_max_fds',
    help: 'Highest number of open file descriptors allowed.',
  },
  heapTotal: { ...process, name: 'nodejs_heap_size_total_bytes', help: 'Size of the JavaScript heap in bytes.' },
  heapUsed: { ...process, name: 'nodejs_heap_size_used_bytes', help: 'Used part of the JavaScript heap in bytes.' },
  external: {
    ...process,
    born: 'later',
    name: 'nodejs_external_memory_bytes',
    help: 'Memory of objects outside the JavaScript heap in bytes.',
  },
} as const satisfies Record<string, FamilyDefinition>;

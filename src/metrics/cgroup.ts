import { readFileSync } from 'node:fs';

/** What the kernel counts about the container's CPU limit. */
export interface CpuThrottling {
  readonly periods: number;
  readonly seconds: number;
}

// Inside a container the own cgroup is mounted at the root: version 2 first, then version 1.
const CPU_STAT_FILES = ['/sys/fs/cgroup/cpu.stat', '/sys/fs/cgroup/cpu/cpu.stat'];

/** Reads `cpu.stat` of cgroup v2 (throttled_usec) or v1 (throttled_time, in ns). Null where no limit is accounted for. */
export function parseCpuStat(text: string): CpuThrottling | null {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name = '', value = ''] = line.trim().split(/\s+/);
    if (/^\d+$/.test(value)) values.set(name, Number(value));
  }
  const periods = values.get('nr_throttled');
  const microseconds = values.get('throttled_usec');
  const nanoseconds = values.get('throttled_time');
  if (periods === undefined) return null;
  if (microseconds !== undefined) return { periods, seconds: microseconds / 1e6 };
  return nanoseconds === undefined ? null : { periods, seconds: nanoseconds / 1e9 };
}

const readText = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/** The throttling of this container so far; null outside of one. Read at once: the kernel makes up this file in memory. */
export function readCpuThrottling(): CpuThrottling | null {
  for (const file of CPU_STAT_FILES) {
    const text = readText(file);
    const throttling = text === null ? null : parseCpuStat(text);
    if (throttling !== null) return throttling;
  }
  return null;
}
